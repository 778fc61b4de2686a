// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The logs of discovery services, kept across reboots: the daemon connects by them at once and corrects the result when
 * the services have answered. The file has a header line with format, version and checksum, followed by JSON.
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

#include "mdns_services.h"

namespace nvmeofd {

// Addresses of host names, by the text in the configuration and the port: "target.example 8009"
using KnownAddresses = std::map<std::string, std::vector<nvmeof::Address>, std::less<>>;

struct LastKnown {
	nvmeof::KnownServices services;
	KnownAddresses addresses;
	std::vector<MdnsService> found;
};

std::string formatLastKnown(const LastKnown &known);
// The header line followed by @json
std::string sealLastKnown(std::string_view json);
// Error invalid: another format or version, or damaged
nvmeof::Result<LastKnown> parseLastKnown(std::string_view text);

// Error noSuchObject: there is no file
nvmeof::Result<LastKnown> readLastKnown(const std::filesystem::path &file);
// @text: from formatLastKnown(). The replacement is atomic, also if the machine stops.
nvmeof::Result<void> writeLastKnown(const std::filesystem::path &file, std::string_view text);

} // namespace nvmeofd
