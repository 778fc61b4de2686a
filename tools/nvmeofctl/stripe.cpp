// SPDX-License-Identifier: LGPL-2.1-or-later
// stripe: a disk over namespaces of several targets.
#include "stripe.h"

#include <algorithm>
#include <ostream>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "libctl/stripe/grow.h"

#include "configuration.h"
#include "context.h"
#include "format.h"
#include "gpu_documents.h"
#include "table.h"

using namespace nvmeof;
using namespace nofctl::stripe;

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

void printLayout(Context &context, const std::string &name, const Layout &layout, const char *done)
{
	if (context.json()) {
		Config config;
		config.stripes = {configOf(name, layout)};
		context.print(layoutDocument(name, layout, formatConfig(config), done));
		return;
	}
	context.out() << layoutText(name, layout);
}

// Fails if a device of that name exists, or if a stripe of that name is configured.
Result<void> isNew(const Args &args, const std::string &name)
{
	Result<std::optional<Mapped>> there = findMapped(name);
	if (!there)
		return there.error();
	if (*there)
		return usageError("/dev/mapper/" + name + " exists already");
	const ConfigReading reading = inspectConfig(configFiles(args));
	auto found = std::ranges::find(reading.config.stripes, name, &ConfigStripe::name);
	return found == reading.config.stripes.end()
		       ? Result<void>()
		       : Result<void>(usageError("it is already configured, at " + found->place.toString()));
}

Result<void> make(Context &context, const std::string &name, const Layout &layout)
{
	const Args &args = context.args();
	if (Result<void> good = isNew(args, name); !good)
		return good;
	if (Result<void> good = allFree(args, layout); !good)
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
	if (context.args().has("mkfs"))
		if (Result<void> done = makeFileSystem(context, context.args().textOr("mkfs", ""), name, *layout);
		    !done)
			code = context.complain(name, done.error(), "the stripe was created, but has no file system");
	printLayout(context, name, *layout, "made");
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
		} else if (*done) {
			made.push_back(one.name);
		}
	}
	if (!known)
		return context.fail(name, stripeAbsent(name), "'nvmeofctl config show' lists the configured ones");
	if (context.json())
		context.print({{"made", made}});
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
