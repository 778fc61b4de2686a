// SPDX-License-Identifier: LGPL-2.1-or-later
// The module that makes the n-th allocation of the driver fail (tests/faults/nvmeof_failnth.c).
#pragma once

#include "shell.h"

#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace guest {

class FailNth {
public:
	// A function of the driver that allocated, directly or in what it called
	struct Site {
		unsigned first = 0; // number of the first of its allocations
		unsigned count = 0;
		std::string where;
	};

	FailNth() { must("modprobe nvmeof_failnth"); }
	// Gone with the test: the module is no part of the driver, whose leaks are looked for afterwards.
	~FailNth() { run("rmmod nvmeof_failnth"); }
	FailNth(const FailNth &) = delete;
	FailNth &operator=(const FailNth &) = delete;

	// Counting begins; 0: nothing fails.
	void arm(unsigned n) { writeFile(file("arm"), std::to_string(n)); }
	void off() { writeFile(file("arm"), "off"); }
	unsigned count() const { return static_cast<unsigned>(std::stoul(readFile(file("count")))); }
	// Function and kind of memory of the allocation that failed, with the call stack in the lines behind; empty:
	// none has
	std::string hit() const { return readFile(file("hit")); }

	std::vector<Site> sites() const
	{
		std::istringstream lines(readFile(file("sites")));
		std::vector<Site> all;
		for (Site s; lines >> s.first >> s.count && std::getline(lines >> std::ws, s.where);)
			all.push_back(s);
		return all;
	}

	// Until works of the driver that the last action has started do not allocate any more, or a second has passed
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
