// SPDX-License-Identifier: LGPL-2.1-or-later
// What nvme-cli has and this command has not: whoever types it by habit is told what to do instead.
#pragma once

#include <optional>
#include <string>
#include <string_view>

// What to say of an option ("--tls", "-S") or a command ("connect-all"); nothing where it is known to neither.
std::optional<std::string> unsupportedOption(std::string_view name);
std::optional<std::string> unsupportedCommand(std::string_view name);
