// SPDX-License-Identifier: LGPL-2.1-or-later
// Configurations of nvme-cli and nvme-stas, read as ours.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <nvmeof/config.h>

// What has no place in our configuration. Its value is in none: it may be a secret.
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
 * Adds what stands in @text to @into. What kind of file it is tells its name, or its content: discovery.conf,
 * config.json, nvme-fabrics.conf, nvme-stas.conf, stafd.conf, stacd.conf, sys.conf, and policy.conf. invalid: none of
 * those, or not readable as what it seems to be.
 */
nvmeof::Result<void> importText(Import &into, std::string_view text, const std::string &file);

// The usual places of those files.
std::vector<std::string> importPlaces();
