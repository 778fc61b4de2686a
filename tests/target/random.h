// SPDX-License-Identifier: LGPL-2.1-or-later
// Pseudo-random numbers (splitmix64), the same on every machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>

namespace target {

class Random {
public:
	// Each list of seeds gives its own sequence.
	Random(std::initializer_list<std::uint64_t> seeds)
	{
		for (auto s : seeds)
			state_ = next() ^ s;
		next();
	}

	std::uint64_t next()
	{
		auto z = state_ += 0x9e3779b97f4a7c15;
		z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
		z = (z ^ z >> 27) * 0x94d049bb133111eb;
		return z ^ z >> 31;
	}
	std::uint64_t below(std::uint64_t n) { return n ? next() % n : 0; }
	bool oneIn(std::uint64_t n) { return below(n) == 0; }
	template <class T, std::size_t size> const T &pick(const T (&from)[size]) { return from[below(size)]; }

	// A value of `bits` bits that is likely to expose a bug: near a bound, near `was`, or arbitrary
	std::uint64_t interesting(unsigned bits, std::uint64_t was = 0)
	{
		std::uint64_t mask = bits >= 64 ? ~0ull : (1ull << bits) - 1;
		switch (below(8)) {
		case 0:
			return below(3);
		case 1:
			return (mask - below(3)) & mask;
		case 2:
			return ((1ull << below(bits)) + below(3) - 1) & mask;
		case 3:
			return (was + (oneIn(2) ? 1 : -1)) & mask;
		case 4:
			return (oneIn(2) ? was * 2 : was / 2) & mask;
		case 5:
			return (was ^ 1ull << below(bits)) & mask;
		case 6:
			return (mask >> 1) + below(2);
		default:
			return next() & mask;
		}
	}

private:
	std::uint64_t state_ = 0;
};

} // namespace target
