// SPDX-License-Identifier: LGPL-2.1-or-later
// stripe grow: copies a stripe to more, larger or other members while it is in use.
#include <algorithm>
#include <chrono>
#include <ostream>
#include <thread>

#include <fmt/format.h>

#include "libctl/stripe/grow.h"

#include "configuration.h"
#include "context.h"
#include "format.h"
#include "gpu_documents.h"
#include "interruption.h"
#include "stripe.h"

using namespace nvmeof;
using namespace nofctl::stripe;
using namespace std::chrono_literals;

namespace {

constexpr const char *undone = "the stripe is unchanged on its old members";

Result<Mapped> stripeOf(const std::string &name)
{
	Result<std::optional<Mapped>> there = findMapped(name);
	if (!there)
		return there.error();
	return *there && isStripe(**there) ? Result<Mapped>(**there) : Result<Mapped>(stripeAbsent(name));
}

// Undoes a move whose process has died. Writes go to both sides during a move, so the old members are complete.
Result<Mapped> undoInterruptedMove(Context &context, const Mapped &stripe, bool dry)
{
	if (!isCopying(stripe) || dry)
		return stripe;
	context.note(stripe.name, "an earlier move was interrupted; starting again");
	Result<void> back = undoCopy(stripe.name);
	return back ? stripeOf(stripe.name) : Result<Mapped>(back.error());
}

// Fails if the stripe is configured in a file that is not written by 'stripe'.
Result<void> checkOwnFile(const Args &args, const std::string &name)
{
	const ConfigReading reading = inspectConfig(configFiles(args));
	auto found = std::ranges::find(reading.config.stripes, name, &ConfigStripe::name);
	if (found == reading.config.stripes.end() || found->place.file == stripeFile(args, name).string())
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

int grow(Context &context, const Mapped &stripe, const Layout &layout)
{
	Interruption interruption;
	const std::string &name = stripe.name;
	if (Result<void> good = allFree(context.args(), layout); !good)
		return context.fail(name, good.error(),
				    good.error().sysErrno == EEXIST ? "--force uses it anyway" : "");
	if (Result<void> begun = beginCopy(stripe, stripedTarget(disksOf(layout), layout.chunk, layout.bytes)); !begun)
		return context.fail(name, begun.error(), undone);
	Result<void> done = waitForCopy(context, name, interruption);
	if (!done) {
		Result<void> back = undoCopy(name);
		return context.fail(name, back ? done.error() : back.error(),
				    back ? undone : "'nvmeofctl stripe show' shows its state");
	}
	if (done = finish(context.args(), name, layout); !done)
		return context.fail(name, done.error(), "'nvmeofctl stripe show' shows its state");
	if (context.json()) {
		Config config;
		config.stripes = {configOf(name, layout)};
		context.print(layoutDocument(name, layout, formatConfig(config), "moved"));
	} else {
		context.out() << fmt::format("{}: {} on {} members\n", name, formatSize(layout.bytes),
					     layout.members.size());
	}
	return 0;
}

} // namespace

int runStripeGrow(Context &context)
{
	const std::string name = context.args().textOr("NAME", "");
	Result<Mapped> stripe = stripeOf(name);
	if (!stripe)
		return context.fail(name, stripe.error(), "'nvmeofctl stripe show' lists all stripes");
	if (Result<void> own = checkOwnFile(context.args(), name); !own)
		return context.fail(name, own.error());
	if (stripe = undoInterruptedMove(context, *stripe, context.args().has("dry-run")); !stripe)
		return context.fail(name, stripe.error(), "'nvmeofctl stripe show' shows its state");
	Result<Layout> layout = layoutFor(context.args(), *stripe);
	if (!layout)
		return context.fail(name, layout.error());
	if (!context.json())
		context.out() << layoutText(name, *layout) << planText(*stripe, *layout) << std::flush;
	if (!context.args().has("dry-run"))
		return grow(context, *stripe, *layout);
	if (context.json())
		context.print(layoutDocument(name, *layout, "", "planned"));
	return 0;
}
