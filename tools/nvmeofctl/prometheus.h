// SPDX-License-Identifier: LGPL-2.1-or-later
// Metrics of a snapshot, for the textfile collector of node_exporter.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include <nvmeof/snapshot.h>

#include "lost.h"

// Facts about the machine that a snapshot does not have
struct NodeFacts {
	std::string version;               // of the command
	std::string moduleVersion;         // of the module that is loaded
	std::vector<std::string> findings; // BuildFinding::code of each
	std::optional<bool> daemonRuns;    // as of daemonRuns()
	bool daemonEnabled = false;        // nvmeofd is started at boot
};

struct PrometheusOptions {
	std::chrono::nanoseconds bootOffset{0}; // CLOCK_REALTIME minus CLOCK_BOOTTIME
	bool histograms = true;                 // all latency buckets; else only sum, count and the last bucket
	std::optional<NodeFacts> node;
	std::optional<LostObjects> lost;
};

std::string prometheusText(const nvmeof::Snapshot &snapshot, const PrometheusOptions &options);
