// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lock.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <sys/file.h>
#include <unistd.h>

#include <fmt/format.h>

using namespace nvmeof;

namespace nvmeofd {

namespace {

std::string holder(int fd)
{
	char text[16] = {};
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);
	return n > 0 ? fmt::format("process {}", std::string(text, static_cast<std::size_t>(n))) : "a process";
}

} // namespace

Result<void> lockForLife(const std::filesystem::path &file)
{
	std::error_code error;
	std::filesystem::create_directories(file.parent_path(), error);
	int fd = open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
	if (fd < 0)
		return errorFromErrno(errno, fmt::format("cannot open {}: {}", file.string(), strerror(errno)));
	if (flock(fd, LOCK_EX | LOCK_NB)) {
		Error busy = errorFromErrno(errno, fmt::format("nvmeofd is already running: {}", holder(fd)));
		close(fd);
		return busy;
	}
	std::string id = std::to_string(getpid());
	// for the error message only
	if (ftruncate(fd, 0) || pwrite(fd, id.data(), id.size(), 0) < 0) {
		Error failed =
			errorFromErrno(errno, fmt::format("cannot write {}: {}", file.string(), strerror(errno)));
		close(fd);
		return failed;
	}
	return {};
}

} // namespace nvmeofd
