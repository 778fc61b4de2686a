// SPDX-License-Identifier: LGPL-2.1-or-later
// The kernel log
#pragma once

#include <string>
#include <vector>

namespace guest {

// Reads the log from its construction on.
class KernelLog {
public:
	KernelLog();
	~KernelLog();
	KernelLog(const KernelLog &) = delete;
	KernelLog &operator=(const KernelLog &) = delete;

	// Records since the last call that a healthy kernel never prints
	std::vector<std::string> alarms() const;

private:
	int fd_;
};

// Writes a line into the log, not on the console, to show which test the lines around it belong to.
void markKernelLog(const std::string &line);

constexpr const char *caseBegins = "guest test: a case begins"; // mark of each test case

} // namespace guest
