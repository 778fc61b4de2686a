// SPDX-License-Identifier: LGPL-2.1-or-later
// The controllers that "disconnect" and "disconnect-all" remove, those that they keep, and the disks that go with them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <nvmeof/client.h>

#include "libctl/volume/disk_users.h"
#include "parse.h"

// A controller that disconnect-all does not disconnect
struct KeptController {
	nvmeof::Controller controller;
	bool excepted = false; // by --except; else it is owned by a service
};

struct DisconnectPlan {
	std::vector<nvmeof::Controller> controllers; // to disconnect
	std::vector<KeptController> kept;
};

// Of "disconnect": the existing controllers that NAME, --nqn or --all select.
DisconnectPlan planDisconnect(std::vector<nvmeof::Controller> all, const Args &args);
// Of "disconnect-all", with --except and --owned.
DisconnectPlan planDisconnectAll(std::vector<nvmeof::Controller> all, const Args &args);

// The disks that lose their last path with @gone, which are some of @all: no path remains, and the disk is removed, or
// only unusable paths where one was usable, and its I/O waits.
std::vector<nvmeof::Namespace> disksLostWith(const std::vector<nvmeof::Controller> &gone,
					     const std::vector<nvmeof::Controller> &all,
					     const std::vector<nvmeof::Namespace> &namespaces,
					     const std::vector<nvmeof::Path> &paths);

struct DiskInUse {
	std::string disk; // nvmeof0n1
	std::vector<nofctl::volume::User> users;
};

// The NAMEs that do not exist, or the NQN without a controller, as errors of the real run.
std::vector<nvmeof::Error> missingObjects(const DisconnectPlan &plan, const Args &args);
// Whether @status, the text of /proc/self/status, shows CAP_SYS_ADMIN and CAP_NET_ADMIN as effective.
bool mayChangeControllers(std::string_view status);

// Users without udev's programs, which open each disk briefly and do not need it. If nothing is left, but the kernel
// counts more @openers than udev's programs are, the user is "unseen".
std::vector<nofctl::volume::User> withoutUdev(std::vector<nofctl::volume::User> users, std::size_t openers);
// Those of @disks that have users. Waits up to 2 s for programs that open a disk briefly.
nvmeof::Result<std::vector<DiskInUse>> disksInUse(nvmeof::Client &client, const std::vector<nvmeof::Namespace> &disks);
