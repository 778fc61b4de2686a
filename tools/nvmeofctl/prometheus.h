// SPDX-License-Identifier: LGPL-2.1-or-later
// Everything that a snapshot counts, for the textfile collector of node_exporter.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include <nvmeof/snapshot.h>

#include "lost.h"

// Of the machine, beside what its module counts
struct NodeFacts {
	std::string version;               // of the command
	std::string moduleVersion;         // of the module that is loaded
	std::vector<std::string> findings; // codes: what does not fit together, as "version" tells it
	std::optional<bool> daemonRuns;    // nvmeofd is on the system bus; nothing: there is no bus to ask
	bool daemonEnabled = false;        // it is started at boot
};

struct PrometheusOptions {
	std::chrono::nanoseconds bootOffset{0}; // the wall clock less CLOCK_BOOTTIME: the kernel's times as time stamps
	bool histograms = true;                 // of latencies; else their sums and counts, and the last bucket
	std::optional<NodeFacts> node;
	std::optional<LostObjects> lost;
};

std::string prometheusText(const nvmeof::Snapshot &snapshot, const PrometheusOptions &options);
