// SPDX-License-Identifier: LGPL-2.1-or-later
#include "pull_port.h"

#include <algorithm>

namespace cdc {

using namespace initiator;
using namespace nofctl::wire;

namespace {

constexpr std::uint64_t longest_log = 1u << 20; // bytes: ANAGRPMAX and MNAN may be anything
constexpr std::uint32_t group_size = 32, header_size = 16;
constexpr std::uint8_t asymmetric = 1 << 3; // CMIC
constexpr AnaState order[] = {ana_optimized, ana_non_optimized, ana_change, ana_inaccessible, ana_persistent_loss};

SessionOptions optionsFor(const std::string &nqn)
{
	SessionOptions options;
	options.subsysnqn = nqn;
	options.discovery = false;
	options.events = want_ana_changes;
	return options;
}

// Length of the log in bytes, from the limits in Identify Controller
std::uint32_t lengthFor(const Told &told)
{
	const std::uint64_t namespaces = told.mostNamespaces ? told.mostNamespaces : told.namespaces;
	const std::uint64_t all = header_size + std::uint64_t(told.anaGroups) * group_size + namespaces * sizeof(Le32);
	return told.longest(static_cast<std::uint32_t>(std::min(all, longest_log))) & ~3u;
}

} // namespace

AnaState bestState(const AnaLog &log)
{
	for (AnaState state : order)
		if (std::ranges::any_of(log.groups,
					[state](const AnaGroup &g) { return g.state == state && !g.nsids.empty(); }))
			return state;
	return ana_optimized;
}

PullPort::PullPort(Shared &shared, const WatchTimes &times, const Who &who, const Endpoint &endpoint,
		   const std::string &nqn, std::function<void()> told)
	: Watcher(shared, times, who, endpoint, optionsFor(nqn)), told_(std::move(told))
{
}

// A controller without ANA fails the command; its paths count as optimized.
void PullPort::read()
{
	log_.clear();
	const std::uint32_t length = lengthFor(session().told());
	session().run(getLog(log_ana, 0, length), length);
}

void PullPort::data(std::uint32_t, Data data)
{
	append(log_, data);
}

Watcher::Outcome PullPort::fail(const Failure &failure)
{
	failure_ = failure;
	failure_.step = Step::live;
	return Outcome::failed;
}

Watcher::Outcome PullPort::part(const Completion &completion)
{
	const auto status = static_cast<std::uint16_t>(completion.status >> 1);
	if (status && !(session().told().cmic & asymmetric)) {
		state_ = ana_optimized;
		return Outcome::read;
	}
	if (status)
		return fail(failureOfStatus(status, "the ANA log"));
	const auto log = parseAnaLog(log_);
	log_ = {};
	if (!log)
		return fail({Reason::unusable, Step::live, 0, "the ANA log is invalid"});
	state_ = bestState(*log);
	return Outcome::read;
}

} // namespace cdc
