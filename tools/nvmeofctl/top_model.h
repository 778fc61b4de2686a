// SPDX-License-Identifier: LGPL-2.1-or-later
// The contents of the frames of "top", before layout, and the samples that they come from.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include <nvmeof/rates.h>
#include <nvmeof/snapshot.h>
#include <nvmeof/topology.h>

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

/*
 * Follows the objects by events, and makes the frames of "top". tick() and refresh() read the counters. After an error
 * the frame has the error instead of data, and each tick() tries to open the module again.
 */
class TopSampler {
public:
	// @object: frames have only what belongs to it; empty: all
	explicit TopSampler(std::string object);

	// Ends an interval: reads the counters, and computes rates since the last tick(). Complete when pending() is
	// false.
	void tick() { ask(nvmeof::SampleFor::rates); }
	// Reads counters, and states that no event reports. Rates stay those of the last interval.
	void refresh() { ask(nvmeof::SampleFor::states); }
	bool pending() const { return sample_.valid(); }

	// Readable when dispatch() has something to do; -1 without the module.
	int fd() const { return topology_ ? topology_->fd() : -1; }
	// Does not wait. True if an event has arrived.
	bool dispatch();
	// Dispatches until pending() is false, at most for @timeout.
	void wait(std::chrono::milliseconds timeout);

	const TopModel &model() const { return model_; }
	// 0 if the last sample succeeded, and the object was in any sample.
	int exitCode() const;

private:
	void ask(nvmeof::SampleFor use);
	bool note(const std::vector<nvmeof::TopologyEvent> &events);
	void show();
	void fail(const nvmeof::Error &error);
	void stamp();

	std::string object_, host_, event_;
	bool found_ = false; // the object was in a sample
	std::optional<nvmeof::ErrorCode> failed_;
	std::optional<nvmeof::Topology> topology_;
	nvmeof::Pending<nvmeof::Result<void>> sample_; // destroyed before topology_
	TopModel model_;
};
