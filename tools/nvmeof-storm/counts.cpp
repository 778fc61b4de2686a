// SPDX-License-Identifier: LGPL-2.1-or-later
#include "counts.h"

#include <algorithm>
#include <cmath>

namespace storm {

namespace {

constexpr const char *names[stepCount + 1] = {"tcp",      "hello",  "connect", "cap",     "vs",    "enable", "ready",
					      "identify", "events", "header",  "entries", "check", "arm",    "waiting"};

void appendTimes(Times &to, const Times &from)
{
	to.insert(to.end(), from.begin(), from.end());
}

void add(std::map<std::string, std::uint64_t> &to, const std::map<std::string, std::uint64_t> &from)
{
	for (const auto &[what, count] : from)
		to[what] += count;
}

void addRounds(std::vector<Round> &to, const std::vector<Round> &from)
{
	to.resize(std::max(to.size(), from.size()));
	for (std::size_t i = 0; i < from.size(); i++) {
		appendTimes(to[i].events, from[i].events);
		appendTimes(to[i].reads, from[i].reads);
		to[i].missed += from[i].missed;
	}
}

} // namespace

const char *toString(HostStep mark)
{
	return names[static_cast<std::size_t>(mark)];
}

// A live session reads the log header next.
HostStep stepOf(initiator::Step step)
{
	return static_cast<HostStep>(step);
}
static_assert(static_cast<int>(HostStep::header) == static_cast<int>(initiator::Step::live));

void Counts::add(const Counts &other)
{
	attempts += other.attempts;
	failovers += other.failovers;
	retries += other.retries;
	torn += other.torn;
	events += other.events;
	lost += other.lost;
	good += other.good;
	failed += other.failed;
	bytesIn += other.bytesIn;
	bytesOut += other.bytesOut;
	commands += other.commands;
	exchanges += other.exchanges;
	writes += other.writes;
	for (std::size_t mark = 0; mark < failures.size(); mark++)
		for (std::size_t reason = 0; reason < reasonCount; reason++)
			failures[mark][reason] += other.failures[mark][reason];
	storm::add(failureReasons, other.failureReasons);
	storm::add(violations, other.violations);
	for (std::size_t mark = 0; mark < stepCount; mark++)
		appendTimes(stepTimes[mark], other.stepTimes[mark]);
	appendTimes(whole, other.whole);
	served.resize(std::max(served.size(), other.served.size()));
	for (std::size_t i = 0; i < other.served.size(); i++)
		served[i] += other.served[i];
	addRounds(rounds, other.rounds);
}

Summary summarize(Times times)
{
	if (times.empty())
		return {};
	std::ranges::sort(times);
	const auto at = [&](double part) {
		const auto rank = static_cast<std::size_t>(std::ceil(part * static_cast<double>(times.size())));
		return times[std::clamp<std::size_t>(rank, 1, times.size()) - 1] / 1000.0;
	};
	return {times.size(), at(0.5), at(0.9), at(0.99), at(1)};
}

} // namespace storm
