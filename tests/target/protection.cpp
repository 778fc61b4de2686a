// SPDX-License-Identifier: LGPL-2.1-or-later
#include "protection.h"

namespace target {
namespace {

// Bits of dword 12
constexpr std::uint32_t pract = 1u << 29, check_guard = 1u << 28, check_reference = 1u << 26;

// T10 DIF
std::uint16_t crc(std::span<const std::uint8_t> data)
{
	std::uint32_t crc = 0;
	for (auto byte : data) {
		crc ^= std::uint32_t(byte) << 8;
		for (int bit = 0; bit < 8; bit++)
			crc = crc & 0x8000 ? crc << 1 ^ 0x8bb7 : crc << 1;
	}
	return static_cast<std::uint16_t>(crc);
}

bool has(const Command &cmd, std::uint32_t bit)
{
	return cmd.cdw12 & bit;
}

} // namespace

std::uint16_t Protection::protect(const Command &cmd, const Bytes &data)
{
	std::lock_guard guard(lock_);
	auto slba = cmd.slba();
	std::uint32_t reference = cmd.cdw14;
	if (!has(cmd, pract)) // then it would bring its own
		return st_invalid_pi | st_dnr;
	if (type_ == 1 && reference != static_cast<std::uint32_t>(slba))
		return st_invalid_pi | st_dnr;
	for (std::uint64_t i = 0; i < cmd.blocks() && slba + i < tuples_.size(); i++) {
		auto block = std::span(data).subspan(i << shift_, std::size_t(1) << shift_);
		tuples_[slba + i] = {crc(block), static_cast<std::uint32_t>(reference + i), true};
	}
	return st_ok;
}

std::uint16_t Protection::check(const Command &cmd, const Bytes &data)
{
	std::lock_guard guard(lock_);
	auto slba = cmd.slba();
	std::uint32_t reference = cmd.cdw14;
	if (!has(cmd, pract))
		return st_invalid_pi | st_dnr;
	for (std::uint64_t i = 0; i < cmd.blocks() && slba + i < tuples_.size(); i++) {
		auto &tuple = tuples_[slba + i];
		if (!tuple.written) // nothing is checked of what was never written
			continue;
		checked_ += has(cmd, check_guard);
		tagged_ += has(cmd, check_reference);
		auto block = std::span(data).subspan(i << shift_, std::size_t(1) << shift_);
		if (has(cmd, check_guard) && tuple.guard != crc(block))
			return st_guard_check | st_dnr;
		if (has(cmd, check_reference) && tuple.reference != static_cast<std::uint32_t>(reference + i))
			return st_reftag_check | st_dnr;
	}
	return st_ok;
}

void Protection::forget(std::uint64_t slba, std::uint64_t blocks)
{
	std::lock_guard guard(lock_);
	for (auto i = slba; i < slba + blocks && i < tuples_.size(); i++)
		tuples_[i] = {};
}

void Protection::spoilGuard(std::uint64_t block)
{
	std::lock_guard guard(lock_);
	tuples_.at(block).guard ^= 1;
}

void Protection::spoilTag(std::uint64_t block)
{
	std::lock_guard guard(lock_);
	tuples_.at(block).reference ^= 1;
}

} // namespace target
