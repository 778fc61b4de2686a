// SPDX-License-Identifier: LGPL-2.1-or-later
// Fails one allocation by operator new in unit_ctl (defined in c_api.cpp).
#pragma once

#include <cstddef>

class MemoryFault {
public:
	// Fails the @n-th allocation of this thread from now on, and no other.
	static void at(std::size_t n)
	{
		left_ = n;
		failed_ = false;
	}
	// Ends the fault. Returns whether an allocation has failed.
	static bool end()
	{
		left_ = 0;
		return failed_;
	}
	// Number of allocations until one fails
	static std::size_t left() { return left_; }
	static bool strikes()
	{
		if (spared_ || !left_ || --left_)
			return false;
		return failed_ = true;
	}

	// While one exists, allocations do not fail: for code that is not under test.
	struct NoFaultScope {
		NoFaultScope() { spared_++; }
		~NoFaultScope() { spared_--; }
	};

private:
	static inline thread_local std::size_t left_ = 0;
	static inline thread_local int spared_ = 0;
	static inline thread_local bool failed_ = false;
};
