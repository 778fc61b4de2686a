// SPDX-License-Identifier: LGPL-2.1-or-later
// A namespace in memory.
#pragma once

#include "key_value.h"
#include "protection.h"
#include "reservations.h"
#include "wire.h"
#include "zones.h"

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace target {

class Store {
public:
	// size: bytes, a multiple of the block size 1 << shift
	Store(std::uint32_t nsid, std::uint64_t size, unsigned shift = 9, std::uint32_t anaGroup = 1);

	std::uint32_t nsid() const { return nsid_; }
	unsigned shift() const { return shift_; }
	std::uint64_t blocks() const;
	const Id16 &uuid() const { return uuid_; }
	const Id16 &nguid() const { return nguid_; }
	std::uint32_t anaGroup() const { return anaGroup_; }

	// False if the range exceeds the namespace; nothing is changed then. writer: Association::serial; a newer
	// controller has a larger one.
	bool read(std::uint64_t slba, std::span<std::uint8_t> to) const;
	bool write(std::uint64_t slba, std::span<const std::uint8_t> from, std::uint64_t writer);
	bool zero(std::uint64_t slba, std::uint64_t blocks);
	void resize(std::uint64_t size);
	// Derives UUID and NGUID from the subsystem NQN, too, because other processes serve namespaces with the same
	// NSID. Call before a host sees the namespace.
	void identifyBy(std::string_view nqn);
	// Call before a host sees the namespace. Requires Config::zoned.
	void makeZoned(const ZoneShape &shape) { zones_ = std::make_unique<ZoneTable>(shape, blocks()); }
	ZoneTable *zones() const { return zones_.get(); } // null: not zoned
	// Adds protection information; call before a host sees the namespace.
	void makeProtected(const ProtectionFormat &format)
	{
		protection_ = std::make_unique<Protection>(format, shift_, blocks());
	}
	Protection *protection() const { return protection_.get(); } // null: no protection information
	// Key Value command set; call before a host sees the namespace. Requires Config::keyValue.
	void makeKeyValue() { keyValue_ = std::make_unique<KeyValue>(); }
	KeyValue *keyValue() const { return keyValue_.get(); } // null: block storage
	Reservations &reservations() { return reservations_; }
	bool writeProtected() const { return writeProtected_; }
	void writeProtect(bool on) { writeProtected_ = on; }

	// Content as a host should read it, for tests.
	Bytes peek(std::uint64_t offset, std::size_t length) const;
	// Number of late writes: blocks that a controller wrote after a newer controller had written them.
	// hitByLateWrite(): whether a late write beyond the given number hit this block and is the last one there.
	std::uint64_t lateWrites() const;
	bool hitByLateWrite(std::uint64_t slba, std::uint64_t lateWrites) const;

private:
	bool inside(std::uint64_t slba, std::uint64_t bytes) const;

	const std::uint32_t nsid_;
	const unsigned shift_;
	const std::uint32_t anaGroup_;
	Id16 uuid_{}, nguid_{};
	struct BlockHistory {
		std::uint64_t latest = 0;    // Association::serial
		std::uint64_t lateWrite = 0; // number of the last late write; 0: none since
	};

	mutable std::mutex lock_;
	Bytes data_;
	std::vector<BlockHistory> written_; // indexed by block
	std::uint64_t lateWrites_ = 0;
	std::unique_ptr<ZoneTable> zones_;
	std::unique_ptr<Protection> protection_;
	std::unique_ptr<KeyValue> keyValue_;
	Reservations reservations_;
	std::atomic<bool> writeProtected_{false};
};

// The namespaces of a subsystem, by NSID.
class Stores {
public:
	std::shared_ptr<Store> add(std::uint32_t nsid, std::uint64_t size, unsigned shift = 9,
				   std::uint32_t anaGroup = 1);
	// Applies Store::identifyBy() to all present and future namespaces.
	void identifyBy(std::string_view nqn);
	// Presents a namespace under this NSID, which need not be its own. Null: removes it.
	void put(std::uint32_t nsid, std::shared_ptr<Store> store);
	// Replaces all in one step.
	void replace(std::map<std::uint32_t, std::shared_ptr<Store>> stores);
	void remove(std::uint32_t nsid);
	std::shared_ptr<Store> find(std::uint32_t nsid) const;
	std::vector<std::uint32_t> idsAbove(std::uint32_t nsid) const;

private:
	mutable std::mutex lock_;
	std::map<std::uint32_t, std::shared_ptr<Store>> stores_;
	std::string nqn_;
};

} // namespace target
