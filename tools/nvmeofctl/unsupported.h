// SPDX-License-Identifier: LGPL-2.1-or-later
// Options and commands that nvme-cli has and nvmeofctl lacks, with what to use instead.
#pragma once

#include <optional>
#include <string>
#include <string_view>

// The message for an option ("--tls", "-S") or a command ("id-ctrl"); empty if it is not one of these.
std::optional<std::string> unsupportedOption(std::string_view name);
std::optional<std::string> unsupportedCommand(std::string_view name);
