// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Deadlines by the thousand. A timer of sd-event's is a source that is sorted anew whenever it is set; an alarm here is
 * a link in a list, and one that is set again and again costs nothing until its first time has come. They ring up to
 * 20 ms late.
 */
#pragma once

#include <array>
#include <chrono>
#include <cstdint>

#include "loop.h"

namespace serving {

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
		virtual void rang() = 0; // It may end any alarm, itself too.

	private:
		friend class Wheel;
		void unlink();

		std::uint64_t due_ = 0;  // tick; 0: it is not set
		std::uint64_t seen_ = 0; // the tick that it is linked for
	};

	explicit Wheel(Loop &loop); // throws std::system_error
	Wheel(const Wheel &) = delete;
	Wheel &operator=(const Wheel &) = delete;

	// From now on, whether it was set before or not
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
	std::uint64_t turned_ = 0; // up to this tick
	std::uint64_t wake_ = 0;   // the tick that the timer is set for; 0: none
	bool turning_ = false;
	Timer timer_;
};

} // namespace serving
