// SPDX-License-Identifier: LGPL-2.1-or-later
#include "wheel.h"

#include <algorithm>

#include "loop.h"

namespace runtime {

namespace {

constexpr std::chrono::milliseconds tick{10};

} // namespace

Wheel::Wheel(Loop &loop) : timer_(loop, [this] { turn(); }) {}

void Wheel::Alarm::unlink()
{
	before->next = next;
	next->before = before;
	next = before = this;
}

std::uint64_t Wheel::now() const
{
	return static_cast<std::uint64_t>((Clock::now() - start_) / tick);
}

void Wheel::link(Alarm &alarm)
{
	Link &slot = slots_[alarm.due_ % slots];
	alarm.unlink();
	alarm.seen_ = alarm.due_;
	alarm.before = slot.before;
	alarm.next = &slot;
	slot.before->next = &alarm;
	slot.before = &alarm;
}

// A postponed alarm stays in its slot and is moved when that slot is due.
void Wheel::set(Alarm &alarm, Clock::duration delay)
{
	if (!wake_ && !turning_)
		turned_ = now(); // the wheel was idle since
	const auto ticks = (std::max(delay, Clock::duration(0)) + tick - Clock::duration(1)) / tick;
	alarm.due_ = std::max(now(), turned_) + static_cast<std::uint64_t>(ticks) + 1;
	if (alarm.next != &alarm && alarm.seen_ <= alarm.due_)
		return;
	link(alarm);
	if (!turning_ && (!wake_ || alarm.due_ < wake_))
		schedule();
}

// Takes all alarms out of the slot first, as callbacks may add new ones to it.
void Wheel::look(Link &slot, std::uint64_t until)
{
	Link those;
	if (slot.next == &slot)
		return;
	those.next = slot.next;
	those.before = slot.before;
	those.next->before = those.before->next = &those;
	slot.next = slot.before = &slot;
	while (those.next != &those) {
		auto &alarm = *static_cast<Alarm *>(those.next);
		if (!alarm.due_) {
			alarm.unlink();
		} else if (alarm.due_ > until) {
			link(alarm);
		} else {
			alarm.unlink();
			alarm.due_ = 0;
			guarded([&alarm] { alarm.onDeadline(); });
		}
	}
}

void Wheel::turn()
{
	const std::uint64_t until = now();
	turning_ = true;
	if (until - turned_ > slots) // visiting each slot once is enough
		turned_ = until - slots;
	while (turned_ < until) {
		turned_++;
		look(slots_[turned_ % slots], until);
	}
	turning_ = false;
	schedule();
}

void Wheel::schedule()
{
	wake_ = 0;
	for (std::uint64_t ahead = 1; ahead <= slots && !wake_; ahead++)
		if (const Link &slot = slots_[(turned_ + ahead) % slots]; slot.next != &slot)
			wake_ = turned_ + ahead;
	if (!wake_)
		return timer_.stop();
	const Clock::duration left = start_ + static_cast<std::int64_t>(wake_) * tick - Clock::now();
	timer_.start(std::chrono::ceil<std::chrono::milliseconds>(left));
}

} // namespace runtime
