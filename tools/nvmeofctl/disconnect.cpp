// SPDX-License-Identifier: LGPL-2.1-or-later
#include "disconnect.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <fnmatch.h>
#include <linux/capability.h>
#include <map>
#include <ostream>
#include <set>
#include <thread>

#include <fmt/format.h>

#include <nvmeof/name.h>

#include "context.h"
#include "documents.h"
#include "libctl/base/file.h"
#include "libctl/base/text.h"
#include "libctl/volume/volume.h"
#include "terminal.h"

using namespace nvmeof;
using namespace std::chrono_literals;
using nofctl::volume::User;

namespace {

std::string keptText(const KeptController &one)
{
	if (one.excepted)
		return fmt::format("{} stays connected: excluded by --except", one.controller.name);
	return fmt::format("{} stays connected: owned by {} (--owned disconnects it)", one.controller.name,
			   nofctl::printable(one.controller.owner));
}

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

// Reports @failures, also in @document. Returns the exit code of the first, or 0.
int complainAll(Context &context, const std::vector<Error> &failures, Json &document)
{
	int code = 0;
	for (const Error &error : failures) {
		const int one = context.complain(error.object.name, error);
		code = code ? code : one;
		document["failures"].push_back(toJson(error));
	}
	return code;
}

// After a failure, too, reports the controllers that were disconnected.
int report(Context &context, const Removal &removal, const DisconnectPlan &plan)
{
	if (!context.json()) {
		for (const std::string &name : removal.removed)
			context.out() << fmt::format("{} disconnected\n", name);
		for (const KeptController &one : plan.kept)
			context.out() << keptText(one) << "\n";
	}
	Json document = disconnectDocument(removal.removed);
	addKept(document, plan.kept);
	const int code = complainAll(context, removal.failures, document);
	if (context.json())
		context.print(document);
	return code;
}

// The result of --dry-run. @failures: those that the real run would have.
int reportPlan(Context &context, const DisconnectPlan &plan, const std::vector<Namespace> &lost,
	       const std::vector<Error> &failures)
{
	Json document = disconnectDocument({});
	addPlan(document, plan.controllers, lost);
	addKept(document, plan.kept);
	const int code = complainAll(context, failures, document);
	if (context.json()) {
		context.print(document);
		return code;
	}
	for (const Controller &one : plan.controllers)
		context.out() << fmt::format("{} would be disconnected ({} {} {})\n", one.name, one.transport,
					     one.traddr, nofctl::printable(one.subsysnqn));
	for (const Namespace &ns : lost)
		context.out() << fmt::format("/dev/{} would be left without a usable path\n", ns.name);
	for (const KeptController &one : plan.kept)
		context.out() << keptText(one) << "\n";
	return code;
}

// A disk in use has a code of its own, in the document and as exit code.
int refuseDisksInUse(Context &context, const std::vector<DiskInUse> &disks)
{
	constexpr std::size_t maxLines = 16;
	constexpr const char *step =
		"nothing was disconnected; unmount it, or stop what uses it; --force disconnects even so";
	Error error;
	for (std::size_t i = 0; i < std::min(disks.size(), maxLines); i++) {
		error.message = nofctl::volume::toString(disks[i].users);
		context.complain(disks[i].disk, error, step);
	}
	if (disks.size() > maxLines)
		context.note("", fmt::format("{} more disks are in use", disks.size() - maxLines));
	if (context.json())
		context.print(disksInUseDocument(disks));
	return static_cast<int>(ExitCode::inUse);
}

Result<std::vector<Namespace>> disksLost(Client &client, const DisconnectPlan &plan, const std::vector<Controller> &all)
{
	Result<std::vector<Namespace>> namespaces = client.namespaces();
	if (!namespaces)
		return namespaces;
	Result<std::vector<Path>> paths = client.paths();
	if (!paths)
		return paths.error();
	return disksLostWith(plan.controllers, all, *namespaces, *paths);
}

bool hasCapabilities()
{
	Result<std::string> status = nofctl::readSmallFile("/proc/self/status");
	return !status || mayChangeControllers(*status);
}

// "3 of 8 left", for the progress line
std::string leftText(Client &client, const DisconnectPlan &plan)
{
	std::set<std::string> names;
	for (const Controller &one : plan.controllers)
		names.insert(one.name);
	Result<std::vector<Controller>> now = client.controllers();
	const auto isLeft = [&](const Controller &one) { return names.contains(one.name); };
	return fmt::format("{} of {} left", now ? std::ranges::count_if(*now, isLeft) : 0, names.size());
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
	const DisconnectPlan plan = planDisconnectAll(*all, context.args());
	if (context.args().has("dry-run")) {
		Result<std::vector<Namespace>> lost = disksLost(*client, plan, *all);
		return lost ? reportPlan(context, plan, *lost, {}) : context.fail("", lost.error());
	}
	Removal removal;
	{
		Progress progress("disconnect-all", [&](Client &own) { return leftText(own, plan); });
		removal = disconnectEach(*client, plan.controllers);
	}
	return report(context, removal, plan);
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
	Result<std::vector<Controller>> all = client->controllers();
	if (!all)
		return context.fail(subject, all.error());
	const DisconnectPlan plan = planDisconnect(*all, args);
	// A caller without privilege cannot see all users; the kernel refuses its request with a better reason.
	const bool examined = !args.has("force") && (args.has("dry-run") || hasCapabilities());
	Result<std::vector<Namespace>> lost = std::vector<Namespace>();
	if (examined || args.has("dry-run"))
		lost = disksLost(*client, plan, *all);
	if (!lost)
		return context.fail(subject, lost.error());
	if (examined) {
		Result<std::vector<DiskInUse>> used = disksInUse(*client, *lost);
		if (!used)
			return context.fail(subject, used.error());
		if (!used->empty())
			return refuseDisksInUse(context, *used);
	}
	if (args.has("dry-run")) {
		const std::vector<Error> missing = missingObjects(plan, args);
		if (args.has("nqn") && !missing.empty())
			return context.fail(missing.front().object.name, missing.front());
		return reportPlan(context, plan, *lost, missing);
	}
	Result<Removal> gone = [&] {
		Progress progress("disconnect", [&](Client &own) { return leftText(own, plan); });
		return disconnectBy(*client, args);
	}();
	if (!gone)
		return context.fail(subject, gone.error());
	return report(context, *gone, plan);
}

// ---- the plan, and users of disks

namespace {

bool excepted(const Controller &controller, const Args &args)
{
	return std::ranges::any_of(args.all("except"), [&](const std::string &word) {
		return plainName(word) == controller.name ||
		       ::fnmatch(word.c_str(), controller.subsysnqn.c_str(), 0) == 0;
	});
}

// The current state of @disks. Disks that were removed meanwhile are left out.
Result<std::vector<Namespace>> openedOf(Client &client, const std::vector<Namespace> &disks)
{
	Result<std::vector<Namespace>> now = client.namespaces();
	if (now)
		std::erase_if(*now, [&](const Namespace &ns) {
			return ns.openers == 0 || std::ranges::find(disks, ns.name, &Namespace::name) == disks.end();
		});
	return now;
}

// @disks have openers.
std::vector<DiskInUse> usersNow(const std::vector<Namespace> &disks)
{
	std::vector<std::string> names;
	for (const Namespace &ns : disks)
		names.push_back(ns.name);
	std::vector<std::vector<User>> users = nofctl::volume::usersOf({}, names);
	std::vector<DiskInUse> found;
	for (std::size_t i = 0; i < disks.size(); i++)
		if (std::vector<User> own = withoutUdev(std::move(users[i]), disks[i].openers); !own.empty())
			found.push_back({disks[i].name, std::move(own)});
	return found;
}

bool ofUdev(const User &user)
{
	return user.kind == "program" &&
	       (user.what.starts_with("(udev-worker)") || user.what.starts_with("systemd-udevd"));
}

bool lasting(const DiskInUse &disk)
{
	return std::ranges::any_of(disk.users,
				   [](const User &user) { return user.kind != "program" && user.kind != "unseen"; });
}

} // namespace

DisconnectPlan planDisconnect(std::vector<Controller> all, const Args &args)
{
	std::set<std::string> names;
	for (const std::string &word : args.all("NAME"))
		names.insert(plainName(word));
	std::erase_if(all, [&](const Controller &one) {
		return !args.has("all") && args.text("nqn") != one.subsysnqn && !names.contains(one.name);
	});
	return {.controllers = std::move(all), .kept = {}};
}

DisconnectPlan planDisconnectAll(std::vector<Controller> all, const Args &args)
{
	DisconnectPlan plan;
	for (Controller &one : all) {
		const bool spared = excepted(one, args);
		if (spared || (!one.owner.empty() && !args.has("owned")))
			plan.kept.push_back({std::move(one), spared});
		else
			plan.controllers.push_back(std::move(one));
	}
	return plan;
}

std::vector<Namespace> disksLostWith(const std::vector<Controller> &gone, const std::vector<Controller> &all,
				     const std::vector<Namespace> &namespaces, const std::vector<Path> &paths)
{
	struct Count {
		std::size_t paths = 0, usable = 0;
	};
	std::set<std::string> names;
	for (const Controller &one : gone)
		names.insert(one.name);
	std::map<std::string, Count> removed, remaining;
	for (const Path &path : paths) {
		Count &count = (names.contains(path.controller) ? removed : remaining)[path.nameSpace];
		count.paths++;
		count.usable += path.usable;
	}
	std::set<std::uint32_t> touched,
		others; // subsystems with a controller that is removed, and with one that is not
	for (const Controller &one : all)
		(names.contains(one.name) ? touched : others).insert(one.subsystem);
	std::vector<Namespace> lost;
	for (const Namespace &ns : namespaces) {
		const Count before = removed[ns.name], after = remaining[ns.name];
		// Without any path a disk still waits for one, until the last controller of its subsystem is removed.
		const bool waits = before.paths + after.paths == 0 && touched.contains(ns.subsystem) &&
				   !others.contains(ns.subsystem);
		if (waits || (before.paths && !after.paths) || (before.usable && !after.usable))
			lost.push_back(ns);
	}
	return lost;
}

std::vector<Error> missingObjects(const DisconnectPlan &plan, const Args &args)
{
	std::vector<Error> missing;
	for (const std::string &word : args.all("NAME")) {
		const std::string name = plainName(word);
		if (std::ranges::find(plan.controllers, name, &Controller::name) != plan.controllers.end())
			continue;
		Error &error = missing.emplace_back();
		error.code = ErrorCode::noSuchObject;
		error.message = "there is no controller of that name";
		error.object = ErrorObject::named(name);
		if (error.object.none())
			error.object.name = word;
	}
	if (args.has("nqn") && plan.controllers.empty()) {
		Error &error = missing.emplace_back();
		error.code = ErrorCode::noSuchObject;
		error.message = "no controller is connected to that subsystem";
		error.object.name = args.textOr("nqn", "");
	}
	return missing;
}

bool mayChangeControllers(std::string_view status)
{
	constexpr std::string_view key = "\nCapEff:\t";
	const std::size_t at = status.find(key);
	if (at == status.npos)
		return true;
	std::uint64_t set = 0;
	const std::string_view digits = status.substr(at + key.size());
	std::from_chars(digits.data(), digits.data() + digits.size(), set, 16);
	constexpr std::uint64_t needed = 1ull << CAP_SYS_ADMIN | 1ull << CAP_NET_ADMIN;
	return (set & needed) == needed;
}

std::vector<User> withoutUdev(std::vector<User> users, std::size_t openers)
{
	std::size_t udev = 0; // opens
	for (const User &user : users)
		udev += ofUdev(user) ? user.descriptors : 0;
	std::erase_if(users, ofUdev);
	if (users.empty() && openers > udev)
		users.push_back({"unseen", nofctl::counted(openers - udev, "opener") + " not visible from here"});
	return users;
}

Result<std::vector<DiskInUse>> disksInUse(Client &client, const std::vector<Namespace> &disks)
{
	for (auto deadline = std::chrono::steady_clock::now() + 2s;; std::this_thread::sleep_for(50ms)) {
		Result<std::vector<Namespace>> opened = openedOf(client, disks);
		if (!opened)
			return opened.error();
		std::vector<DiskInUse> found = usersNow(*opened);
		if (found.empty() || std::ranges::any_of(found, lasting) ||
		    std::chrono::steady_clock::now() >= deadline)
			return found;
	}
}
