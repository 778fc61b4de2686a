// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <chrono>
#include <string>

#include <nvmeof/duration.h>

using nvmeof::Never;
using nvmeof::parseSeconds;

// "0.5 s", "10 s"
std::string formatSeconds(std::chrono::milliseconds time);
// A duration: "12 s", "2:05 min", "3:10 h", "4 d". Negative ones count as 0.
std::string formatAge(std::chrono::nanoseconds age);
