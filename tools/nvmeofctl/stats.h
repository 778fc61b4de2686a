// SPDX-License-Identifier: LGPL-2.1-or-later
// Output of "stats".
#pragma once

#include <string>

#include <nvmeof/snapshot.h>

#include "json.h"

Json statsJson(const nvmeof::Snapshot &snapshot);
std::string statsText(const nvmeof::Snapshot &snapshot);
