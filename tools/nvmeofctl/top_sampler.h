// SPDX-License-Identifier: LGPL-2.1-or-later
// Readings for the live view, one after the other.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include <nvmeof/topology.h>

#include "top_model.h"

/*
 * Follows what there is, and makes of it what is shown. Counters are read when that is asked for. What fails is shown
 * as well; without the module each tick looks whether it has come.
 */
class TopSampler {
public:
	// @object: shows only what belongs to it; all if empty.
	explicit TopSampler(std::string object);

	// The end of an interval: counters are read, and rates are those since the last one. They are there when
	// pending() is false.
	void tick() { ask(nvmeof::SampleFor::rates); }
	// States that no event tells, and counters, are read; rates stay those of the last interval.
	void refresh() { ask(nvmeof::SampleFor::states); }
	bool pending() const { return sample_.valid(); }

	// Readable when dispatch() has something to do; -1 without the module.
	int fd() const { return topology_ ? topology_->fd() : -1; }
	// Without waiting. True: an event has come.
	bool dispatch();
	// Dispatches until there is nothing pending, at most that long.
	void wait(std::chrono::milliseconds timeout);

	const TopModel &model() const { return model_; }
	// 0: the last reading was good, and the object was there at one of them.
	int exitCode() const;

private:
	void ask(nvmeof::SampleFor use);
	bool note(const std::vector<nvmeof::TopologyEvent> &events);
	void show();
	void fail(const nvmeof::Error &error);
	void stamp();

	std::string object_, host_, event_;
	bool found_ = false; // the object, ever
	std::optional<nvmeof::ErrorCode> failed_;
	std::optional<nvmeof::Topology> topology_;
	nvmeof::Pending<nvmeof::Result<void>> sample_; // ends before what it is of
	TopModel model_;
};
