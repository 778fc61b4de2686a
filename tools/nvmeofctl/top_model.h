// SPDX-License-Identifier: LGPL-2.1-or-later
// What the live view shows of one moment, before it is put into columns.
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
	Tone stateTone = Tone::normal, anaTone = Tone::normal;
	std::optional<nvmeof::Rate> rate; // nothing before there were two readings
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
	std::optional<nvmeof::Error> error; // why there is nothing to show, and what to do
	std::string event;                  // the last one
	std::chrono::nanoseconds interval{0};
	std::size_t subsystems = 0, controllers = 0, live = 0;
	std::vector<TopRow> paths, namespaces;
	TopRow total;
};

TopModel topModel(const nvmeof::Snapshot &snapshot, const nvmeof::Rates &rates);

// One frame for programs.
Json toJson(const TopModel &model);
