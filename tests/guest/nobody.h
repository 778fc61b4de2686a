// SPDX-License-Identifier: LGPL-2.1-or-later
// Users without privilege, or with a part of it, and what they do with an open file.
#pragma once

#include "support/shell.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdint>
#include <functional>

namespace guest::nobody {

constexpr int preparation = 250; // the child could not become who it should

// What changes something needs both of the privileges that two of them have half of.
enum class Who { nobody, rootOfItsOwn, networkAdmin, systemAdmin };

// Does it in a process of that user's; what it returns has to be below 256.
int as(Who who, const std::function<int()> &what);

struct File {
	int fd;
	File(const std::string &node, int flags) : fd(::open(node.c_str(), flags | O_CLOEXEC)) {}
	~File() { ::close(fd); }
};

// Identify Namespace, or what else CNS says, of a namespace
int identify(int fd, std::uint32_t nsid, std::uint32_t cns, std::uint32_t length = 4096, Millis timeout = 0ms);

} // namespace guest::nobody
