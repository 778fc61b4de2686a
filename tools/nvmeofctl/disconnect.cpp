// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>
#include <ostream>

#include <fmt/format.h>

#include <nvmeof/name.h>

#include "context.h"
#include "documents.h"
#include "progress.h"

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

// Of what is to go, how much is there
std::size_t countOf(Client &client, const Args &args)
{
	Result<std::vector<Controller>> all = client.controllers();
	if (!all)
		return 0;
	auto meant = [&](const Controller &controller) {
		return args.has("all") || args.text("nqn") == controller.subsysnqn ||
		       std::ranges::any_of(args.all("NAME"),
					   [&](const std::string &name) { return plainName(name) == controller.name; });
	};
	return static_cast<std::size_t>(std::ranges::count_if(*all, meant));
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
	const std::size_t before = countOf(*client, args);
	auto look = [&](Client &own) { return fmt::format("{} of {} left", countOf(own, args), before); };
	Result<std::vector<std::string>> gone = [&] {
		Progress progress("disconnect", look);
		return disconnectBy(*client, args);
	}();
	if (!gone)
		return context.fail(gone.error().object.none() ? subject : gone.error().object.name, gone.error());
	if (context.json()) {
		context.print(disconnectDocument(*gone));
		return 0;
	}
	for (const std::string &name : *gone)
		context.out() << fmt::format("{} disconnected\n", name);
	return 0;
}
