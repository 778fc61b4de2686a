// SPDX-License-Identifier: LGPL-2.1-or-later
// Protection information of a namespace. The controller generates it (PRACT) or receives it at the end of each block;
// NVM Command Set 1.0, 5.2.
#pragma once

#include "wire.h"

#include <atomic>
#include <mutex>
#include <vector>

namespace target {

struct ProtectionFormat {
	std::uint8_t type = 1;
	unsigned guard = 16; // bits: 16 or 64
	bool inData = false; // may be transferred at the end of each block
};

class Protection {
public:
	Protection(const ProtectionFormat &format, unsigned shift, std::uint64_t blocks)
		: format_(format), shift_(shift), tuples_(blocks)
	{
	}

	const ProtectionFormat &format() const { return format_; }
	std::size_t bytes() const { return format_.guard == 64 ? 16 : 8; } // per block
	// Whether the command transfers it with the blocks, and the resulting data length in bytes
	bool carried(const Command &cmd) const;
	std::size_t dataBytes(const Command &cmd) const;
	struct Tuple {
		std::uint64_t guard = ~0ull;
		std::uint16_t application = 0xffff; // all ones: not checked
		std::uint64_t reference = ~0ull;
	};
	// For a write: strips and checks it, or generates it. Returns an NVMe status. @made: for keep(), once the data
	// are stored
	std::uint16_t protect(const Command &cmd, Bytes &data, std::vector<Tuple> &made);
	void keep(std::uint64_t slba, const std::vector<Tuple> &made);
	// For a read: checks it and inserts it into the data, if transferred. Returns an NVMe status.
	std::uint16_t check(const Command &cmd, Bytes &data);
	void forget(std::uint64_t slba, std::uint64_t blocks); // the blocks are deallocated
	void resize(std::uint64_t blocks);                     // of the namespace

	// For tests: corruption on the medium
	void spoilGuard(std::uint64_t block);
	void spoilTag(std::uint64_t block);
	void blind(bool on) { blind_ = on; }                 // disables all checks
	std::uint64_t checked() const { return checked_; }   // blocks whose guard was checked
	std::uint64_t tagged() const { return tagged_; }     // blocks whose reference tag was checked
	std::uint64_t received() const { return received_; } // blocks received with it
	std::uint64_t sent() const { return sent_; }         // blocks sent with it

private:
	std::uint64_t guardOf(std::span<const std::uint8_t> block) const;
	std::uint64_t firstReference(const Command &cmd) const;
	std::uint64_t reference(std::uint64_t value) const; // truncated to the size of the format's field
	Tuple read(const std::uint8_t *from) const;
	void write(std::uint8_t *to, const Tuple &tuple) const;
	std::uint16_t verdict(const Command &cmd, const Tuple &tuple, std::uint64_t expected,
			      std::span<const std::uint8_t> block);

	const ProtectionFormat format_;
	const unsigned shift_;
	mutable std::mutex lock_;
	std::vector<Tuple> tuples_;
	std::atomic<bool> blind_{false};
	std::atomic<std::uint64_t> checked_{0}, tagged_{0}, received_{0}, sent_{0};
};

} // namespace target
