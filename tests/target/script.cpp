// SPDX-License-Identifier: LGPL-2.1-or-later
#include "script.h"

#include "misbehaviour.h"

namespace target {

void Script::arm(const Misbehaviour &what, int times)
{
	std::lock_guard guard(lock_);
	armed_ = &what;
	left_ = times;
	strikes_ = 0;
}

void Script::disarm()
{
	std::lock_guard guard(lock_);
	armed_ = nullptr;
}

void Script::offer(Hook hook, Strike &strike)
{
	std::lock_guard guard(lock_);
	if (!armed_ || armed_->hook != hook || left_ == 0 || !armed_->act(strike))
		return;
	if (left_ > 0)
		left_--;
	strikes_++;
	struck_.notify_all();
}

std::uint64_t Script::strikes() const
{
	std::lock_guard guard(lock_);
	return strikes_;
}

bool Script::waitStrikes(std::uint64_t count, std::chrono::milliseconds timeout) const
{
	std::unique_lock guard(lock_);
	return struck_.wait_for(guard, timeout, [&] { return strikes_ >= count; });
}

} // namespace target
