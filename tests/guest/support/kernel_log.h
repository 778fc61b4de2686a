// SPDX-License-Identifier: LGPL-2.1-or-later
// The kernel's log.
#pragma once

#include <string>
#include <vector>

namespace guest {

// From the moment of construction on
class KernelLog {
public:
	KernelLog();
	~KernelLog();
	KernelLog(const KernelLog &) = delete;
	KernelLog &operator=(const KernelLog &) = delete;

	// Records that a kernel in order never makes, of those that have come since the last call
	std::vector<std::string> alarms() const;

private:
	int fd_;
};

// A line of one's own, which shows what the lines around it belong to; not on the console
void markKernelLog(const std::string &line);

constexpr const char *caseBegins = "guest test: a case begins"; // the mark of each test case

} // namespace guest
