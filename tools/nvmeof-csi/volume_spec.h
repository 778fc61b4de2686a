// SPDX-License-Identifier: LGPL-2.1-or-later
// A volume as StorageClass parameters and the attributes of a PersistentVolume describe it: texts by name.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include <nvmeof/connect_settings.h>
#include <nvmeof/result.h>

#include "libctl/volume/volume.h"

namespace csi {

/*
 * I/O fails so long after the last path was lost, if neither the volume nor nvmeof.toml has "fast-io-fail-tmo":
 * unmounting ends some time, and a target that restarts meanwhile ends no journal.
 */
inline constexpr std::chrono::seconds defaultFastIoFail(600);

using Texts = std::map<std::string, std::string>;

// Whether a volume that one node writes is reserved at its target.
enum class Reserve {
	automatic, // where the target has reservations
	required,  // a target without them is refused
	off,       // they belong to the application
};

struct VolumeSpec {
	nofctl::volume::AttachOptions attach;
	std::vector<std::string> mkfsOptions;
	std::uint64_t requiredBytes = 0; // that the claim has asked for
	Reserve reserve = Reserve::automatic;
	std::string service; // by which nodes reach it; empty: all do

	nvmeof::ConnectSettings connect; // of all paths, as the volume has them

	// Settings that the volume does not have are taken from @defaults, or are this plugin's.
	void complete(const nvmeof::ConnectSettings &defaults);
	nofctl::volume::Entry entry() const { return {attach.paths.front().subsysnqn, attach.id}; }
};

/*
 * nqn; one of uuid, nguid, eui64, nsid; addresses ("10.0.0.1,10.0.0.2:4421"), transport, port, host-traddr, host-iface;
 * how to connect, by the names of "nvmeofctl connect" (ctrl-loss-tmo, nr-io-queues, ...); how to set the subsystem
 * (iopolicy, fencing, ...); reservation (auto, required, off); service; mkfsOptions; requiredBytes. Names with a / in
 * them are the orchestrator's. Errors are invalid, and name what is wrong.
 */
nvmeof::Result<VolumeSpec> parseVolume(const Texts &texts);
// The same of a StorageClass: "${name}" in nqn stands for the volume's name, and nsid is 1 if nothing else is said.
Texts ofClass(Texts parameters, const std::string &name);

} // namespace csi
