// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Thousands of deadlines. An sd-event timer is sorted again whenever it is set; an alarm here is a list link, and
 * postponing it repeatedly costs nothing until its first deadline. Alarms ring up to 20 ms late.
 */
#pragma once

#include <array>
#include <chrono>
#include <cstdint>

#include "loop.h"

namespace runtime {

class Wheel {
public:
	using Clock = std::chrono::steady_clock;

	struct Link {
		Link *next = this, *before = this;
	};

	class Alarm : Link {
	public:
		Alarm() = default;
		Alarm(const Alarm &) = delete;
		Alarm &operator=(const Alarm &) = delete;
		bool set() const { return due_ != 0; }

	protected:
		~Alarm() { unlink(); }
		virtual void
		onDeadline() = 0; // Called at the deadline. May stop or destroy any alarm, including this one.

	private:
		friend class Wheel;
		void unlink();

		std::uint64_t due_ = 0;  // tick of the deadline; 0: not set
		std::uint64_t seen_ = 0; // tick for which it is linked
	};

	explicit Wheel(Loop &loop); // throws std::system_error
	Wheel(const Wheel &) = delete;
	Wheel &operator=(const Wheel &) = delete;

	// Starts or restarts the alarm
	void set(Alarm &alarm, Clock::duration delay);
	void stop(Alarm &alarm) { alarm.due_ = 0; }

private:
	static constexpr std::size_t slots = 1024;

	std::uint64_t now() const;
	void link(Alarm &alarm);
	void turn();
	void look(Link &slot, std::uint64_t until);
	void schedule();

	Clock::time_point start_ = Clock::now();
	std::array<Link, slots> slots_;
	std::uint64_t turned_ = 0; // all ticks up to this one are done
	std::uint64_t wake_ = 0;   // tick for which the timer is set; 0: none
	bool turning_ = false;
	Timer timer_;
};

} // namespace runtime
