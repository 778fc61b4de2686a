// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What discovery services told, kept over a reboot: the daemon connects by it at once, and corrects that when the
 * services have answered. One line that says what it is, its version and checksum, then JSON.
 */
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <nvmeof/address.h>
#include <nvmeof/discovery_plan.h>
#include <nvmeof/result.h>

#include "found.h"

namespace nvmeofd {

// Of host names, by the text of the configuration and the port: "target.example 8009"
using KnownAddresses = std::map<std::string, std::vector<nvmeof::Address>, std::less<>>;

struct LastKnown {
	nvmeof::KnownServices services;
	KnownAddresses addresses;
	std::vector<FoundService> found;
};

std::string formatLastKnown(const LastKnown &known);
// The line, and that JSON behind it
std::string sealLastKnown(std::string_view json);
// invalid: not this format, another version, damaged
nvmeof::Result<LastKnown> parseLastKnown(std::string_view text);

// noSuchObject: there is none
nvmeof::Result<LastKnown> readLastKnown(const std::filesystem::path &file);
// @text: as formatted. The file is the old one or the new one, whole, whenever the machine stops.
nvmeof::Result<void> writeLastKnown(const std::filesystem::path &file, std::string_view text);

} // namespace nvmeofd
