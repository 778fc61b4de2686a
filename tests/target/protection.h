// SPDX-License-Identifier: LGPL-2.1-or-later
// Protection information of a namespace, as a controller keeps it that makes and checks it: 16-bit guards; NVM Command
// Set 1.0, 5.2.
#pragma once

#include "wire.h"

#include <atomic>
#include <mutex>
#include <vector>

namespace target {

class Protection {
public:
	Protection(std::uint8_t type, unsigned shift, std::uint64_t blocks)
		: type_(type), shift_(shift), tuples_(blocks)
	{
	}

	std::uint8_t type() const { return type_; }
	// Of what a command writes, or has read; each returns an NVMe status
	std::uint16_t protect(const Command &cmd, const Bytes &data);
	std::uint16_t check(const Command &cmd, const Bytes &data);
	void forget(std::uint64_t slba, std::uint64_t blocks); // deallocated

	// For tests: what a medium may do
	void spoilGuard(std::uint64_t block);
	void spoilTag(std::uint64_t block);
	std::uint64_t checked() const { return checked_; } // blocks, by guard
	std::uint64_t tagged() const { return tagged_; }   // by reference tag

private:
	struct Tuple {
		std::uint16_t guard = 0;
		std::uint32_t reference = 0;
		bool written = false;
	};

	const std::uint8_t type_;
	const unsigned shift_;
	mutable std::mutex lock_;
	std::vector<Tuple> tuples_;
	std::atomic<std::uint64_t> checked_{0}, tagged_{0};
};

} // namespace target
