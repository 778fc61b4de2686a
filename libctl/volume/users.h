// SPDX-License-Identifier: LGPL-2.1-or-later
// Who uses a disk.
#pragma once

#include <string>
#include <vector>

#include <nvmeof/client.h>

#include "places.h"

namespace nofctl::volume {

struct User {
	std::string kind; // "mount", "bind" (of the node itself), "swap", "device" (dm, md, ...), "program", "unseen"
	std::string what; // where it is mounted, name of the device, "fio, process 12"

	bool operator==(const User &) const = default;
};

// Of the disk and its partitions, as far as this process sees: not mounts of other mount namespaces.
std::vector<User> usersOf(const Places &places, const std::string &disk);
/*
 * The same, with what the kernel counts: one that is not seen from here counts, too. udev and others look at a disk for
 * a moment whenever something has changed: those are waited for, two seconds at most.
 */
nvmeof::Result<std::vector<User>> allUsersOf(const Places &places, nvmeof::Client &client, const std::string &disk);

// "mounted on /data; in use by dm-3 (scratch)"
std::string toString(const std::vector<User> &users);

// While this lives nobody can mount the disk, or make it part of another device. Empty: somebody has.
class Claim {
public:
	Claim(const Places &places, const std::string &disk);
	Claim(Claim &&other) noexcept;
	Claim &operator=(Claim &&) = delete;
	~Claim();
	bool refused() const { return refused_; }

private:
	int fd_ = -1;
	bool refused_ = false; // by who has it; a node that is not there refuses nothing
};

} // namespace nofctl::volume
