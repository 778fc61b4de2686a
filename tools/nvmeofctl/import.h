// SPDX-License-Identifier: LGPL-2.1-or-later
// Import of configurations of nvme-cli and nvme-stas.
#pragma once

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
