// SPDX-License-Identifier: LGPL-2.1-or-later
// The module that fails the n-th allocation of the driver (tests/kmod/faults/nvmeof_failnth.c)
#pragma once

#include "shell.h"

#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace guest {

class FailNth {
public:
	// A driver function that allocated memory, directly or in a callee
	struct Site {
		unsigned first = 0; // number of its first allocation
		unsigned count = 0;
		std::string where;
	};

	FailNth() { must("modprobe nvmeof_failnth"); }
	// Removed with the test: it is not part of the driver, which is checked for leaks afterwards.
	~FailNth() { run("rmmod nvmeof_failnth"); }
	FailNth(const FailNth &) = delete;
	FailNth &operator=(const FailNth &) = delete;

	// Starts counting; 0: no allocation fails.
	void arm(unsigned n) { writeFile(file("arm"), std::to_string(n)); }
	void off() { writeFile(file("arm"), "off"); }
	unsigned count() const { return static_cast<unsigned>(std::stoul(readFile(file("count")))); }
	// Function and memory type of the failed allocation, followed by the call stack; empty: none failed
	std::string hit() const { return readFile(file("hit")); }

	std::vector<Site> sites() const
	{
		std::istringstream lines(readFile(file("sites")));
		std::vector<Site> all;
		for (Site s; lines >> s.first >> s.count && std::getline(lines >> std::ws, s.where);)
			all.push_back(s);
		return all;
	}

	// Waits until work items of the last action allocate no more, at most a second.
	void settle() const
	{
		auto end = Clock::now() + 1s;
		for (auto before = count() + 1; before != count() && Clock::now() < end;) {
			before = count();
			std::this_thread::sleep_for(100ms);
		}
	}

private:
	static std::string file(const char *name) { return std::string("/sys/kernel/debug/nvmeof_failnth/") + name; }
};

} // namespace guest
