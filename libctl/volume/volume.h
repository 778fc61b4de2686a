// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Volumes as an orchestrator has them: attached to this node and detached again, any number of times and by several at
 * once, in whatever state somebody has left the subsystem. Whose a controller is the kernel remembers, by its owner;
 * which volumes are attached is in the Book. Both outlive who asked.
 */
#pragma once

#include <chrono>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include <nvmeof/client.h>

#include "book.h"
#include "users.h"

namespace nofctl::volume {

inline constexpr const char *owner = "nvmeof-volume"; // ConnectOptions::owner of the controllers made here

struct AttachOptions {
	// One for each address, of one subsystem. Where they do not say it, a path is tried, and kept, until the
	// volumes are detached.
	std::vector<nvmeof::ConnectOptions> paths;
	VolumeId id;
	nvmeof::SubsystemSettings settings; // what is set of them is set
	std::chrono::milliseconds timeout = nvmeof::defaultTimeout;
};

// A path that was asked for. Without an error it is live.
struct AttachedPath {
	std::string transport, address;
	std::string controller; // empty: there is none
	std::optional<nvmeof::Error> error;
};

struct Attached {
	Entry entry;
	nvmeof::Subsystem subsystem;
	nvmeof::Namespace ns;
	std::string byId;                // a link below /dev/disk/by-id; empty: udev has made none
	std::vector<AttachedPath> paths; // as asked for
	bool already = false;            // it was attached before
};

/*
 * Connects what is not connected, waits for the disk with its links, and remembers the volume. One live path is enough.
 * Errors: noSuchObject, the subsystem is there and the namespace is not; EBUSY, another driver has the subsystem;
 * timedOut; what connect() has, of the first path, where none can be had. After an error it is as it was before.
 */
nvmeof::Result<Attached> attach(nvmeof::Client &client, const AttachOptions &options, const Places &places = {},
				std::stop_token stop = {});

struct Detached {
	bool was = false;                      // attached, until now
	std::vector<std::string> disconnected; // controllers: no volume of the subsystem was left
	std::vector<User> keeping;             // who uses other disks of it, so that its controllers stay
};

// Error EBUSY where somebody uses the disk: nothing was done. A volume that is not attached is no error.
nvmeof::Result<Detached> detach(nvmeof::Client &client, const Entry &entry, const Places &places = {},
				std::chrono::milliseconds timeout = nvmeof::defaultTimeout);

// What is in the book, with what is there of it.
struct Listed {
	Entry entry;
	std::optional<nvmeof::Namespace> ns; // its disk is there
	std::string byId;
	std::vector<User> users; // that are seen
};

nvmeof::Result<std::vector<Listed>> list(nvmeof::Client &client, const Places &places = {});
// The namespace of that name among those of subsystems of that NQN; nothing: it is not there.
nvmeof::Result<std::optional<nvmeof::Namespace>> find(nvmeof::Client &client, const Entry &entry);

// With the lock of the subsystem, when no volume of it is attached any more: its controllers that were made here go,
// unless one of its disks is used.
nvmeof::Result<Detached> release(nvmeof::Client &client, const std::string &nqn, const Page &page,
				 const Places &places);

} // namespace nofctl::volume
