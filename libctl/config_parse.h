// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>
#include <string_view>

#include <nvmeof/config.h>

namespace nofctl {

// Parses @text and adds the result to @reading.
void parseConfig(nvmeof::ConfigReading &reading, std::string_view text, const std::string &file);

} // namespace nofctl
