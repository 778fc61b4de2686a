// SPDX-License-Identifier: LGPL-2.1-or-later
// Operations of the plugin on its node. Tests use another implementation.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nvmeof/connect_settings.h>

#include "libctl/volume/fence.h"
#include "libctl/volume/volume.h"
#include "volume_spec.h"

namespace csi {

// Of a file system
struct Usage {
	// Blocks reserved for root are in the total, but neither used nor available.
	struct Amount {
		std::uint64_t total = 0, used = 0, available = 0;
	};
	Amount bytes, inodes;
};

struct Mounted {
	std::string device; // "/dev/nvmeof0n1", by number: of the file system, or of a bind-mounted device node
	std::string target; // as in the kernel's mount table
	bool readOnly = false;
};

// Behaviour of unmount() for a mount that is in use
enum class Unmount {
	refuse, // fails with EBUSY
	lazily, // detaches the mount at once; the file system is released by its last user
};

enum class Reach {
	yes,     // the machine has responded, if only by refusing the connection
	no,      // this node has no route to the address
	unknown, // no response
};

// contentOf() reports this for an xfs whose superblock says that mkfs.xfs or xfs_copy is at work, or was interrupted.
// Linux does not mount it.
inline constexpr const char *unfinishedXfs = "an unfinished xfs";

class Machine {
public:
	virtual ~Machine() = default;

	virtual nvmeof::Result<void> ready() = 0; // the kernel module is loaded
	// From nvmeof.toml. Errors: its [[security]] rules are not known.
	virtual nvmeof::Result<nvmeof::ConnectSettings> connectDefaults(const std::string &nqn) = 0;
	virtual nvmeof::Result<nofctl::volume::Attached> attach(const nofctl::volume::AttachOptions &options) = 0;
	virtual nvmeof::Result<nofctl::volume::Detached> detach(const nofctl::volume::Entry &entry) = 0;
	virtual bool isAttached(const nofctl::volume::Entry &entry) = 0; // as recorded, whatever its state
	virtual nvmeof::Result<std::optional<nvmeof::Namespace>> find(const nofctl::volume::Entry &entry) = 0;

	// The right to write, by a reservation on the target: libctl/volume/fence.h. dropFence() fails with EBUSY while
	// the disk is mounted or open.
	virtual nvmeof::Result<void> takeFence(const nvmeof::Namespace &ns, nofctl::volume::FenceKey key) = 0;
	virtual nvmeof::Result<void> dropFence(const nvmeof::Namespace &ns) = 0;

	// "ext4"; unfinishedXfs; "?" for other contents, such as partitions; empty: no contents
	virtual nvmeof::Result<std::string> contentOf(const std::string &device) = 0;
	virtual nvmeof::Result<void> format(const std::string &device, const std::string &fileSystem,
					    const std::vector<std::string> &options) = 0;
	// Makes all repairs that need no decision. xfs is not checked: it replays its log when it is mounted.
	virtual nvmeof::Result<void> check(const std::string &device, const std::string &fileSystem) = 0;
	virtual nvmeof::Result<void> grow(const std::string &device, const std::string &mount) = 0;

	// Users of a disk ("nvmeof0n1") except the mount at @except, and except programs, as some open it only briefly
	virtual std::vector<nofctl::volume::User> usersOf(const std::string &disk, const std::string &except = "") = 0;
	// Recorded entries that resolve to the disk
	virtual nvmeof::Result<std::vector<nofctl::volume::Entry>> entriesOf(const std::string &disk) = 0;
	virtual nvmeof::Result<bool> isReadOnly(const std::string &device) = 0;
	virtual nvmeof::Result<void> setReadOnly(const std::string &device, bool on) = 0;

	// The topmost mount at @target; absent: it is not a mount point
	virtual nvmeof::Result<std::optional<Mounted>> mountedAt(const std::string &target) = 0;
	virtual std::string canonical(const std::string &path) = 0; // resolves symbolic links, if the path exists
	// Creates @target if it is missing.
	virtual nvmeof::Result<void> mount(const std::string &device, const std::string &target,
					   const std::string &fileSystem, const MountOptions &options) = 0;
	// Bind-mounts a directory, or a device node on a file. Creates @target if it is missing.
	virtual nvmeof::Result<void> bind(const std::string &from, const std::string &target, bool readOnly) = 0;
	/*
	 * Unmounts everything at the path and, with @remove, removes the directory or file. A missing path is not an
	 * error. Error timedOut: the mount is gone, and the kernel is still writing back its data.
	 */
	virtual nvmeof::Result<void> unmount(const std::string &target, bool remove, Unmount how) = 0;
	virtual nvmeof::Result<Usage> usage(const std::string &path) = 0;
	virtual bool exists(const std::string &path) = 0;
	virtual Reach reaches(const nvmeof::Address &address) = 0; // takes at most one second
};

} // namespace csi
