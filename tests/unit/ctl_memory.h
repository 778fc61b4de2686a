// SPDX-License-Identifier: LGPL-2.1-or-later
// Allocations that fail, one at a time: what unit_ctl allocates by new (ctl_c_api.cpp).
#pragma once

#include <cstddef>

class MemoryFault {
public:
	// The @n-th allocation of this thread from here on fails, and no other.
	static void at(std::size_t n)
	{
		left_ = n;
		struck_ = false;
	}
	// No longer; whether it has struck
	static bool end()
	{
		left_ = 0;
		return struck_;
	}
	static bool strikes()
	{
		if (spared_ || !left_ || --left_)
			return false;
		return struck_ = true;
	}

	// Of who plays a part that is not under test
	struct Spared {
		Spared() { spared_++; }
		~Spared() { spared_--; }
	};

private:
	static inline thread_local std::size_t left_ = 0;
	static inline thread_local int spared_ = 0;
	static inline thread_local bool struck_ = false;
};
