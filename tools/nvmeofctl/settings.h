// SPDX-License-Identifier: LGPL-2.1-or-later
// The NAME=VALUE words of "set".
#pragma once

#include <string>
#include <variant>
#include <vector>

#include <nvmeof/name.h>
#include <nvmeof/settings.h>

using Settings = std::variant<nvmeof::SubsystemSettings, nvmeof::ControllerSettings>;

// Errors list the settings of that kind of object.
nvmeof::Result<Settings> parseSettings(nvmeof::ObjectKind kind, const std::vector<std::string> &words);
