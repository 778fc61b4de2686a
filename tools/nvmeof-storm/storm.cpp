// SPDX-License-Identifier: LGPL-2.1-or-later
#include "storm.h"

#include <cstring>

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

namespace storm {

using Clock = Host::Clock;
using namespace std::chrono_literals;

namespace {

constexpr rlim_t otherDescriptors = 64; // beyond those of hosts and threads
constexpr auto roundInterval = 100ms;
constexpr auto serviceEndTime = 50ms; // time for the service to finish work for the last host

std::uint64_t microsecondsSince(Clock::time_point start)
{
	return static_cast<std::uint64_t>(
		std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - start).count());
}

// Raises the limit of descriptors. Empty: done; otherwise an error message
std::string makeRoom(const Options &options)
{
	rlimit limit{};
	::getrlimit(RLIMIT_NOFILE, &limit);
	const rlim_t wanted = options.hosts + otherDescriptors + 8ul * options.threads;
	if (limit.rlim_max < wanted)
		return fmt::format("{} file descriptors are needed, but the limit is {}: see ulimit -Hn", wanted,
				   limit.rlim_max);
	limit.rlim_cur = std::max(limit.rlim_cur, wanted);
	::setrlimit(RLIMIT_NOFILE, &limit);
	return {};
}

class Storm {
public:
	explicit Storm(const Options &options) : options_(options) {}

	Outcome run();

private:
	void gather();
	void prepare();
	void begin();
	void measured();
	void rounds();
	void round(Push &push, unsigned number);
	void end();
	template <typename Fn> void all(Fn tell);

	const Options &options_;
	std::vector<std::unique_ptr<HostPool>> pools_;
	Outcome outcome_;
};

void Storm::gather()
{
	const unsigned threads = std::min(options_.threads, options_.hosts);
	for (unsigned i = 0, first = 0; i < threads; i++) {
		const unsigned count = options_.hosts / threads + (i < options_.hosts % threads);
		pools_.push_back(std::make_unique<HostPool>(options_, options_.first + first, count));
		first += count;
	}
}

// Calls @tell for each pool with a phase, and waits until all pools have arrived.
template <typename Fn> void Storm::all(Fn tell)
{
	Phase phase(pools_.size());
	for (auto &pool : pools_)
		tell(*pool, phase);
	phase.wait();
}

void Storm::prepare()
{
	all([](HostPool &pool, Phase &phase) { pool.prepare(phase); });
	for (auto &pool : pools_)
		if (pool->error())
			outcome_.trouble =
				fmt::format("not enough sockets for the hosts: {}", std::strerror(pool->error()));
}

void Storm::begin()
{
	if (options_.startTogether)
		all([](HostPool &pool, Phase &phase) { pool.connect(phase); });
	const auto instant = Clock::now();
	all([instant](HostPool &pool, Phase &phase) { pool.go(instant, phase); });
	outcome_.elapsed = microsecondsSince(instant);
}

// Runs the storm and measures its CPU time
void Storm::measured()
{
	const auto timeOf = [this] { return options_.pid ? cpuTimeOf(options_.pid) : std::nullopt; };
	const auto service = timeOf(), own = cpuTimeOf(::getpid());
	begin();
	if (service)
		std::this_thread::sleep_for(serviceEndTime);
	if (const auto after = timeOf(); service && after)
		outcome_.serviceTime = *after - *service;
	if (const auto after = cpuTimeOf(::getpid()); own && after)
		outcome_.ownTime = *after - *own;
}

void Storm::rounds()
{
	if (!options_.push.wanted())
		return;
	const std::unique_ptr<Push> push = makePush(options_.push);
	for (unsigned number = 1; number <= options_.push.times && outcome_.trouble.empty(); number++) {
		std::this_thread::sleep_for(roundInterval);
		round(*push, number);
	}
}

void Storm::round(Push &push, unsigned number)
{
	Phase ready(pools_.size()), told(pools_.size()), ended(pools_.size());
	for (auto &pool : pools_)
		pool->round(ready, told);
	ready.wait();
	const auto instant = Clock::now();
	for (auto &pool : pools_)
		pool->setInstant(instant);
	outcome_.trouble = push.make(number);
	outcome_.acknowledged.push_back(microsecondsSince(instant));
	if (told.waitUntil(instant + seconds(options_.push.timeout)))
		return;
	for (auto &pool : pools_)
		pool->endRound(ended);
	ended.wait();
}

void Storm::end()
{
	for (auto &pool : pools_) {
		pool->leave();
		outcome_.counts.add(pool->counts());
		outcome_.logs.merge(pool->logs());
	}
}

Outcome Storm::run()
{
	outcome_.trouble = makeRoom(options_);
	if (!outcome_.trouble.empty())
		return std::move(outcome_);
	gather();
	prepare();
	outcome_.memoryBefore = options_.pid ? memoryOf(options_.pid) : 0;
	if (outcome_.trouble.empty()) {
		measured();
		std::this_thread::sleep_for(seconds(options_.hold));
		outcome_.memoryAfter = options_.pid ? memoryOf(options_.pid) : 0;
		rounds();
	}
	end();
	return std::move(outcome_);
}

} // namespace

Outcome run(const Options &options)
{
	return Storm(options).run();
}

} // namespace storm
