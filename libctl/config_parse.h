// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>
#include <string_view>

#include <nvmeof/config.h>

namespace nofctl {

// Adds what stands in @text to @reading.
void parseConfig(nvmeof::ConfigReading &reading, std::string_view text, const std::string &file);

} // namespace nofctl
