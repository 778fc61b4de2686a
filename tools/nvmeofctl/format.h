// SPDX-License-Identifier: LGPL-2.1-or-later
// Objects as text for people.
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

using Fields = std::vector<std::pair<std::string, std::string>>;

std::string hexText(std::span<const std::uint8_t> bytes);
// Powers of 1000, as disks are sold: "107.37 GB".
std::string formatSize(std::uint64_t bytes);
// The node that programs open: /dev/nvmeof0n1, or its generic node where there is no other.
std::string deviceOf(const nvmeof::Namespace &ns);
// "tcp traddr=10.0.0.1,trsvcid=4420"
std::string formatAddress(const nvmeof::Controller &controller);
// Next step of an operator with a controller in state lost
std::string lostNextStep(const std::string &controller);
// The line that tells of one that was to be connected; @there: it was, before
std::string formatReached(const nvmeof::Controller &controller, bool there);
// Whether being degraded is what keeps a path from I/O.
bool leftOut(const nvmeof::Path &path);
// "suspect", "probation" or "degraded" where that is so, else the state of its controller.
std::string conditionOf(const nvmeof::Path &path);
// "2 usable of 4", and what is wrong with that. @now: CLOCK_BOOTTIME
// "write-exclusive", ...: the types of reservations that a namespace offers
std::vector<std::string> reservationTypes(std::uint8_t reservations);
std::string pathsNote(const nvmeof::Namespace &ns, std::chrono::nanoseconds now);
// Whether data may be in other devices' memory, by which paths not, and what stands on the disk and hands no such on.
std::string peerToPeerNote(const nvmeof::Namespace &ns, const std::vector<nvmeof::Path> &paths,
			   const std::vector<std::string> &stacked);
// How long it has been in its ANA state, "-" if that is not known. @now: CLOCK_BOOTTIME
std::string formatSince(const nvmeof::Path &path, std::chrono::nanoseconds now);

// One line, no newline.
std::string formatEvent(const nvmeof::Event &event, const std::optional<nvmeof::AnaBefore> &before = {});

Fields fieldsOf(const nvmeof::Subsystem &subsystem);
Fields fieldsOf(const nvmeof::Controller &controller);
// @now: CLOCK_BOOTTIME
Fields fieldsOf(const nvmeof::Namespace &ns, std::chrono::nanoseconds now = nvmeof::bootTime());
// @now: CLOCK_BOOTTIME
Fields fieldsOf(const nvmeof::Path &path, std::chrono::nanoseconds now = nvmeof::bootTime());
// With what "show" adds: of a namespace what it inherits of its subsystem, of a path its address.
Fields shownFields(const nvmeof::Subsystem &subsystem, const nvmeof::Snapshot &related);
Fields shownFields(const nvmeof::Controller &controller, const nvmeof::Snapshot &related);
Fields shownFields(const nvmeof::Namespace &ns, const nvmeof::Snapshot &related);
Fields shownFields(const nvmeof::Path &path, const nvmeof::Snapshot &related);
// A line each, for what they belong to.
std::string formatPaths(const std::vector<nvmeof::Path> &paths, std::chrono::nanoseconds now = nvmeof::bootTime());

// What list and list-subsys print.
std::string formatNamespaces(const std::vector<nvmeof::Namespace> &namespaces,
			     const std::vector<nvmeof::Subsystem> &subsystems);
std::string formatSubsystems(const std::vector<nvmeof::Subsystem> &subsystems,
			     const std::vector<nvmeof::Controller> &controllers,
			     const std::vector<nvmeof::Path> &paths);
