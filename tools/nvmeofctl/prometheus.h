// SPDX-License-Identifier: LGPL-2.1-or-later
// Everything that a snapshot counts, for the textfile collector of node_exporter.
#pragma once

#include <chrono>
#include <string>

#include <nvmeof/snapshot.h>

// @bootOffset: the wall clock less CLOCK_BOOTTIME, to turn the kernel's times into time stamps.
std::string prometheusText(const nvmeof::Snapshot &snapshot, std::chrono::nanoseconds bootOffset);
