// SPDX-License-Identifier: LGPL-2.1-or-later
// Devices of device mapper, by libdevmapper. As root.
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
	int users = 0; // that have it open
	bool suspended = false;
	std::vector<Target> table;

	std::uint64_t sectors() const;
};

// The uuid of a stripe of ours begins so.
inline constexpr const char *uuidStart = "NVMEOF-STRIPE-";

// Nothing: there is no device of that name.
nvmeof::Result<std::optional<Mapped>> findMapped(const std::string &name);
nvmeof::Result<std::vector<std::string>> mappedNames();

nvmeof::Result<void> createMapped(const std::string &name, const std::string &uuid, const std::vector<Target> &table);
// Another table, with what is under way finished first.
nvmeof::Result<void> replaceTable(const std::string &name, const std::vector<Target> &table);
nvmeof::Result<void> removeMapped(const std::string &name);
// The status of its first target; empty where it has none.
nvmeof::Result<std::string> mappedStatus(const std::string &name);

} // namespace nofctl::stripe
