// SPDX-License-Identifier: LGPL-2.1-or-later
#include "protection.h"

namespace target {
namespace {

// Bits of dword 12
constexpr std::uint32_t pract = 1u << 29, checkGuard = 1u << 28, checkReference = 1u << 26;
constexpr std::uint16_t unchecked = 0xffff;

// T10 DIF
std::uint16_t crc16(std::span<const std::uint8_t> data)
{
	std::uint32_t crc = 0;
	for (auto byte : data) {
		crc ^= std::uint32_t(byte) << 8;
		for (int bit = 0; bit < 8; bit++)
			crc = crc & 0x8000 ? crc << 1 ^ 0x8bb7 : crc << 1;
	}
	return static_cast<std::uint16_t>(crc);
}

// NVM Command Set 1.0, 5.2.1.3: the least significant bit first
std::uint64_t crc64(std::span<const std::uint8_t> data)
{
	std::uint64_t crc = ~0ull;
	for (auto byte : data) {
		crc ^= byte;
		for (int bit = 0; bit < 8; bit++)
			crc = crc & 1 ? crc >> 1 ^ 0x9a6c9329ac4bc9b5 : crc >> 1;
	}
	return ~crc;
}

bool has(const Command &cmd, std::uint32_t bit)
{
	return cmd.cdw12 & bit;
}

std::uint64_t bigEndian(const std::uint8_t *from, unsigned bytes)
{
	std::uint64_t value = 0;
	for (unsigned i = 0; i < bytes; i++)
		value = value << 8 | from[i];
	return value;
}

void putBigEndian(std::uint8_t *to, std::uint64_t value, unsigned bytes)
{
	for (; bytes; value >>= 8)
		to[--bytes] = static_cast<std::uint8_t>(value);
}

} // namespace

bool Protection::carried(const Command &cmd) const
{
	return format_.inData && !has(cmd, pract);
}

std::size_t Protection::dataBytes(const Command &cmd) const
{
	return cmd.blocks() * ((std::size_t(1) << shift_) + (carried(cmd) ? bytes() : 0));
}

std::uint64_t Protection::guardOf(std::span<const std::uint8_t> block) const
{
	return format_.guard == 64 ? crc64(block) : crc16(block);
}

std::uint64_t Protection::reference(std::uint64_t value) const
{
	return value & (format_.guard == 64 ? (1ull << 48) - 1 : 0xffffffff);
}

std::uint64_t Protection::firstReference(const Command &cmd) const
{
	return reference(cmd.cdw14 | std::uint64_t(cmd.cdw3) << 32);
}

Protection::Tuple Protection::read(const std::uint8_t *from) const
{
	unsigned guard = format_.guard / 8, tag = static_cast<unsigned>(bytes()) - guard - 2;
	return {bigEndian(from, guard), static_cast<std::uint16_t>(bigEndian(from + guard, 2)),
		bigEndian(from + guard + 2, tag)};
}

void Protection::write(std::uint8_t *to, const Tuple &tuple) const
{
	unsigned guard = format_.guard / 8, tag = static_cast<unsigned>(bytes()) - guard - 2;
	putBigEndian(to, tuple.guard, guard);
	putBigEndian(to + guard, tuple.application, 2);
	putBigEndian(to + guard + 2, tuple.reference, tag);
}

std::uint16_t Protection::verdict(const Command &cmd, const Tuple &tuple, std::uint64_t expected,
				  std::span<const std::uint8_t> block)
{
	if (blind_ || tuple.application == unchecked)
		return st_ok;
	checked_ += has(cmd, checkGuard);
	tagged_ += has(cmd, checkReference);
	if (has(cmd, checkGuard) && tuple.guard != guardOf(block))
		return st_guard_check | st_dnr;
	if (has(cmd, checkReference) && tuple.reference != expected)
		return st_reftag_check | st_dnr;
	return st_ok;
}

std::uint16_t Protection::protect(const Command &cmd, Bytes &data, std::vector<Tuple> &made)
{
	std::lock_guard guard(lock_);
	auto slba = cmd.slba(), first = firstReference(cmd);
	auto size = std::size_t(1) << shift_, stride = dataBytes(cmd) / cmd.blocks();
	bool theirs = carried(cmd);
	if (!theirs && !has(cmd, pract)) // separate metadata cannot be transferred
		return st_invalid_pi | st_dnr;
	if (format_.type == 1 && first != reference(slba))
		return st_invalid_pi | st_dnr;
	Bytes plain;
	made.clear();
	for (std::uint64_t i = 0; i < cmd.blocks(); i++) {
		auto block = std::span(data).subspan(i * stride, size);
		Tuple tuple{guardOf(block), 0, reference(first + i)};
		if (theirs) {
			tuple = read(block.data() + size);
			if (auto status = verdict(cmd, tuple, reference(first + i), block))
				return status;
			received_++;
		}
		made.push_back(tuple);
		plain.insert(plain.end(), block.begin(), block.end());
	}
	data = std::move(plain);
	return st_ok;
}

void Protection::keep(std::uint64_t slba, const std::vector<Tuple> &made)
{
	std::lock_guard guard(lock_);
	for (std::uint64_t i = 0; i < made.size() && slba + i < tuples_.size(); i++)
		tuples_[slba + i] = made[i];
}

std::uint16_t Protection::check(const Command &cmd, Bytes &data)
{
	std::lock_guard guard(lock_);
	auto slba = cmd.slba(), first = firstReference(cmd);
	auto size = std::size_t(1) << shift_;
	bool theirs = carried(cmd);
	if (!theirs && !has(cmd, pract))
		return st_invalid_pi | st_dnr;
	Bytes whole;
	for (std::uint64_t i = 0; i < cmd.blocks() && slba + i < tuples_.size(); i++) {
		auto block = std::span(data).subspan(i * size, size);
		auto &tuple = tuples_[slba + i];
		if (auto status = verdict(cmd, tuple, reference(first + i), block))
			return status;
		whole.insert(whole.end(), block.begin(), block.end());
		if (!theirs)
			continue;
		whole.resize(whole.size() + bytes());
		write(whole.data() + whole.size() - bytes(), tuple);
		sent_++;
	}
	data = std::move(whole);
	return st_ok;
}

void Protection::forget(std::uint64_t slba, std::uint64_t blocks)
{
	std::lock_guard guard(lock_);
	for (auto i = slba; i < slba + blocks && i < tuples_.size(); i++)
		tuples_[i] = {};
}

void Protection::resize(std::uint64_t blocks)
{
	std::lock_guard guard(lock_);
	tuples_.resize(blocks);
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
