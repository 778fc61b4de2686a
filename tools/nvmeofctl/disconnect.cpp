// SPDX-License-Identifier: LGPL-2.1-or-later
#include <ostream>

#include <fmt/format.h>

#include <nvmeof/name.h>

#include "context.h"

using namespace nvmeof;

namespace {

Result<std::vector<std::string>> disconnectBy(Client &client, const Args &args)
{
	if (args.has("all"))
		return client.disconnectAll();
	if (std::optional<std::string> nqn = args.text("nqn"))
		return client.disconnectNqn(*nqn);
	std::vector<std::string> gone;
	for (const std::string &word : args.all("NAME")) {
		std::string name = plainName(word);
		if (Result<void> done = client.disconnect(name); !done)
			return done.error();
		gone.push_back(name);
	}
	return gone;
}

} // namespace

int runDisconnect(Context &context)
{
	const Args &args = context.args();
	if (args.has("nqn") + args.has("NAME") + args.has("all") != 1)
		return context.fail("", usageError("give one of NAME, --nqn and --all"));
	std::string subject = args.text("nqn").value_or(args.textOr("NAME", ""));
	Result<Client> client = Client::open();
	if (!client)
		return context.fail(subject, client.error());
	Result<std::vector<std::string>> gone = disconnectBy(*client, args);
	if (!gone)
		return context.fail(gone.error().object.none() ? subject : gone.error().object.name, gone.error());
	if (context.json()) {
		context.print(Json{{"disconnected", *gone}});
		return 0;
	}
	for (const std::string &name : *gone)
		context.out() << fmt::format("{} disconnected\n", name);
	return 0;
}
