// SPDX-License-Identifier: LGPL-2.1-or-later
// The NAME=VALUE words of "set".
#pragma once

#include <span>
#include <string>
#include <variant>
#include <vector>

#include <nvmeof/name.h>
#include <nvmeof/settings.h>

using Settings = std::variant<nvmeof::SubsystemSettings, nvmeof::ControllerSettings>;

// Errors list the settings of that kind of object.
nvmeof::Result<Settings> parseSettings(nvmeof::ObjectKind kind, const std::vector<std::string> &words);

// The settings of "set", for help, manual page and completion. A test compares them with the library's.
struct SettingText {
	const char *name, *values, *preset, *meaning;
};

std::span<const SettingText> subsystemSettingTexts();
std::span<const SettingText> controllerSettingTexts();
