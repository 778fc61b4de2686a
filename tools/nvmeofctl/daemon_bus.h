// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <optional>

// Whether nvmeofd is on the system bus. Empty if there is no bus, or if it does not answer within one second.
std::optional<bool> daemonRuns();
