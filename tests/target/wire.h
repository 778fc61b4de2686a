// SPDX-License-Identifier: LGPL-2.1-or-later
// Little-endian integers as they lie in a PDU: no alignment, no padding.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace target {

using Bytes = std::vector<std::uint8_t>;

template <class T> class Le {
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

// Stores a little-endian value at a byte offset of a data structure that is described by offsets in the specification.
template <class T> void put(std::span<std::uint8_t> at, std::size_t offset, T value)
{
	Le<T> le(value);
	std::memcpy(at.subspan(offset, sizeof(T)).data(), &le, sizeof(T));
}

template <class T> T get(std::span<const std::uint8_t> at, std::size_t offset)
{
	Le<T> le;
	std::memcpy(&le, at.subspan(offset, sizeof(T)).data(), sizeof(T));
	return le;
}

} // namespace target
