// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernel_log.h"

#include <cerrno>
#include <fcntl.h>
#include <regex>
#include <unistd.h>

namespace guest {

KernelLog::KernelLog() : fd_(::open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC))
{
	::lseek(fd_, 0, SEEK_END);
}

KernelLog::~KernelLog()
{
	::close(fd_);
}

std::vector<std::string> KernelLog::alarms() const
{
	static const std::regex bad("WARNING: |BUG: |BUG at|Call Trace|Oops|refcount_t|blocked for more than|"
				    "KASAN|UBSAN|circular locking|suspicious RCU");
	std::vector<std::string> found;
	char record[8192];
	// EPIPE: some were overwritten before they were read
	for (ssize_t n; (n = ::read(fd_, record, sizeof(record) - 1)) > 0 || errno == EPIPE;) {
		record[n > 0 ? n : 0] = 0;
		if (std::regex_search(record, bad))
			found.emplace_back(record);
	}
	return found;
}

void markKernelLog(const std::string &line)
{
	int fd = ::open("/dev/kmsg", O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	auto text = "<7>" + line;
	[[maybe_unused]] auto n = ::write(fd, text.data(), text.size());
	::close(fd);
}

} // namespace guest
