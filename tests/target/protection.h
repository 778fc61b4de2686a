// SPDX-License-Identifier: LGPL-2.1-or-later
// Protection information of a namespace, as a controller keeps and checks it, which makes it (PRACT) or gets it at the
// end of each block; NVM Command Set 1.0, 5.2.
#pragma once

#include "wire.h"

#include <atomic>
#include <mutex>
#include <vector>

namespace target {

struct ProtectionFormat {
	std::uint8_t type = 1;
	unsigned guard = 16; // bits; or 64
	bool inData = false; // can be transferred at the end of each block
};

class Protection {
public:
	Protection(const ProtectionFormat &format, unsigned shift, std::uint64_t blocks)
		: format_(format), shift_(shift), tuples_(blocks)
	{
	}

	const ProtectionFormat &format() const { return format_; }
	std::size_t bytes() const { return format_.guard == 64 ? 16 : 8; } // of a block
	// Whether it goes with the blocks of this command, and what their data are then
	bool carried(const Command &cmd) const;
	std::size_t dataBytes(const Command &cmd) const;
	// Takes it off data as they were transferred, and checks it; or makes it. Returns an NVMe status.
	std::uint16_t protect(const Command &cmd, Bytes &data);
	// Checks it, and puts it into data to be transferred.
	std::uint16_t check(const Command &cmd, Bytes &data);
	void forget(std::uint64_t slba, std::uint64_t blocks); // deallocated

	// For tests: what a medium may do
	void spoilGuard(std::uint64_t block);
	void spoilTag(std::uint64_t block);
	void blind(bool on) { blind_ = on; }                 // nothing is checked any more
	std::uint64_t checked() const { return checked_; }   // blocks, by guard
	std::uint64_t tagged() const { return tagged_; }     // by reference tag
	std::uint64_t received() const { return received_; } // that came with it
	std::uint64_t sent() const { return sent_; }         // that went with it

private:
	struct Tuple {
		std::uint64_t guard = ~0ull;
		std::uint16_t application = 0xffff; // all ones: nothing is checked
		std::uint64_t reference = ~0ull;
	};

	std::uint64_t guardOf(std::span<const std::uint8_t> block) const;
	std::uint64_t firstReference(const Command &cmd) const;
	std::uint64_t reference(std::uint64_t value) const; // as much as the format has
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
