// SPDX-License-Identifier: LGPL-2.1-or-later
// The contents of one frame of "top", before layout.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include <nvmeof/rates.h>
#include <nvmeof/snapshot.h>

#include "json.h"

enum class Tone { normal, good, warning, bad, title, dim };

// A path, a namespace or the total.
struct TopRow {
	std::string nameSpace;
	std::string path;    // empty for a namespace
	std::string address; // "10.0.0.1:4420"
	std::string state, ana;
	bool anaCurrent = true;
	bool slow = false; // of a path: compared with others of the namespace, in the last interval
	Tone stateTone = Tone::normal, anaTone = Tone::normal;
	std::optional<nvmeof::Rate> rate; // empty before the second sample
	std::uint32_t inflight = 0;
	std::uint32_t waiting = 0, held = 0; // of its namespace
	std::uint64_t failoversFrom = 0, failoversTo = 0;
	std::uint64_t size = 0; // bytes; of a namespace
	std::uint32_t usable = 0, paths = 0;
	std::optional<std::chrono::nanoseconds> noPathSince; // CLOCK_BOOTTIME; of a namespace
	std::chrono::nanoseconds noPathFor{0};               // since then
};

struct TopModel {
	std::string host, clock;
	std::optional<nvmeof::Error> error; // why there is no data, with the next step
	std::string event;                  // text of the last event
	std::chrono::nanoseconds interval{0};
	std::size_t subsystems = 0, controllers = 0, live = 0;
	std::vector<TopRow> paths, namespaces;
	TopRow total;
};

TopModel topModel(const nvmeof::Snapshot &snapshot, const nvmeof::Rates &rates);

// One frame as JSON.
Json toJson(const TopModel &model);
