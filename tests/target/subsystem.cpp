// SPDX-License-Identifier: LGPL-2.1-or-later
#include "subsystem.h"

namespace target {

void StalledWrites::keep(std::shared_ptr<Association> owner, std::shared_ptr<Store> store, std::uint64_t slba,
			 Bytes data)
{
	std::lock_guard guard(lock_);
	if (owner->dead)
		return;
	auto until = owner->quiescedAt();
	writes_.push_back({std::move(owner), std::move(store), slba, std::move(data), until});
	kept_++;
	changed_.notify_all();
}

std::size_t StalledWrites::execute(Clock::time_point now)
{
	std::lock_guard guard(lock_);
	std::size_t count = 0;
	for (auto &w : writes_)
		if (!w.owner->dead && now < w.until && w.store->write(w.slba, w.data, w.owner->serial))
			count++;
	executed_ += count;
	dropped_ += writes_.size() - count;
	writes_.clear();
	return count;
}

void StalledWrites::drop(std::uint16_t cntlid, std::uint64_t cirn)
{
	std::lock_guard guard(lock_);
	dropped_ += std::erase_if(writes_, [&](auto &w) { return w.owner->cntlid == cntlid && w.owner->cirn == cirn; });
}

void StalledWrites::drop(const HostId &host)
{
	std::lock_guard guard(lock_);
	dropped_ += std::erase_if(writes_, [&](auto &w) { return w.owner->hostid == host; });
}

void StalledWrites::clear()
{
	std::lock_guard guard(lock_);
	writes_.clear();
}

std::size_t StalledWrites::waiting() const
{
	std::lock_guard guard(lock_);
	return writes_.size();
}

std::uint64_t StalledWrites::kept() const
{
	std::lock_guard guard(lock_);
	return kept_;
}

std::uint64_t StalledWrites::executed() const
{
	std::lock_guard guard(lock_);
	return executed_;
}

std::uint64_t StalledWrites::dropped() const
{
	std::lock_guard guard(lock_);
	return dropped_;
}

bool StalledWrites::wait(std::uint64_t count, std::chrono::milliseconds timeout) const
{
	std::unique_lock guard(lock_);
	return changed_.wait_for(guard, timeout, [&] { return kept_ >= count; });
}

Clock::time_point StalledWrites::deadline() const
{
	std::lock_guard guard(lock_);
	return writes_.empty() ? Clock::now() : writes_.front().until;
}

void Subsystem::endInstance(std::uint16_t cntlid, std::uint8_t ciu, std::uint64_t cirn, const std::string &hostnqn)
{
	auto a = associations_.find(cntlid);
	if (a && a->ciu == ciu && a->cirn == cirn && a->hostnqn == hostnqn) {
		std::lock_guard guard(a->executing); // waits for a command that is executing
		a->dead = true;
		associations_.remove(*a);
	}
	stalledWrites_.drop(cntlid, cirn);
}

} // namespace target
