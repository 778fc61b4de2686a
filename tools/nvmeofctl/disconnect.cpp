// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>
#include <fnmatch.h>
#include <ostream>

#include <fmt/format.h>

#include <nvmeof/name.h>

#include "context.h"
#include "documents.h"
#include "libctl/volume/finish_all.h"
#include "progress.h"

using namespace nvmeof;

namespace {

Result<Removal> disconnectBy(Client &client, const Args &args)
{
	if (args.has("all"))
		return client.disconnectAll();
	if (std::optional<std::string> nqn = args.text("nqn"))
		return client.disconnectNqn(*nqn);
	Removal removal;
	for (const std::string &word : args.all("NAME")) {
		std::string name = plainName(word);
		Result<void> done = client.disconnect(name);
		if (done) {
			removal.removed.push_back(name);
			continue;
		}
		removal.failures.push_back(done.error());
		if (removal.failures.back().object.none())
			removal.failures.back().object.name = word;
	}
	return removal;
}

// Number of existing controllers that the command line selects.
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

// After a failure, too, reports the controllers that were disconnected.
int report(Context &context, const Removal &removal)
{
	if (!context.json())
		for (const std::string &name : removal.removed)
			context.out() << fmt::format("{} disconnected\n", name);
	Json document = disconnectDocument(removal.removed);
	int code = 0; // of the first that failed
	for (const Error &error : removal.failures) {
		int one = context.complain(error.object.name, error);
		code = code ? code : one;
		document["failures"].push_back(toJson(error));
	}
	if (context.json())
		context.print(document);
	return code;
}

bool excepted(const Controller &controller, const Args &args)
{
	return std::ranges::any_of(args.all("except"), [&](const std::string &word) {
		return plainName(word) == controller.name ||
		       ::fnmatch(word.c_str(), controller.subsysnqn.c_str(), 0) == 0;
	});
}

// Disconnects all at once. Reports them in the order of @controllers.
Removal disconnectEach(Client &client, const std::vector<Controller> &controllers)
{
	std::vector<Pending<Result<void>>> pending;
	for (const Controller &one : controllers)
		pending.push_back(client.startDisconnect(one.name));
	nofctl::volume::finishAll(client, pending, [] { return false; });
	Removal removal;
	for (std::size_t i = 0; i < pending.size(); i++) {
		Result<void> done = pending[i].take();
		if (done || done.error().code == ErrorCode::noSuchObject) { // already removed
			removal.removed.push_back(controllers[i].name);
			continue;
		}
		removal.failures.push_back(done.error());
		removal.failures.back().object = ErrorObject::named(controllers[i].name);
	}
	return removal;
}

} // namespace

int runDisconnectAll(Context &context)
{
	Result<Client> client = Client::open();
	if (!client)
		return context.fail("", client.error());
	Result<std::vector<Controller>> all = client->controllers();
	if (!all)
		return context.fail("", all.error());
	std::erase_if(*all, [&](const Controller &one) {
		return excepted(one, context.args()) || (!one.owner.empty() && !context.args().has("owned"));
	});
	const std::size_t before = all->size();
	auto isLeft = [&](const Controller &now) {
		return std::ranges::any_of(*all, [&](const Controller &one) { return one.name == now.name; });
	};
	auto look = [&](Client &own) {
		Result<std::vector<Controller>> now = own.controllers();
		return fmt::format("{} of {} left", now ? std::ranges::count_if(*now, isLeft) : 0, before);
	};
	Removal removal;
	{
		Progress progress("disconnect-all", look);
		removal = disconnectEach(*client, *all);
	}
	return report(context, removal);
}

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
	Result<Removal> gone = [&] {
		Progress progress("disconnect", look);
		return disconnectBy(*client, args);
	}();
	if (!gone)
		return context.fail(subject, gone.error());
	return report(context, *gone);
}
