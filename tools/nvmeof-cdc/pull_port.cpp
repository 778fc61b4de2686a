// SPDX-License-Identifier: LGPL-2.1-or-later
#include "pull_port.h"

#include <algorithm>

namespace cdc {

using namespace initiator;
using namespace nofctl::wire;

namespace {

constexpr std::uint64_t maxLogSize = 1u << 20; // bytes: ANAGRPMAX and MNAN may be anything
constexpr std::uint32_t groupSize = 32, headerSize = 16;
constexpr std::uint8_t asymmetric = 1 << 3; // CMIC
constexpr AnaState order[] = {ana_optimized, ana_non_optimized, ana_change, ana_inaccessible, ana_persistent_loss};

SessionOptions portOptions(const std::string &nqn)
{
	SessionOptions options;
	options.subsysnqn = nqn;
	options.discovery = false;
	options.events = wantAnaChanges;
	return options;
}

// Length of the log in bytes, from the limits in Identify Controller
std::uint32_t lengthFor(const ControllerInfo &info)
{
	const std::uint64_t namespaces = info.maxNamespaces ? info.maxNamespaces : info.namespaces;
	const std::uint64_t all = headerSize + std::uint64_t(info.anaGroups) * groupSize + namespaces * sizeof(Le32);
	return info.maxTransfer(static_cast<std::uint32_t>(std::min(all, maxLogSize))) & ~3u;
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

PullPort::PullPort(Shared &shared, const WatchTimes &times, const HostIdentity &who, const Endpoint &endpoint,
		   const std::string &nqn, std::function<void()> onRead)
	: Watcher(shared, times, who, endpoint, portOptions(nqn)), onRead_(std::move(onRead))
{
}

// A controller without ANA fails the command; its paths count as optimized.
void PullPort::read()
{
	log_.clear();
	const std::uint32_t length = lengthFor(session().info());
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
	if (status && !(session().info().cmic & asymmetric)) {
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
