// SPDX-License-Identifier: LGPL-2.1-or-later
// stripe: a disk over namespaces of several targets.
#include "stripe.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <fnmatch.h>
#include <ostream>
#include <set>
#include <spawn.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <thread>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "configuration.h"
#include "context.h"
#include "format.h"
#include "libctl/base/epoll.h"
#include "libctl/base/file.h"
#include "libctl/stripe/mapper.h"
#include "libctl/stripe/plan.h"
#include "table.h"
#include "terminal.h"

using namespace nvmeof;
using namespace nofctl::stripe;
using namespace std::chrono_literals;

extern char **environ;

namespace {

std::string nameOf(const Context &context)
{
	return context.args().textOr("NAME", "");
}

Result<Layout> layoutFor(const Args &args)
{
	Result<Snapshot> all = readSnapshot();
	if (!all)
		return all.error();
	Result<std::vector<Member>> members = wantedMembers(args, *all);
	return members ? plannedLayout(args, *std::move(members)) : Result<Layout>(members.error());
}

// @failed: what failed after @done
void printLayout(Context &context, const std::string &name, const Layout &layout, const char *done,
		 const std::optional<Error> &failed = {})
{
	if (!context.json()) {
		context.out() << layoutText(name, layout);
		return;
	}
	Config config;
	config.stripes = {configOf(name, layout)};
	Json document = layoutDocument(name, layout, formatConfig(config), done);
	if (failed)
		document["error"] = toJson(*failed);
	context.print(document);
}

std::optional<ConfigStripe> configuredStripe(const Args &args, const std::string &name)
{
	const ConfigReading reading = inspectConfig(configFiles(args));
	auto found = std::ranges::find(reading.config.stripes, name, &ConfigStripe::name);
	return found == reading.config.stripes.end() ? std::nullopt : std::optional(*found);
}

// Fails if a device of that name exists, or if a stripe of that name is configured.
Result<void> isNew(const Args &args, const std::string &name)
{
	Result<std::optional<Mapped>> there = findMapped(name);
	if (!there)
		return there.error();
	if (*there)
		return usageError("/dev/mapper/" + name + " exists already");
	const std::optional<ConfigStripe> found = configuredStripe(args, name);
	return !found ? Result<void>()
		      : Result<void>(usageError("it is already configured, at " + found->place.toString() +
						": remove it there, or choose another name"));
}

Result<void> make(Context &context, const std::string &name, const Layout &layout)
{
	const Args &args = context.args();
	if (Result<void> good = isNew(args, name); !good)
		return good;
	if (Result<void> good = allFree(args, name, layout); !good)
		return good;
	if (Result<void> made = makeStripe(name, stripedTarget(disksOf(layout), layout.chunk, layout.bytes)); !made)
		return made;
	Result<void> saved = args.has("transient") ? Result<void>() : saveStripe(args, configOf(name, layout));
	if (!saved)
		static_cast<void>(removeMapped(name));
	return saved;
}

void putTable(StripeState &state, const Mapped &mapped)
{
	state.bytes = mapped.sectors() * sector;
	state.users = mapped.users;
	if (isCopying(mapped)) {
		Result<CopyState> copy = copyState(mapped.name);
		state.state =
			copy ? fmt::format("moving, {} of {}{}", copy->done, copy->of, copy->broken ? ", broken" : "")
			     : "moving";
	}
}

Result<std::vector<StripeState>> states(const Args &args, const Snapshot &all)
{
	std::vector<StripeState> states;
	const ConfigReading reading = inspectConfig(configFiles(args));
	for (const ConfigStripe &one : reading.config.stripes) {
		StripeState state{one.name, "not made", one.chunk, 0, one.members, {}, true, 0};
		state.missing = membersOfStripe(one, all).missing;
		Result<std::optional<Mapped>> mapped = findMapped(one.name);
		if (!mapped)
			return mapped.error();
		if (*mapped) {
			state.state = isStripe(**mapped) ? "active" : "another device";
			putTable(state, **mapped);
		} else if (!state.missing.empty()) {
			state.state = "members missing";
		}
		states.push_back(state);
	}
	Result<std::vector<std::string>> names = mappedNames();
	if (!names)
		return names.error();
	std::set<std::string> parts; // devices of these stripes, also during a move
	for (const StripeState &one : states)
		parts.insert({one.name, oldName(one.name), newName(one.name)});
	for (const std::string &name : *names)
		if (Result<std::optional<Mapped>> mapped = findMapped(name);
		    mapped && *mapped && isStripe(**mapped) && !parts.contains(name)) {
			StripeState state{name, "active", 0, 0, {}, {}, false, 0};
			putTable(state, **mapped);
			states.push_back(state);
		}
	return states;
}

// Returns false if the stripe exists already.
Result<bool> startOne(const ConfigStripe &one, const Snapshot &all)
{
	Result<std::optional<Mapped>> there = findMapped(one.name);
	if (!there)
		return there.error();
	if (*there)
		return isStripe(**there)
			       ? Result<bool>(false)
			       : Result<bool>(usageError("/dev/mapper/" + one.name + " exists, and is not a stripe"));
	const Parts parts = membersOfStripe(one, all);
	if (!parts.whole()) {
		Error error = usageError(fmt::format("{} of {} members are missing or have no usable path: {}",
						     parts.missing.size(), one.members.size(),
						     fmt::join(parts.missing, " ")));
		error.code = ErrorCode::noSuchObject;
		return error;
	}
	Result<void> made = makeStripe(one.name, stripedTarget(parts.disks, one.chunk, parts.bytes));
	return made ? Result<bool>(true) : Result<bool>(made.error());
}

} // namespace

int runStripePlan(Context &context)
{
	const std::string name = nameOf(context);
	Result<Layout> layout = layoutFor(context.args());
	if (!layout)
		return context.fail(name, layout.error());
	printLayout(context, name, *layout, "planned");
	return 0;
}

int runStripeCreate(Context &context)
{
	const std::string name = nameOf(context);
	Result<Layout> layout = layoutFor(context.args());
	if (!layout)
		return context.fail(name, layout.error());
	if (Result<void> done = make(context, name, *layout); !done)
		return context.fail(name, done.error(),
				    done.error().sysErrno == EEXIST ? "--force uses it anyway" : "");
	int code = 0;
	std::optional<Error> failed;
	if (context.args().has("mkfs"))
		if (Result<void> done = makeFileSystem(context, context.args().textOr("mkfs", ""), name, *layout);
		    !done) {
			failed = done.error();
			code = context.complain(name, *failed, "the stripe was created, but has no file system");
		}
	printLayout(context, name, *layout, "made", failed);
	return code;
}

int runStripeShow(Context &context)
{
	const std::string name = nameOf(context);
	Result<Snapshot> all = readSnapshot();
	if (!all)
		return context.fail(name, all.error());
	Result<std::vector<StripeState>> found = states(context.args(), *all);
	if (!found)
		return context.fail(name, found.error());
	if (!name.empty())
		std::erase_if(*found, [&](const StripeState &one) { return one.name != name; });
	if (!name.empty() && found->empty())
		return context.fail(name, stripeAbsent(name), "'nvmeofctl stripe show' lists all stripes");
	if (context.json()) {
		context.print(stripesDocument(*found));
		return 0;
	}
	Table table({{"Stripe"},
		     {"State"},
		     {"Size", Align::right},
		     {"Chunk", Align::right},
		     {"Members", Align::right},
		     {"Missing"},
		     {"Users", Align::right}});
	for (const StripeState &one : *found)
		table.add({one.name, one.state, one.bytes ? formatSize(one.bytes) : "-",
			   one.chunk ? sizeText(one.chunk) : "-",
			   one.configured ? std::to_string(one.members.size()) : "not configured",
			   one.missing.empty() ? "-" : fmt::format("{}", fmt::join(one.missing, " ")),
			   std::to_string(one.users)});
	context.out() << (found->empty() ? "no stripe exists or is configured\n" : table.render());
	return 0;
}

int runStripeStart(Context &context)
{
	const std::string name = nameOf(context);
	Result<Config> config = configuration(context.args());
	if (!config)
		return context.fail(name, config.error(), configStep(config.error()));
	Result<Snapshot> all = readSnapshot();
	if (!all)
		return context.fail(name, all.error());
	int code = 0;
	std::vector<std::string> made;
	Json failures = Json::array();
	bool known = name.empty();
	for (const ConfigStripe &one : config->stripes) {
		if (!name.empty() && one.name != name)
			continue;
		known = true;
		Result<bool> done = startOne(one, *all);
		if (!done) {
			const bool absent = done.error().code == ErrorCode::noSuchObject;
			const int failed = context.complain(one.name, done.error(),
							    absent ? "'nvmeofctl list' shows all disks" : "");
			code = code ? code : failed;
			Error error = done.error();
			error.object.name = one.name;
			failures.push_back(toJson(error));
		} else if (*done) {
			made.push_back(one.name);
		}
	}
	if (!known)
		return context.fail(name, stripeAbsent(name), "'nvmeofctl config show' lists the configured ones");
	Json document{{"made", made}};
	if (!failures.empty())
		document["failures"] = failures;
	if (context.json())
		context.print(document);
	else
		for (const std::string &one : made)
			context.out() << "/dev/mapper/" << one << "\n";
	return code;
}

int runStripeStop(Context &context)
{
	const std::string name = nameOf(context);
	Result<std::optional<Mapped>> there = findMapped(name);
	if (!there)
		return context.fail(name, there.error());
	const bool made = *there && isStripe(**there);
	if (made && isCopying(**there))
		return context.fail(name, usageError("it is being moved to other members"),
				    "complete the move with 'nvmeofctl stripe grow'");
	if (made)
		if (Result<void> done = removeMapped(name); !done)
			return context.fail(name, done.error(), (*there)->users ? "unmount it, or close it" : "");
	std::error_code ignored;
	const bool forgotten =
		context.args().has("forget") && std::filesystem::remove(stripeFile(context.args(), name), ignored);
	if (!made && !forgotten)
		return context.fail(name, stripeAbsent(name), "'nvmeofctl stripe show' lists all stripes");
	const std::string done = !made ? "forgotten" : forgotten ? "removed and forgotten" : "removed";
	if (context.json())
		context.print({{"name", name}, {"done", done}});
	else
		context.out() << fmt::format("{} is {}; its members are unchanged\n", name, done);
	return 0;
}

// ---- parts of the verbs

namespace {

Error noSuchPart(std::string message)
{
	Error error = usageError(std::move(message));
	error.code = ErrorCode::noSuchObject;
	return error;
}

std::string plainName(const std::string &name)
{
	return name.substr(name.rfind('/') + 1);
}

} // namespace

Result<std::vector<Member>> wantedMembers(const Args &args, const Snapshot &all)
{
	std::vector<Member> found, members = membersOf(all);
	for (Member &one : members)
		readQueueLimits(one);
	for (const std::string &name : args.all("MEMBER")) {
		auto member = std::ranges::find(members, plainName(name), &Member::disk);
		if (member == members.end())
			return noSuchPart("there is no disk " + name);
		found.push_back(*member);
	}
	for (const std::string &pattern : args.all("nqn"))
		for (const Member &one : members)
			if (::fnmatch(pattern.c_str(), one.subsystem.c_str(), 0) == 0)
				found.push_back(one);
	if (found.empty())
		return usageError("no members: name disks, or give an --nqn that matches a connected subsystem");
	return found;
}

Result<Layout> plannedLayout(const Args &args, std::vector<Member> members)
{
	Wish wish;
	wish.width = args.number("width").value_or(0);
	wish.keepOrder = args.has("keep-order");
	if (const std::optional<std::string> text = args.text("chunk")) {
		const std::optional<std::uint64_t> chunk = parseSize(*text);
		if (!chunk || !*chunk)
			return usageError("--chunk: '" + *text + "' is not a size such as 128KiB");
		wish.chunk = *chunk;
	}
	return planStripe(std::move(members), wish);
}

Result<void> allFree(const Args &args, const std::string &name, const Layout &layout)
{
	// another stripe that is not made now has data on all of its members, which only the first one may show
	const ConfigReading reading = inspectConfig(configFiles(args));
	for (const ConfigStripe &other : reading.config.stripes)
		for (const Member &one : layout.members)
			if (other.name != name && std::ranges::find(other.members, one.wwid) != other.members.end())
				return usageError(
					fmt::format("{} is a member of the stripe '{}', configured at {}: remove "
						    "that stripe with 'nvmeofctl stripe stop {} --forget'",
						    one.disk, other.name, other.place.toString(), other.name));
	for (const Member &one : layout.members)
		if (Result<void> good = checkFree(one, args.has("force")); !good)
			return good;
	return {};
}

std::vector<std::string> disksOf(const Layout &layout)
{
	std::vector<std::string> disks;
	for (const Member &one : layout.members)
		disks.push_back(one.disk);
	return disks;
}

ConfigStripe configOf(const std::string &name, const Layout &layout)
{
	ConfigStripe stripe;
	stripe.name = name;
	stripe.chunk = layout.chunk;
	for (const Member &one : layout.members)
		stripe.members.push_back(one.wwid);
	return stripe;
}

std::filesystem::path stripeFile(const Args &args, const std::string &name)
{
	std::filesystem::path folder = configFiles(args).main;
	return folder.replace_extension(".d") / ("stripe-" + name + ".toml");
}

Result<void> saveStripe(const Args &args, const ConfigStripe &stripe)
{
	const std::filesystem::path file = stripeFile(args, stripe.name);
	std::error_code ignored;
	std::filesystem::create_directories(file.parent_path(), ignored);
	Config config;
	config.stripes = {stripe};
	return nofctl::replaceFile(file,
				   "# Written by 'nvmeofctl stripe', which rewrites it when the stripe grows.\n" +
					   formatConfig(config),
				   0644, nofctl::Durable::yes);
}

std::string layoutText(const std::string &name, const Layout &layout)
{
	Table table({{"#", Align::right},
		     {"Disk"},
		     {"Subsystem"},
		     {"Size", Align::right},
		     {"Usable paths", Align::right},
		     {"Owner"}});
	for (std::size_t i = 0; i < layout.members.size(); i++) {
		const Member &one = layout.members[i];
		table.add({std::to_string(i), one.disk, one.subsystem, formatSize(one.bytes),
			   std::to_string(one.usable), one.owner});
	}
	std::string text = table.render() + "\n" +
			   renderFields({{"device", "/dev/mapper/" + name},
					 {"size", formatSize(layout.bytes)},
					 {"chunk", sizeText(layout.chunk)},
					 {"full stripe", sizeText(layout.fullStripe())}});
	for (const char *type : {"xfs", "ext4"})
		text += fmt::format("mkfs.{} {} /dev/mapper/{}\n", type,
				    fmt::join(*mkfsOptions(type, layout.chunk, layout.members.size()), " "), name);
	for (const std::string &note : layout.notes)
		text += "note: " + nofctl::printable(note) + "\n";
	return text;
}

Result<void> makeFileSystem(Context &context, const std::string &type, const std::string &name, const Layout &layout)
{
	Result<std::vector<std::string>> options = mkfsOptions(type, layout.chunk, layout.members.size());
	if (!options)
		return options.error();
	std::vector<std::string> words{"mkfs." + type};
	words.insert(words.end(), options->begin(), options->end());
	if (context.args().has("force"))
		words.push_back(type == "xfs" ? "-f" : "-F");
	words.push_back("/dev/mapper/" + name);
	context.note(name, fmt::format("{}", fmt::join(words, " ")));
	std::vector<char *> arguments;
	for (std::string &word : words)
		arguments.push_back(word.data());
	arguments.push_back(nullptr);
	// mkfs prints text for people: its stdout goes to stderr, like notes
	posix_spawn_file_actions_t actions;
	::posix_spawn_file_actions_init(&actions);
	::posix_spawn_file_actions_adddup2(&actions, 2, 1);
	pid_t child = 0;
	int status = 0;
	const int number = ::posix_spawnp(&child, words[0].c_str(), &actions, nullptr, arguments.data(), environ);
	::posix_spawn_file_actions_destroy(&actions);
	if (number == 0)
		while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
		}
	if (number == 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return {};
	Error error = errorFromErrno(number ? number : EIO);
	error.code = ErrorCode::failed;
	error.message = words[0] + (number ? ": " + std::string(std::strerror(number)) : " failed");
	return error;
}

Error stripeAbsent(const std::string &name)
{
	return noSuchPart("there is no stripe " + name);
}

// ---- stripe grow: copies a stripe to more, larger or other members while it is in use

namespace {

constexpr const char *undone = "the stripe is unchanged on its old members";
constexpr const char *seeState = "'nvmeofctl stripe show' shows its state";

// Only one process at a time moves a stripe.
Result<nofctl::OwnedFd> lockMove(const std::string &name)
{
	const std::string file = "/run/nvmeof-stripe-" + name + ".lock";
	nofctl::OwnedFd lock(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
	if (lock.get() < 0)
		return errorFromErrno(errno, file);
	if (::flock(lock.get(), LOCK_EX | LOCK_NB))
		return errno == EWOULDBLOCK ? usageError("another process moves it now") : errorFromErrno(errno, file);
	return lock;
}

Result<Mapped> madeStripe(const std::string &name)
{
	Result<std::optional<Mapped>> there = findMapped(name);
	if (!there)
		return there.error();
	return *there && isStripe(**there) ? Result<Mapped>(**there) : Result<Mapped>(stripeAbsent(name));
}

// Fails if the stripe is configured in a file that is not written by 'stripe'.
Result<void> checkOwnFile(const Args &args, const std::string &name)
{
	const std::optional<ConfigStripe> found = configuredStripe(args, name);
	if (!found || found->place.file == stripeFile(args, name).string())
		return {};
	return usageError("it is configured by hand, at " + found->place.toString() + ": move that section into " +
			  stripeFile(args, name).string());
}

Result<Layout> layoutFor(const Args &args, const Mapped &stripe)
{
	Result<Snapshot> all = readSnapshot();
	if (!all)
		return all.error();
	Result<std::vector<Member>> members = wantedMembers(args, *all);
	if (!members)
		return members.error();
	Result<Layout> layout = plannedLayout(args, *std::move(members));
	if (layout && layout->bytes / sector < stripe.sectors())
		return usageError(fmt::format("the members are too small: they have {}, the stripe has {}",
					      formatSize(layout->bytes), formatSize(stripe.sectors() * sector)));
	return layout;
}

std::string planText(const Mapped &stripe, const Layout &layout)
{
	return fmt::format("plan: copy {} to {} members while it is in use; until the copy is complete, writes go to "
			   "old and new members. Then the stripe has {}, and its old members are free. Grow its file "
			   "system afterwards: xfs_growfs MOUNT, or resize2fs "
			   "/dev/mapper/{}\n",
			   formatSize(stripe.sectors() * sector), layout.members.size(), formatSize(layout.bytes),
			   stripe.name);
}

// Waits until all is copied. Fails when interrupted, or if one side is broken.
Result<void> waitForCopy(Context &context, const std::string &name, Interruption &interruption)
{
	int told = -1;
	for (;; std::this_thread::sleep_for(100ms)) {
		Result<CopyState> state = copyState(name);
		if (!state)
			return state.error();
		if (state->broken)
			return usageError("writes to the old or the new members fail");
		const int percent = state->of ? static_cast<int>(100 * state->done / state->of) : 0;
		if (!context.json() && percent / 10 != told)
			context.out() << fmt::format("{}: {} %\n", name, percent) << std::flush;
		told = percent / 10;
		if (state->done == state->of)
			return {};
		if (interruption.token().stop_requested())
			return usageError("interrupted");
	}
}

// Saves the configuration before the copy ends: until then both sides have all writes, so old and new one are valid.
Result<void> finish(const Args &args, const std::string &name, const Layout &layout)
{
	if (!args.has("transient"))
		if (Result<void> saved = saveStripe(args, configOf(name, layout)); !saved)
			return saved;
	return endCopy(name);
}

bool sameMembers(const ConfigStripe &one, const ConfigStripe &other)
{
	return one.chunk == other.chunk && one.members == other.members;
}

/*
 * Ends a move whose process has died. The configuration names the new members only after the copy was complete: then
 * the move is completed (true). Otherwise, or if one side is broken since then, it is undone, and the configuration
 * gets the old members again: it must not name members that no longer get the writes.
 */
Result<bool> endInterruptedMove(Context &context, const std::string &name)
{
	Result<Snapshot> all = readSnapshot();
	Result<std::optional<Mapped>> before = findMapped(oldName(name)), after = findMapped(newName(name));
	Result<CopyState> state = copyState(name);
	if (!all || !before || !after || !state)
		return !all ? all.error() : !before ? before.error() : !after ? after.error() : state.error();
	if (!*before || !*after)
		return usageError("its old and new members are not known: a device " + oldName(name) + " or " +
				  newName(name) + " is missing");
	const std::optional<ConfigStripe> configured = configuredStripe(context.args(), name);
	const ConfigStripe old = stripeOf(name, **before, *all);
	if (configured && sameMembers(*configured, stripeOf(name, **after, *all)) && !state->broken &&
	    state->done == state->of) {
		context.note(name, "an earlier move was interrupted after the copy; completing it");
		Result<void> ended = endCopy(name);
		return ended ? Result<bool>(true) : Result<bool>(ended.error());
	}
	context.note(name, "an earlier move was interrupted; undoing it");
	if (configured && !sameMembers(*configured, old)) {
		if (std::ranges::find(old.members, "") != old.members.end())
			return usageError("an old member is not connected, so the configuration cannot name it again");
		if (Result<void> saved = saveStripe(context.args(), old); !saved)
			return saved.error();
	}
	Result<void> back = undoCopy(name);
	return back ? Result<bool>(false) : Result<bool>(back.error());
}

int moved(Context &context, const std::string &name, const Layout &layout)
{
	if (context.json())
		printLayout(context, name, layout, "moved");
	else
		context.out() << fmt::format("{}: {} on {} members\n", name, formatSize(layout.bytes),
					     layout.members.size());
	return 0;
}

int grow(Context &context, const Mapped &stripe, const Layout &layout)
{
	Interruption interruption;
	const std::string &name = stripe.name;
	if (Result<void> good = allFree(context.args(), name, layout); !good)
		return context.fail(name, good.error(),
				    good.error().sysErrno == EEXIST ? "--force uses it anyway" : "");
	if (Result<void> begun = beginCopy(stripe, stripedTarget(disksOf(layout), layout.chunk, layout.bytes)); !begun)
		return context.fail(name, begun.error(), undone);
	Result<void> done = waitForCopy(context, name, interruption);
	if (!done) {
		Result<void> back = undoCopy(name);
		return context.fail(name, back ? done.error() : back.error(), back ? undone : seeState);
	}
	if (done = finish(context.args(), name, layout); !done)
		return context.fail(name, done.error(), "the same command again completes the move");
	return moved(context, name, layout);
}

} // namespace

int runStripeGrow(Context &context)
{
	const std::string name = context.args().textOr("NAME", "");
	const bool dry = context.args().has("dry-run");
	Result<Mapped> stripe = madeStripe(name);
	if (!stripe)
		return context.fail(name, stripe.error(), "'nvmeofctl stripe show' lists all stripes");
	if (Result<void> own = checkOwnFile(context.args(), name); !own)
		return context.fail(name, own.error());
	Result<nofctl::OwnedFd> lock = dry ? Result<nofctl::OwnedFd>(nofctl::OwnedFd()) : lockMove(name);
	if (!lock)
		return context.fail(name, lock.error(), seeState);
	// a move that held the lock may have ended since
	if (stripe = madeStripe(name); !stripe)
		return context.fail(name, stripe.error(), seeState);
	bool completed = false;
	if (isCopying(*stripe) && !dry) {
		Result<bool> ended = endInterruptedMove(context, name);
		if (!ended)
			return context.fail(name, ended.error(), seeState);
		completed = *ended;
		if (stripe = madeStripe(name); !stripe)
			return context.fail(name, stripe.error(), seeState);
	}
	Result<Layout> layout = layoutFor(context.args(), *stripe);
	if (!layout)
		return context.fail(name, layout.error());
	if (completed)
		if (const auto now = configuredStripe(context.args(), name);
		    now && sameMembers(*now, configOf(name, *layout)))
			return moved(context, name, *layout);
	if (!context.json())
		context.out() << layoutText(name, *layout) << planText(*stripe, *layout) << std::flush;
	if (!dry)
		return grow(context, *stripe, *layout);
	if (context.json())
		context.print(layoutDocument(name, *layout, "", "planned"));
	return 0;
}

// ---- JSON documents

Json layoutDocument(const std::string &name, const Layout &layout, const std::string &text, const char *done)
{
	Json members = Json::array();
	for (const Member &one : layout.members) {
		Json json{{"disk", one.disk},
			  {"wwid", one.wwid},
			  {"size", one.bytes},
			  {"nqn", one.subsystem},
			  {"usable_paths", one.usable}};
		putText(json, "owner", one.owner);
		members.push_back(json);
	}
	return {{"name", name},
		{"done", done},
		{"members", members},
		{"chunk", layout.chunk},
		{"full_stripe", layout.fullStripe()},
		{"size", layout.bytes},
		{"unused", layout.unused},
		{"notes", layout.notes},
		{"text", text}};
}

Json stripesDocument(const std::vector<StripeState> &stripes)
{
	Json array = Json::array();
	for (const StripeState &one : stripes)
		array.push_back({{"name", one.name},
				 {"state", one.state},
				 {"configured", one.configured},
				 {"chunk", one.chunk},
				 {"size", one.bytes},
				 {"users", one.users},
				 {"members", one.members},
				 {"missing", one.missing}});
	return {{"stripes", array}};
}
