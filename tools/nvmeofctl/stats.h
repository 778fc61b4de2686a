// SPDX-License-Identifier: LGPL-2.1-or-later
// What "nvmeofctl stats" shows of a snapshot.
#pragma once

#include <string>

#include "json.h"
#include "snapshot.h"

Json statsJson(const Snapshot &snapshot);
std::string statsText(const Snapshot &snapshot);
