// SPDX-License-Identifier: LGPL-2.1-or-later
// The KEY=VALUE words of "set".
#pragma once

#include <string>
#include <vector>

#include <nvmeof/client.h>
#include <nvmeof/name.h>

struct Settings {
	nvmeof::ControllerSettings controller;
	std::string iopolicy; // of a subsystem
};

// Errors name the keys that there are for that kind of object.
nvmeof::Result<Settings> parseSettings(nvmeof::ObjectKind kind, const std::vector<std::string> &words);
