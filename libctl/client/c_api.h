// SPDX-License-Identifier: LGPL-2.1-or-later
// Item handles of the C interface: the fields of an object or event, by name.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <nvmeof/client.h>
#include <nvmeof/nvmeof_c.h>

struct nvmeof_item {
	nvmeof_kind kind = NVMEOF_EVENT;
	std::map<std::string, std::string, std::less<>> texts{};
	std::map<std::string, std::uint64_t, std::less<>> numbers{};
	std::vector<std::string> disks{};
};

struct nvmeof_items {
	std::vector<nvmeof_item> items;
};

namespace nofctl {

nvmeof_item itemOf(const nvmeof::Subsystem &subsystem);
nvmeof_item itemOf(const nvmeof::Controller &controller);
nvmeof_item itemOf(const nvmeof::Connection &connection);
nvmeof_item itemOf(const nvmeof::Namespace &ns);
nvmeof_item itemOf(const nvmeof::Path &path);
nvmeof_item itemOf(const nvmeof::Event &event);
nvmeof_item itemOf(const nvmeof::DiscoveryEntry &entry);

} // namespace nofctl
