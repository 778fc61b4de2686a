// SPDX-License-Identifier: LGPL-2.1-or-later
// Finds the users of a disk.
#pragma once

#include <string>
#include <vector>

#include <nvmeof/client.h>

#include "system_paths.h"

namespace nofctl::volume {

struct User {
	std::string kind; // "mount", "bind" (of the device node), "swap", "device" (dm, md, ...), "program", "unseen"
	std::string what; // mount point, device name, or "fio, process 12"

	bool operator==(const User &) const = default;
};

// Users of the disk and its partitions that this process can see; mounts in other mount namespaces are not included.
std::vector<User> usersOf(const SystemPaths &systemPaths, const std::string &disk);
// Like usersOf(), but also considers the kernel's count of openers, which includes users that are not visible here.
// udev and other programs open a disk briefly after a change; waits up to 2 s for these to finish.
nvmeof::Result<std::vector<User>> allUsersOf(const SystemPaths &systemPaths, nvmeof::Client &client,
					     const std::string &disk);

// "mounted on /data; in use by dm-3 (scratch)"
std::string toString(const std::vector<User> &users);

// Opens a disk exclusively: while the Claim exists, the disk cannot be mounted or added to another device.
class ExclusiveOpen {
public:
	ExclusiveOpen(const SystemPaths &systemPaths, const std::string &disk);
	ExclusiveOpen(ExclusiveOpen &&other) noexcept;
	ExclusiveOpen &operator=(ExclusiveOpen &&) = delete;
	~ExclusiveOpen();
	bool refused() const { return refused_; }

private:
	int fd_ = -1;
	bool refused_ = false; // another opener has it exclusively; false if the node does not exist
};

} // namespace nofctl::volume
