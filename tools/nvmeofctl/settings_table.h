// SPDX-License-Identifier: LGPL-2.1-or-later
// What "set" can set, for help, manual page and completion. A test holds it against what the library takes.
#pragma once

#include <span>

struct SettingText {
	const char *name, *values, *preset, *meaning;
};

std::span<const SettingText> subsystemSettingTexts();
std::span<const SettingText> controllerSettingTexts();
