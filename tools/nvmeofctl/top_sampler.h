// SPDX-License-Identifier: LGPL-2.1-or-later
// Samples for "top".
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include <nvmeof/topology.h>

#include "top_model.h"

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
