// SPDX-License-Identifier: LGPL-2.1-or-later
// What the plugin does to its node. Tests have another one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nvmeof/connect_settings.h>

#include "libctl/volume/fence.h"
#include "libctl/volume/volume.h"
#include "mount_options.h"

namespace csi {

struct Usage {
	std::uint64_t bytes = 0, bytesFree = 0, inodes = 0, inodesFree = 0;
};

struct Mounted {
	std::string
		device; // "/dev/nvmeof0n1", by its number: the file system's, or that of a device node that is bound
	std::string target; // as the kernel spells it
	bool readOnly = false;
};

// How unmount() goes about a mount that is used.
enum class Unmount {
	refuse, // EBUSY
	lazily, // the mount goes at once; the file system when its last user has gone
};

enum class Reach {
	yes,     // the machine at the address has answered, if only by refusing the connection
	no,      // this node has no route to it
	unknown, // nothing was heard
};

class Machine {
public:
	virtual ~Machine() = default;

	virtual nvmeof::Result<void> ready() = 0;                                    // the module is there
	virtual nvmeof::ConnectSettings connectDefaults(const std::string &nqn) = 0; // of nvmeof.toml
	virtual nvmeof::Result<nofctl::volume::Attached> attach(const nofctl::volume::AttachOptions &options) = 0;
	virtual nvmeof::Result<nofctl::volume::Detached> detach(const nofctl::volume::Entry &entry) = 0;
	virtual bool isAttached(const nofctl::volume::Entry &entry) = 0; // as is remembered, whatever is there of it
	virtual nvmeof::Result<std::optional<nvmeof::Namespace>> find(const nofctl::volume::Entry &entry) = 0;

	// The right to write, by reservations of the target: libctl/volume/fence.h. It is given back only while nobody
	// has the disk mounted or open: error EBUSY.
	virtual nvmeof::Result<void> takeFence(const nvmeof::Namespace &ns, nofctl::volume::FenceKey key) = 0;
	virtual nvmeof::Result<void> dropFence(const nvmeof::Namespace &ns) = 0;

	// "ext4"; "?" for anything else that is there, such as partitions; empty: nothing is.
	virtual nvmeof::Result<std::string> contentOf(const std::string &device) = 0;
	virtual nvmeof::Result<void> format(const std::string &device, const std::string &fileSystem,
					    const std::vector<std::string> &options) = 0;
	// Repairs what can be repaired without a question. xfs is not checked: its log is replayed when it is mounted.
	virtual nvmeof::Result<void> check(const std::string &device, const std::string &fileSystem) = 0;
	virtual nvmeof::Result<void> grow(const std::string &device, const std::string &mount) = 0;

	// Users of a disk ("nvmeof0n1") besides the mount at @except. Without programs: some look for a moment only
	virtual std::vector<nofctl::volume::User> usersOf(const std::string &disk, const std::string &except = "") = 0;
	// Entries of the book that name that disk
	virtual nvmeof::Result<std::vector<nofctl::volume::Entry>> entriesOf(const std::string &disk) = 0;
	virtual nvmeof::Result<bool> isReadOnly(const std::string &device) = 0;
	virtual nvmeof::Result<void> setReadOnly(const std::string &device, bool on) = 0;

	// The topmost mount there, if it is a mount point
	virtual nvmeof::Result<std::optional<Mounted>> mountedAt(const std::string &target) = 0;
	virtual std::string canonical(const std::string &path) = 0; // without symbolic links, if something is there
	// The folder is made where it is missing.
	virtual nvmeof::Result<void> mount(const std::string &device, const std::string &target,
					   const std::string &fileSystem, const MountOptions &options) = 0;
	// A folder, or a device's node at a file; what is missing of the target is made.
	virtual nvmeof::Result<void> bind(const std::string &from, const std::string &target, bool readOnly) = 0;
	/*
	 * All mounts at the path, and the folder or file itself if @remove. A path that does not exist is no error.
	 * Error timedOut: the mount is gone, and the kernel still writes back its data.
	 */
	virtual nvmeof::Result<void> unmount(const std::string &target, bool remove, Unmount how) = 0;
	virtual nvmeof::Result<Usage> usage(const std::string &path) = 0;
	virtual bool exists(const std::string &path) = 0;
	virtual Reach reaches(const nvmeof::Address &address) = 0; // within a second
};

} // namespace csi
