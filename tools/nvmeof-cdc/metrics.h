// SPDX-License-Identifier: LGPL-2.1-or-later
// Metrics for Prometheus, listed in Documentation/cdc.md
#pragma once

#include <string>

#include "status.h"

namespace cdc {

std::string metricsText(const Snapshot &snapshot);

} // namespace cdc
