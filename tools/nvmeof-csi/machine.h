// SPDX-License-Identifier: LGPL-2.1-or-later
// What the plugin does to its node. Tests have another one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "libctl/volume/volume.h"
#include "mount_options.h"

namespace csi {

struct Usage {
	std::uint64_t bytes = 0, bytesFree = 0, inodes = 0, inodesFree = 0;
};

// As in mountinfo
struct Mounted {
	std::string source; // the device; of a node that is bound "/dev/nvmeof0n1"
	std::string target;
	bool readOnly = false;
};

class Machine {
public:
	virtual ~Machine() = default;

	virtual nvmeof::Result<void> ready() = 0; // the module is there
	virtual nvmeof::Result<nofctl::volume::Attached> attach(const nofctl::volume::AttachOptions &options) = 0;
	virtual nvmeof::Result<nofctl::volume::Detached> detach(const nofctl::volume::Entry &entry) = 0;
	virtual nvmeof::Result<std::optional<nvmeof::Namespace>> find(const nofctl::volume::Entry &entry) = 0;

	// "ext4"; "?" for anything else that is there, such as partitions; empty: nothing is.
	virtual nvmeof::Result<std::string> contentOf(const std::string &device) = 0;
	virtual nvmeof::Result<void> format(const std::string &device, const std::string &fileSystem,
					    const std::vector<std::string> &options) = 0;
	virtual nvmeof::Result<void> grow(const std::string &device, const std::string &mount) = 0;

	virtual std::vector<Mounted> mounts() = 0;
	// The last thing mounted there
	std::optional<Mounted> mountedAt(const std::string &target);
	// The folder is made where it is missing.
	virtual nvmeof::Result<void> mount(const std::string &device, const std::string &target,
					   const std::string &fileSystem, const MountOptions &options) = 0;
	// A folder, or a device's node at a file; what is missing of the target is made.
	virtual nvmeof::Result<void> bind(const std::string &from, const std::string &target, bool readOnly) = 0;
	// And removes the folder or file, which then is empty. One that is not there is no error.
	virtual nvmeof::Result<void> unmount(const std::string &target, bool remove) = 0;
	virtual nvmeof::Result<Usage> usage(const std::string &path) = 0;
	virtual bool exists(const std::string &path) = 0;
	// Whether somebody accepts a connection there, within a second.
	virtual bool reaches(const nvmeof::Address &address) = 0;
};

} // namespace csi
