// SPDX-License-Identifier: LGPL-2.1-or-later
// Objects as text for people.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <nvmeof/client.h>
#include <nvmeof/event.h>

using Fields = std::vector<std::pair<std::string, std::string>>;

std::string hexText(std::span<const std::uint8_t> bytes);
// Powers of 1000, as disks are sold: "107.37 GB".
std::string formatSize(std::uint64_t bytes);
// "tcp traddr=10.0.0.1,trsvcid=4420"
std::string formatAddress(const nvmeof::Controller &controller);
// One line, no newline.
std::string formatEvent(const nvmeof::Event &event);

Fields fieldsOf(const nvmeof::Subsystem &subsystem);
Fields fieldsOf(const nvmeof::Controller &controller);
Fields fieldsOf(const nvmeof::Namespace &ns);
Fields fieldsOf(const nvmeof::Path &path);

// What list and list-subsys print.
std::string formatNamespaces(const std::vector<nvmeof::Namespace> &namespaces,
			     const std::vector<nvmeof::Subsystem> &subsystems);
std::string formatSubsystems(const std::vector<nvmeof::Subsystem> &subsystems,
			     const std::vector<nvmeof::Controller> &controllers,
			     const std::vector<nvmeof::Path> &paths);
