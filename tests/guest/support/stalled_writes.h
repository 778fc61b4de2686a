// SPDX-License-Identifier: LGPL-2.1-or-later
// Shared code of tests on writes that a controller executes after the host has lost it
#pragma once

#include "ports.h"

#include <atomic>
#include <fstream>
#include <functional>
#include <memory>
#include <thread>

namespace guest {

// Runs a command in a detached thread, which survives this object if the command never ends.
class Pending {
public:
	explicit Pending(std::function<int()> command) : state_(std::make_shared<State>())
	{
		std::thread([state = state_, command = std::move(command)] {
			int status = command();
			state->end = Clock::now();
			state->status = status;
		}).detach();
	}

	bool waits() const { return state_->status == 1; }
	int status() const { return state_->status; } // 1: not finished
	Clock::time_point begin() const { return state_->begin; }
	Clock::time_point end() const { return state_->end; } // valid once waits() is false
	Millis took() const { return std::chrono::duration_cast<Millis>(state_->end - state_->begin); }
	bool join(Millis timeout) const
	{
		return eventually([this] { return !waits(); }, timeout);
	}

private:
	struct State {
		std::atomic<int> status{1};
		Clock::time_point begin = Clock::now(), end{};
	};
	std::shared_ptr<State> state_;
};

constexpr std::size_t length = 4096;

inline int writeTo(const Disk &disk, std::uint64_t offset, std::uint32_t seed)
{
	Buffer buffer(length);
	buffer.fill(seed);
	return disk.write(offset, buffer);
}

// A write that the first port accepts but does not answer
inline Pending stallOn(Ports &ports, std::shared_ptr<Disk> disk, std::uint64_t offset, std::uint32_t seed,
		       const char *how)
{
	auto kept = ports.stalledWrites().kept();
	ports[0].script().arm(*target::findMisbehaviour(how));
	Pending pending([disk, offset, seed] { return writeTo(*disk, offset, seed); });
	REQUIRE(ports.stalledWrites().wait(kept + 1, scaled(5s)));
	return pending;
}

// For the benchmark: number of newer blocks overwritten by late writes, and of rounds
inline void record(const char *fencing, const char *driver, unsigned overwritten, unsigned count)
{
	if (auto file = environment("NVMEOF_FENCING_RECORD", ""); !file.empty())
		std::ofstream(file, std::ios::app)
			<< fencing << ' ' << driver << ' ' << overwritten << ' ' << count << '\n';
}

inline std::uint64_t place(unsigned round)
{
	return std::uint64_t(round % 256) * length;
}

inline unsigned rounds(const char *variable, unsigned fallback)
{
	return static_cast<unsigned>(std::stoul(environment(variable, std::to_string(fallback))));
}

// Three losses of a controller, each within a minute of the one before, put it on probation, where it gets no writes.
inline void rest(unsigned round, unsigned count)
{
	if (count > 3 && round % 2 && round + 1 < count)
		std::this_thread::sleep_for(61s);
}

} // namespace guest
