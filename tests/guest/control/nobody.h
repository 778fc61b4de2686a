// SPDX-License-Identifier: LGPL-2.1-or-later
// Runs code as an unprivileged or partly privileged user, also with files that root has opened.
#pragma once

#include "support/shell.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdint>
#include <functional>

namespace guest::nobody {

constexpr int preparation = 250; // exit status: the child could not take on the user's rights

// A change requires both CAP_NET_ADMIN and CAP_SYS_ADMIN; the last two users have one of them each.
enum class Who { nobody, usernsRoot, networkAdmin, systemAdmin };

// Calls what() in a child process of that user and returns its result, which must be below 256.
int as(Who who, const std::function<int()> &what);

struct File {
	int fd;
	File(const std::string &node, int flags) : fd(::open(node.c_str(), flags | O_CLOEXEC)) {}
	File(const File &) = delete;
	File &operator=(const File &) = delete;
	~File()
	{
		if (fd >= 0)
			::close(fd);
	}
};

// Identify with this CNS, by ioctl; returns errno or 0. 202: completed with an NVMe status
int identify(int fd, std::uint32_t nsid, std::uint32_t cns, std::uint32_t length = 4096, Millis timeout = 0ms);

} // namespace guest::nobody
