// SPDX-License-Identifier: LGPL-2.1-or-later
// Little-endian integers and strings in NVMe data structures, without alignment or padding.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace nofctl::wire {

using Bytes = std::vector<std::uint8_t>;

template <std::unsigned_integral T> class Le {
public:
	Le() = default;
	Le(T value) { *this = value; }

	Le &operator=(T value)
	{
		for (auto &b : bytes_) {
			b = static_cast<std::uint8_t>(value);
			value = static_cast<T>(value >> (sizeof(T) > 1 ? 8 : 0));
		}
		return *this;
	}

	operator T() const
	{
		std::uint64_t value = 0;
		for (std::size_t i = sizeof(T); i-- > 0;)
			value = value << 8 | bytes_[i];
		return static_cast<T>(value);
	}

private:
	std::array<std::uint8_t, sizeof(T)> bytes_{};
};

using Le16 = Le<std::uint16_t>;
using Le32 = Le<std::uint32_t>;
using Le64 = Le<std::uint64_t>;
static_assert(sizeof(Le16) == 2 && sizeof(Le32) == 4 && sizeof(Le64) == 8 && alignof(Le64) == 1);

// A type whose memory is its wire format: consists of Le<> and bytes
template <class T>
concept Layout = std::is_trivially_copyable_v<T> && alignof(T) == 1;

// Nothing if @from is too short. Further bytes are ignored.
template <Layout T> std::optional<T> decode(std::span<const std::uint8_t> from)
{
	if (from.size() < sizeof(T))
		return std::nullopt;
	T value;
	std::memcpy(static_cast<void *>(&value), from.data(), sizeof(T));
	return value;
}

template <Layout T> std::span<const std::uint8_t, sizeof(T)> bytesOf(const T &value)
{
	return std::span<const std::uint8_t, sizeof(T)>(reinterpret_cast<const std::uint8_t *>(&value), sizeof(T));
}

inline void append(Bytes &to, std::span<const std::uint8_t> from)
{
	to.insert(to.end(), from.begin(), from.end());
}

template <Layout T> Bytes encode(const T &value)
{
	auto bytes = bytesOf(value);
	return {bytes.begin(), bytes.end()};
}

// Bounds check. Offsets are fixed by the program, so a violation is a bug.
template <class Byte> std::span<Byte> within(std::span<Byte> at, std::size_t offset, std::size_t length)
{
	if (offset > at.size() || length > at.size() - offset)
		std::abort();
	return at.subspan(offset, length);
}

template <class T> void put(std::span<std::uint8_t> at, std::size_t offset, std::type_identity_t<T> value)
{
	std::ranges::copy(bytesOf(Le<T>(value)), within(at, offset, sizeof(T)).begin());
}

template <class T> T get(std::span<const std::uint8_t> at, std::size_t offset)
{
	return *decode<Le<T>>(within(at, offset, sizeof(T)));
}

// An integer at a known offset of a structure
template <class T> struct Field {
	std::size_t offset;

	constexpr operator std::size_t() const { return offset; }
};

template <class T> void put(std::span<std::uint8_t> at, Field<T> field, std::type_identity_t<T> value)
{
	put<T>(at, field.offset, value);
}

template <class T> T get(std::span<const std::uint8_t> at, Field<T> field)
{
	return get<T>(at, field.offset);
}

// A string at a known offset of a structure
struct TextField {
	std::size_t offset, room;

	constexpr operator std::size_t() const { return offset; }
};

// Truncates @text if necessary. @padding: a blank, or NUL for NQNs
template <class Byte> void setText(std::span<Byte> field, std::string_view text, char padding)
{
	auto end = std::ranges::copy(text.substr(0, field.size()), field.begin()).out;
	std::fill(end, field.end(), static_cast<Byte>(padding));
}

template <std::size_t room> void setText(char (&field)[room], std::string_view text, char padding)
{
	setText(std::span<char>(field), text, padding);
}

inline void put(std::span<std::uint8_t> at, TextField field, std::string_view text, char padding)
{
	setText(within(at, field.offset, field.room), text, padding);
}

// The text up to the first NUL, without trailing blanks.
template <std::size_t room> std::string text(const char (&field)[room])
{
	std::string text(field, ::strnlen(field, room));
	text.erase(text.find_last_not_of(' ') + 1);
	return text;
}

} // namespace nofctl::wire
