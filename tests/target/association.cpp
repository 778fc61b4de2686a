// SPDX-License-Identifier: LGPL-2.1-or-later
#include "association.h"

namespace target {

std::shared_ptr<Association> Associations::create()
{
	std::lock_guard guard(lock_);
	auto a = std::make_shared<Association>();
	do {
		// FFF0h and above are reserved; Base 2.0, figure 275
		last_ = static_cast<std::uint16_t>(last_ >= 0xffef ? 1 : last_ + 1);
	} while (map_.contains(last_));
	a->cntlid = last_;
	map_[last_] = a;
	return a;
}

std::shared_ptr<Association> Associations::find(std::uint16_t cntlid) const
{
	std::lock_guard guard(lock_);
	auto at = map_.find(cntlid);
	return at == map_.end() ? nullptr : at->second;
}

void Associations::remove(std::uint16_t cntlid)
{
	std::lock_guard guard(lock_);
	map_.erase(cntlid);
}

std::vector<std::shared_ptr<Association>> Associations::all() const
{
	std::lock_guard guard(lock_);
	std::vector<std::shared_ptr<Association>> list;
	for (auto &[id, a] : map_)
		list.push_back(a);
	return list;
}

} // namespace target
