// SPDX-License-Identifier: LGPL-2.1-or-later
// The settings of "set", for help, manual page and completion. A test compares them with the library's.
#pragma once

#include <span>

struct SettingText {
	const char *name, *values, *preset, *meaning;
};

std::span<const SettingText> subsystemSettingTexts();
std::span<const SettingText> controllerSettingTexts();
