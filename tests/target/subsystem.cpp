// SPDX-License-Identifier: LGPL-2.1-or-later
#include "subsystem.h"

namespace target {

void Ghosts::keep(std::shared_ptr<Association> owner, std::shared_ptr<Store> store, std::uint64_t slba, Bytes data)
{
	std::lock_guard guard(lock_);
	if (owner->dead)
		return;
	auto until = owner->quietAt();
	ghosts_.push_back({std::move(owner), std::move(store), slba, std::move(data), until});
	kept_++;
	changed_.notify_all();
}

std::size_t Ghosts::execute()
{
	std::lock_guard guard(lock_);
	std::size_t count = 0;
	for (auto &g : ghosts_)
		if (!g.owner->dead && Clock::now() < g.until && g.store->write(g.slba, g.data, g.owner->serial))
			count++;
	executed_ += count;
	dropped_ += ghosts_.size() - count;
	ghosts_.clear();
	return count;
}

void Ghosts::drop(std::uint16_t cntlid, std::uint64_t cirn)
{
	std::lock_guard guard(lock_);
	dropped_ += std::erase_if(ghosts_, [&](auto &g) { return g.owner->cntlid == cntlid && g.owner->cirn == cirn; });
}

void Ghosts::drop(const HostId &host)
{
	std::lock_guard guard(lock_);
	dropped_ += std::erase_if(ghosts_, [&](auto &g) { return g.owner->hostid == host; });
}

void Ghosts::clear()
{
	std::lock_guard guard(lock_);
	ghosts_.clear();
}

std::size_t Ghosts::waiting() const
{
	std::lock_guard guard(lock_);
	return ghosts_.size();
}

std::uint64_t Ghosts::kept() const
{
	std::lock_guard guard(lock_);
	return kept_;
}

std::uint64_t Ghosts::executed() const
{
	std::lock_guard guard(lock_);
	return executed_;
}

std::uint64_t Ghosts::dropped() const
{
	std::lock_guard guard(lock_);
	return dropped_;
}

bool Ghosts::wait(std::uint64_t count, std::chrono::milliseconds timeout) const
{
	std::unique_lock guard(lock_);
	return changed_.wait_for(guard, timeout, [&] { return kept_ >= count; });
}

Clock::time_point Ghosts::deadline() const
{
	std::lock_guard guard(lock_);
	return ghosts_.empty() ? Clock::now() : ghosts_.front().until;
}

void Subsystem::endInstance(std::uint16_t cntlid, std::uint8_t ciu, std::uint64_t cirn, const std::string &hostnqn)
{
	auto a = associations_.find(cntlid);
	if (a && a->ciu == ciu && a->cirn == cirn && a->hostnqn == hostnqn) {
		std::lock_guard guard(a->executing); // waits for a command that is executing
		a->dead = true;
		associations_.remove(*a);
	}
	ghosts_.drop(cntlid, cirn);
}

} // namespace target
