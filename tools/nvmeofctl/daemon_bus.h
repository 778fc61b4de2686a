// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <optional>

// Whether nvmeofd is on the system bus. Nothing: there is no bus to ask.
std::optional<bool> daemonRuns();
