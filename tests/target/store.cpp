// SPDX-License-Identifier: LGPL-2.1-or-later
#include "store.h"

#include <algorithm>
#include <functional>

namespace target {
namespace {

// Depends only on the NSID, so that a namespace that is removed and added again keeps its identifiers
Id16 makeId(std::uint8_t kind, std::uint32_t nsid)
{
	Id16 id{};
	for (std::size_t i = 0; i < id.size(); i++)
		id[i] = static_cast<std::uint8_t>((kind << 4) + i);
	put<std::uint32_t>(id, 12, nsid);
	return id;
}

} // namespace

Store::Store(std::uint32_t nsid, std::uint64_t size, unsigned shift, std::uint32_t anaGroup)
	: nsid_(nsid), shift_(shift), anaGroup_(anaGroup), uuid_(makeId(0xa, nsid)), nguid_(makeId(0x5, nsid)),
	  data_(size), written_(size >> shift)
{
}

void Store::identifyBy(std::string_view nqn)
{
	const std::uint64_t hash = std::hash<std::string_view>{}(nqn);
	target::put<std::uint64_t>(uuid_, 4, hash);
	target::put<std::uint64_t>(nguid_, 4, hash);
}

std::uint64_t Store::blocks() const
{
	std::lock_guard guard(lock_);
	return data_.size() >> shift_;
}

bool Store::inside(std::uint64_t slba, std::uint64_t bytes) const
{
	auto total = data_.size() >> shift_;
	return slba <= total && (bytes >> shift_) <= total - slba;
}

bool Store::read(std::uint64_t slba, std::span<std::uint8_t> to) const
{
	std::lock_guard guard(lock_);
	if (!inside(slba, to.size()))
		return false;
	std::copy_n(data_.begin() + static_cast<std::ptrdiff_t>(slba << shift_), to.size(), to.begin());
	return true;
}

bool Store::write(std::uint64_t slba, std::span<const std::uint8_t> from, std::uint64_t writer)
{
	std::lock_guard guard(lock_);
	if (!inside(slba, from.size()))
		return false;
	std::copy(from.begin(), from.end(), data_.begin() + static_cast<std::ptrdiff_t>(slba << shift_));
	for (auto block = slba; block < slba + (from.size() >> shift_); block++) {
		auto &w = written_[block];
		if (writer < w.latest)
			w.lateWrite = ++lateWrites_;
		else
			w = {writer, 0};
	}
	return true;
}

bool Store::zero(std::uint64_t slba, std::uint64_t blocks)
{
	std::lock_guard guard(lock_);
	if (!inside(slba, blocks << shift_))
		return false;
	std::fill_n(data_.begin() + static_cast<std::ptrdiff_t>(slba << shift_), blocks << shift_, 0);
	return true;
}

void Store::resize(std::uint64_t size)
{
	std::lock_guard guard(lock_);
	data_.resize(size);
	written_.resize(size >> shift_);
	if (protection_)
		protection_->resize(size >> shift_);
	if (zones_)
		zones_->resize(size >> shift_);
}

Bytes Store::peek(std::uint64_t offset, std::size_t length) const
{
	std::lock_guard guard(lock_);
	auto from = data_.begin() + static_cast<std::ptrdiff_t>(offset);
	return Bytes(from, from + static_cast<std::ptrdiff_t>(length));
}

std::uint64_t Store::lateWrites() const
{
	std::lock_guard guard(lock_);
	return lateWrites_;
}

bool Store::hitByLateWrite(std::uint64_t slba, std::uint64_t lateWrites) const
{
	std::lock_guard guard(lock_);
	return slba < written_.size() && written_[slba].lateWrite > lateWrites;
}

std::shared_ptr<Store> Stores::add(std::uint32_t nsid, std::uint64_t size, unsigned shift, std::uint32_t anaGroup)
{
	std::lock_guard guard(lock_);
	auto store = std::make_shared<Store>(nsid, size, shift, anaGroup);
	if (!nqn_.empty())
		store->identifyBy(nqn_);
	return stores_[nsid] = store;
}

void Stores::identifyBy(std::string_view nqn)
{
	std::lock_guard guard(lock_);
	if (nqn_ == nqn)
		return;
	nqn_ = nqn;
	for (auto &[nsid, store] : stores_)
		store->identifyBy(nqn);
}

void Stores::put(std::uint32_t nsid, std::shared_ptr<Store> store)
{
	std::lock_guard guard(lock_);
	if (store)
		stores_[nsid] = std::move(store);
	else
		stores_.erase(nsid);
}

void Stores::replace(std::map<std::uint32_t, std::shared_ptr<Store>> stores)
{
	std::lock_guard guard(lock_);
	stores_ = std::move(stores);
}

void Stores::remove(std::uint32_t nsid)
{
	std::lock_guard guard(lock_);
	stores_.erase(nsid);
}

std::shared_ptr<Store> Stores::find(std::uint32_t nsid) const
{
	std::lock_guard guard(lock_);
	auto at = stores_.find(nsid);
	return at == stores_.end() ? nullptr : at->second;
}

std::vector<std::uint32_t> Stores::idsAbove(std::uint32_t nsid) const
{
	std::lock_guard guard(lock_);
	std::vector<std::uint32_t> ids;
	for (auto at = stores_.upper_bound(nsid); at != stores_.end(); ++at)
		ids.push_back(at->first);
	return ids;
}

} // namespace target
