// SPDX-License-Identifier: LGPL-2.1-or-later
// What Prometheus is told. Documentation/cdc.md lists it.
#pragma once

#include <string>

#include "status.h"

namespace cdc {

std::string metricsText(const Picture &picture);

} // namespace cdc
