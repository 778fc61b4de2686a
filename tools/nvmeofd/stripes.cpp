// SPDX-License-Identifier: LGPL-2.1-or-later
#include "stripes.h"

#include <algorithm>
#include <set>
#include <syslog.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "libctl/runtime/journal.h"
#include "libctl/stripe/mapper.h"

using namespace nvmeof;
using namespace nofctl::stripe;

namespace nvmeofd {

using namespace runtime;
using State = StripeStatus::State;

namespace {

// Returns the error; empty: the stripe exists, new or already before.
std::string makeUnlessThere(const std::string &name, const Target &target)
{
	Result<std::optional<Mapped>> there = findMapped(name);
	if (!there)
		return there.error().message;
	if (*there)
		return isStripe(**there) ? "" : "/dev/mapper/" + name + " is another device";
	Result<void> made = makeStripe(name, target);
	return made ? "" : made.error().message;
}

} // namespace

const char *toString(State state)
{
	constexpr const char *names[] = {"waiting", "making", "made", "failed"};
	return names[static_cast<std::size_t>(state)];
}

Stripes::Stripes(Loop &loop) : mailbox_(loop) {}

Stripes::~Stripes() = default;

void Stripes::apply(const std::vector<ConfigStripe> &wanted, const Snapshot &all)
{
	std::set<std::string> names;
	for (const ConfigStripe &one : wanted) {
		names.insert(one.name);
		StripeStatus &status = all_[one.name];
		if (status.state != State::waiting)
			continue;
		const Parts parts = membersOfStripe(one, all);
		status.missing = parts.missing;
		if (parts.whole())
			make(one, parts.disks, parts.bytes);
	}
	std::erase_if(all_,
		      [&](const auto &one) { return !names.contains(one.first) && one.second.state != State::making; });
}

void Stripes::forget()
{
	for (auto &[name, status] : all_)
		if (status.state != State::making)
			status = {};
}

bool Stripes::waiting() const
{
	return std::ranges::any_of(all_, [](const auto &one) { return one.second.state == State::waiting; });
}

// In a thread of its own, as device mapper and udev may block.
void Stripes::make(const ConfigStripe &stripe, const std::vector<std::string> &disks, std::uint64_t bytes)
{
	all_[stripe.name].state = State::making;
	const Target target = stripedTarget(disks, stripe.chunk, bytes);
	makers_[stripe.name] = std::jthread([this, name = stripe.name, target] {
		const std::string error = makeUnlessThere(name, target);
		mailbox_.post([this, name, error] { done(name, error); });
	});
}

void Stripes::done(const std::string &name, const std::string &error)
{
	StripeStatus &status = all_[name];
	status.state = error.empty() ? State::made : State::failed;
	status.error = error;
	if (error.empty())
		say(LOG_INFO, fmt::format("stripe {}: /dev/mapper/{} exists", name, name));
	else
		say(LOG_WARNING, fmt::format("stripe {}: {}", name, error));
}

} // namespace nvmeofd
