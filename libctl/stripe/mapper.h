// SPDX-License-Identifier: LGPL-2.1-or-later
// Device-mapper devices, through libdevmapper. Requires root.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nvmeof/result.h>

namespace nofctl::stripe {

struct Target {
	std::uint64_t start = 0, length = 0; // sectors
	std::string type, parameters;
};

struct Mapped {
	std::string name;
	std::string uuid;
	int users = 0; // openers
	bool suspended = false;
	std::vector<Target> table;

	std::uint64_t sectors() const;
};

// Prefix of the uuid of our stripes.
inline constexpr const char *uuidStart = "NVMEOF-STRIPE-";

// Nothing if no device has that name.
nvmeof::Result<std::optional<Mapped>> findMapped(const std::string &name);
nvmeof::Result<std::vector<std::string>> mappedNames();

nvmeof::Result<void> createMapped(const std::string &name, const std::string &uuid, const std::vector<Target> &table);
// Replaces the table after outstanding I/O has completed.
nvmeof::Result<void> replaceTable(const std::string &name, const std::vector<Target> &table);
nvmeof::Result<void> removeMapped(const std::string &name);
// Status of the first target; empty if there is none.
nvmeof::Result<std::string> mappedStatus(const std::string &name);

} // namespace nofctl::stripe
