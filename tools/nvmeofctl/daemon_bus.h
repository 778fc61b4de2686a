// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <optional>

// Whether nvmeofd is on the system bus. Nothing: there is no bus to ask, or it does not answer within a second.
std::optional<bool> daemonRuns();
