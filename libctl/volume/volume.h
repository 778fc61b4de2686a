// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Volumes of an orchestrator, attached to this node and detached from it. Both operations are idempotent and may run
 * concurrently, in any state of the subsystem. The kernel records the owner of each controller; the attachment store
 * records the attached volumes. Both outlive the calling process.
 */
#pragma once

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <optional>
#include <poll.h>
#include <stop_token>
#include <string>
#include <vector>

#include <nvmeof/client.h>

#include "attachment_store.h"
#include "disk_users.h"

namespace nofctl::volume {

inline constexpr const char *owner = "nvmeof-volume"; // see ConnectOptions::owner

struct AttachOptions {
	// One per address, all of the same subsystem. Unless set otherwise, each path is retried without limit until
	// the volumes are detached.
	std::vector<nvmeof::ConnectOptions> paths;
	VolumeId id;
	nvmeof::SubsystemSettings settings; // only members that are set are applied
	std::chrono::milliseconds timeout = nvmeof::defaultTimeout;
};

// A requested path. It is live if error is not set.
struct AttachedPath {
	std::string transport, address;
	std::string controller; // empty: no controller exists
	std::optional<nvmeof::Error> error;
};

struct Attached {
	Entry entry;
	nvmeof::Subsystem subsystem;
	nvmeof::Namespace ns;
	std::string byId;                // a link below /dev/disk/by-id; empty: none
	std::vector<AttachedPath> paths; // in the order of AttachOptions::paths
	bool already = false;            // it had been attached before
};

/*
 * Connects missing paths, waits for the disk and its links, and adds the volume to the attachment store. One live path
 * suffices. Errors: noSuchObject, if the subsystem has no such namespace; EBUSY, if another driver is connected to the
 * subsystem; timedOut; the error of the first path, if no path can be connected. After an error, the previous state is
 * restored.
 */
nvmeof::Result<Attached> attach(nvmeof::Client &client, const AttachOptions &options,
				const SystemPaths &systemPaths = {}, std::stop_token stop = {});

struct Detached {
	bool was = false;                      // it was attached before the call
	std::vector<std::string> disconnected; // controllers, if this was the last volume of the subsystem
	std::vector<User> keeping;             // users of other disks that keep the controllers
};

// Errors: EBUSY, if the disk is in use; nothing has changed then. Detaching a volume that is not attached is not an
// error.
nvmeof::Result<Detached> detach(nvmeof::Client &client, const Entry &entry, const SystemPaths &systemPaths = {},
				std::chrono::milliseconds timeout = nvmeof::defaultTimeout);

// An entry of the attachment store, with its disk if that exists.
struct Listed {
	Entry entry;
	std::optional<nvmeof::Namespace> ns; // set if the disk exists
	std::string byId;
	std::vector<User> users; // as usersOf() reports
};

nvmeof::Result<std::vector<Listed>> list(nvmeof::Client &client, const SystemPaths &systemPaths = {});
// The namespace of the entry, in any subsystem with its NQN; nothing if it does not exist.
nvmeof::Result<std::optional<nvmeof::Namespace>> find(nvmeof::Client &client, const Entry &entry);

// Must be called with @attachments, which holds the lock of the subsystem. If no volume of the subsystem is attached
// any more and none of its disks is in use, disconnects the controllers created for volumes.
nvmeof::Result<Detached> release(nvmeof::Client &client, const std::string &nqn, const AttachmentLock &attachments,
				 const SystemPaths &systemPaths);

// Waits until all operations are complete or @over returns true. @look: interval for checking @over, ms; -1: only check
// after events.
template <typename T, typename Over>
void finishAll(nvmeof::Client &client, const std::vector<nvmeof::Pending<T>> &all, const Over &over, int look = -1)
{
	auto waits = [](const nvmeof::Pending<T> &one) { return !one.ready(); };
	for (client.dispatch(); std::ranges::any_of(all, waits) && !over(); client.dispatch()) {
		pollfd fd{client.fd(), POLLIN, 0};
		::poll(&fd, 1, look);
	}
}

// The first line of a file, for example in sysfs; empty if it cannot be read.
inline std::string firstLine(const std::filesystem::path &file)
{
	std::string line;
	std::ifstream stream(file);
	std::getline(stream, line);
	return line;
}

} // namespace nofctl::volume
