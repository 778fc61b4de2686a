// SPDX-License-Identifier: LGPL-2.1-or-later
// Import of configurations of nvme-cli and nvme-stas.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nvmeof/config.h>

// A key that nvmeof.toml cannot express. The value is never shown, as it may be a secret.
struct NotCarried {
	nvmeof::ConfigPlace place;
	std::string key;
	std::string reason;
};

struct Import {
	nvmeof::Config config;
	std::vector<NotCarried> notCarried;
};

/*
 * Adds the configuration in @text to @into. Formats, by file name or content: discovery.conf, config.json,
 * nvme-fabrics.conf, nvme-stas.conf, stafd.conf, stacd.conf, sys.conf, and policy.conf. Error invalid: unknown format,
 * or a syntax error in the format detected.
 */
nvmeof::Result<void> importText(Import &into, std::string_view text, const std::string &file);

// The files of these formats that exist in their default locations.
std::vector<std::string> importPlaces();

namespace importing {

// Keys common to all formats, by their names in nvme-cli with - for _.

std::string keyOf(std::string_view text); // "HDR_Digest" is "hdr-digest"
std::string trimmed(std::string_view text);
std::optional<bool> parseBool(const std::string &value);

// A target that is built from keys. addService() and addConnection() check that it is complete.
struct Draft {
	nvmeof::ConfigTarget target;
	std::optional<std::string> transport, traddr, port, nqn;
};

// False with @reason if there is no such key, or if the value cannot be used. @reason is unspecified on success.
bool takeSetting(nvmeof::ConnectSettings &settings, const std::string &key, const std::string &value,
		 std::string &reason);
bool takeKey(Draft &draft, const std::string &key, const std::string &value, std::string &reason);

// Adds the draft as a service or connection, or what is missing in it to Import::notCarried.
void addService(Import &into, const Draft &draft, const nvmeof::ConfigPlace &place);
void addConnection(Import &into, const Draft &draft, const nvmeof::ConfigPlace &place);

// One reader per file format
nvmeof::Result<void> readIni(Import &into, std::string_view text, const std::string &file);
nvmeof::Result<void> readJson(Import &into, std::string_view text, const std::string &file);
void readLines(Import &into, std::string_view text, const std::string &file);

} // namespace importing
