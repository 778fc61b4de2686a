// SPDX-License-Identifier: LGPL-2.1-or-later
// A volume described by StorageClass parameters or PersistentVolume attributes, as key-value pairs.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <nvmeof/connect_settings.h>
#include <nvmeof/result.h>

#include "libctl/volume/volume.h"

namespace csi {

using Texts = std::map<std::string, std::string>;

// Whether a volume that one node writes gets a reservation on its target
enum class Reserve {
	automatic, // if the target supports reservations
	required,  // fails if the target does not support reservations
	off,       // reservations belong to the application
};

struct VolumeSpec {
	nofctl::volume::AttachOptions attach;
	std::vector<std::string> mkfsOptions;
	std::uint64_t requiredBytes = 0; // capacity requested by the claim
	Reserve reserve = Reserve::automatic;
	std::string service; // service that nodes have to reach; empty: none

	nvmeof::ConnectSettings connect; // settings of the volume, for all paths

	// Fills in missing settings from @defaults, then from the defaults of this plugin.
	void complete(const nvmeof::ConnectSettings &defaults);
	nofctl::volume::Entry entry() const { return {attach.paths.front().subsysnqn, attach.id}; }
};

/*
 * nqn; one of uuid, nguid, eui64, nsid; addresses ("10.0.0.1,10.0.0.2:4421"), transport, port, host-traddr, host-iface;
 * connect settings as named by "nvmeofctl connect" (ctrl-loss-tmo, nr-io-queues, ...); subsystem settings (iopolicy,
 * fencing, ...); reservation (auto, required, off); service; mkfsOptions; requiredBytes. Keys with a / belong to the
 * orchestrator and are ignored. Errors are invalid and name the key.
 */
nvmeof::Result<VolumeSpec> parseVolume(const Texts &texts);
// Converts StorageClass parameters: "${name}" in nqn becomes the volume name; without a namespace identifier, nsid is
// 1.
Texts contextOfClass(Texts parameters, const std::string &name);

// Options of mount(8), converted for mount(2)
struct MountOptions {
	unsigned long flags = 0; // MS_...
	std::string data;        // options for the file system
};

inline constexpr const char *defaultFileSystem = "ext4";

// Errors are invalid: an unsupported file system, or an option that it does not have
nvmeof::Result<MountOptions> mountOptions(const std::string &fileSystem, const std::vector<std::string> &options);

// Errors are invalid: a word names a device, file or directory of the node other than the volume's disk
nvmeof::Result<void> checkMkfsOptions(const std::vector<std::string> &words);

} // namespace csi
