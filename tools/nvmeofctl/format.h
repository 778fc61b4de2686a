// SPDX-License-Identifier: LGPL-2.1-or-later
// Text output of objects.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <nvmeof/client.h>
#include <nvmeof/event.h>
#include <nvmeof/snapshot.h>
#include <nvmeof/topology.h>

#include "latency.h"

using Fields = std::vector<std::pair<std::string, std::string>>;

std::string hexText(std::span<const std::uint8_t> bytes);
// Powers of 1000, as disks are sold: "107.37 GB".
std::string formatSize(std::uint64_t bytes);
// Device node: /dev/nvmeof0n1, or the generic node of a namespace without a block device.
std::string deviceOf(const nvmeof::Namespace &ns);
// "tcp traddr=10.0.0.1,trsvcid=4420"
std::string formatAddress(const nvmeof::Controller &controller);
// Next step for a controller in state lost
std::string lostNextStep(const std::string &controller);
// Result line of a connect. @there: the controller was connected before
std::string formatReached(const nvmeof::Controller &controller, bool there);
// True if a path of a live controller is left out because it is degraded.
bool isLeftOut(const nvmeof::Path &path);
// "suspect", "probation" or "degraded" if isLeftOut(), else the state of the controller.
std::string conditionOf(const nvmeof::Path &path);
// The same, but "slow" for a live path in @slow that is not left out.
std::string conditionOf(const nvmeof::Path &path, const SlowPaths &slow);
// Reservation types that a namespace supports: "write-exclusive", ... @reservations: bits of nvmeof::Reservations
std::vector<std::string> reservationTypes(std::uint8_t reservations);
// "2 usable of 4", missing paths, and the time without a usable path. @now: CLOCK_BOOTTIME
std::string pathsNote(const nvmeof::Namespace &ns, std::chrono::nanoseconds now);
// Whether the disk takes peer-to-peer memory, or which paths prevent it. @stacked: devices on the disk, which do not
// pass such memory on
std::string peerToPeerNote(const nvmeof::Namespace &ns, const std::vector<nvmeof::Path> &paths,
			   const std::vector<std::string> &stacked);
// Whether the target's last report of the ANA state still holds: only while the controller is live
bool anaIsCurrent(const nvmeof::Path &path);
// "optimized", or "was optimized" if that is not current
std::string formatAna(const nvmeof::Path &path);
// Time since the path entered its ANA state, "-" if not known, or not current. @now: CLOCK_BOOTTIME
std::string formatSince(const nvmeof::Path &path, std::chrono::nanoseconds now);

// How the host is authenticated: "no", or "host, 5 min ago, by SHA-256 and DH group ffdhe2048, key 123456, set 5 min
// ago". @now: CLOCK_BOOTTIME
std::string authenticationNote(const nvmeof::Controller &controller, std::chrono::nanoseconds now);
// "no", or "AES-GCM-128, 5 min ago, key 123456 (NVMe1R01 ...), set 5 min ago". @now: CLOCK_BOOTTIME
std::string tlsNote(const nvmeof::Controller &controller, std::chrono::nanoseconds now);

// One line without newline.
std::string formatEvent(const nvmeof::Event &event, const std::optional<nvmeof::AnaBefore> &before = {});

Fields fieldsOf(const nvmeof::Subsystem &subsystem);
// @now: CLOCK_BOOTTIME
Fields fieldsOf(const nvmeof::Controller &controller, std::chrono::nanoseconds now = nvmeof::bootTime());
// @now: CLOCK_BOOTTIME
Fields fieldsOf(const nvmeof::Namespace &ns, std::chrono::nanoseconds now = nvmeof::bootTime());
// @now: CLOCK_BOOTTIME
Fields fieldsOf(const nvmeof::Path &path, std::chrono::nanoseconds now = nvmeof::bootTime());
// Fields of "show": adds the NQN and identity of the subsystem to a namespace, and the address to a path.
Fields shownFields(const nvmeof::Subsystem &subsystem, const nvmeof::Snapshot &related);
Fields shownFields(const nvmeof::Controller &controller, const nvmeof::Snapshot &related);
Fields shownFields(const nvmeof::Namespace &ns, const nvmeof::Snapshot &related);
Fields shownFields(const nvmeof::Path &path, const nvmeof::Snapshot &related);
// A table with one line per path.
std::string formatPaths(const std::vector<nvmeof::Path> &paths, std::chrono::nanoseconds now = nvmeof::bootTime());
