// SPDX-License-Identifier: LGPL-2.1-or-later
// The users of a disk, its entry in the udev database, and mounts.
#pragma once

#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

#include <nvmeof/client.h>
#include <nvmeof/result.h>

#include "attachment_store.h"

namespace nofctl::volume {

struct User {
	std::string kind; // "mount", "bind" (of the device node), "swap", "device" (dm, md, ...), "program", "unseen"
	std::string what; // mount point, device name, or "fio, process 12"
	std::size_t descriptors = 0; // of a program: how many of the disk and its partitions it has open

	bool operator==(const User &) const = default;
};

// Users of the disk and its partitions that this process can see; mounts in other mount namespaces are not included.
std::vector<User> usersOf(const SystemPaths &systemPaths, const std::string &disk);
// The same for each of @disks, in their order; reads /proc once for all.
std::vector<std::vector<User>> usersOf(const SystemPaths &systemPaths, const std::vector<std::string> &disks);
// Like usersOf(), but also considers the kernel's count of openers, which includes users that are not visible here.
// udev and other programs open a disk briefly after a change; waits up to 2 s for these to finish.
nvmeof::Result<std::vector<User>> allUsersOf(const SystemPaths &systemPaths, nvmeof::Client &client,
					     const std::string &disk);

// "mounted on /data; in use by dm-3 (scratch)"
std::string toString(const std::vector<User> &users);

// Opens a disk exclusively: while the object exists, the disk cannot be mounted or added to another device.
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

// A disk's entry in the udev database. Reads the files directly, so that a container needs only /run/udev.
struct UdevEntry {
	bool ready = false; // the node exists and udev has processed it; without udevd: the node exists
	std::string byId;   // a link below /dev/disk/by-id to the disk; preferably the one with the UUID
};

UdevEntry udevEntry(const SystemPaths &systemPaths, const std::string &disk);

// A mount in the mount namespace of this process, read with libmount.
struct Mount {
	int id = 0, parent = 0;  // mount IDs, unique among existing mounts
	dev_t device = 0;        // of the file system; one that spans several devices (btrfs) has an anonymous number
	std::string root;        // mounted part of the file system: "/", or the name of a device node in devtmpfs
	std::string point;       // as the kernel reports it: without symbolic links
	std::string type;        // of the file system
	std::string source;      // /dev/nvmeof0n1
	bool readOnly = false;   // of the mount or the file system
	unsigned long flags = 0; // of the mount only: MS_RDONLY, MS_NOSUID, ...
};

// In kernel order: a mount that covers another one comes after it.
nvmeof::Result<std::vector<Mount>> mountsOf(const SystemPaths &systemPaths);
/*
 * The topmost mount at @path. Nothing if @path is not a mount point or does not exist. Directories on the path may be
 * symbolic links. Errors: invalid, if @path itself is a symbolic link; other errors, if the mount cannot be determined.
 * Uses the mount ID that the kernel reports. Causes no I/O on the mounted file system, which may be dead.
 */
nvmeof::Result<std::optional<Mount>> mountAt(const SystemPaths &systemPaths, const std::string &path);
// @point and all other mount points that are the same directory of the same file system. Mount propagation mounts and
// unmounts at all of them together.
std::vector<std::string> copiesOf(const std::vector<Mount> &all, const std::string &point);
// The path without symbolic links, as the kernel reports it. Returns @path if it does not exist.
std::string canonicalPath(const std::string &path);

} // namespace nofctl::volume
