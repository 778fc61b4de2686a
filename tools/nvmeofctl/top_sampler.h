// SPDX-License-Identifier: LGPL-2.1-or-later
// Readings for the live view, one after the other.
#pragma once

#include <optional>
#include <string>

#include <nvmeof/rates.h>
#include <nvmeof/snapshot.h>

#include "top_model.h"

// Reads, and makes of it what is shown. A failed reading is shown as well, and the next one may be good.
class TopSampler {
public:
	using Source = nvmeof::Result<nvmeof::Snapshot> (*)();

	// @object: shows only what belongs to it; all if empty.
	explicit TopSampler(std::string object, Source source = nvmeof::readSnapshot);

	// @tick: the end of an interval; else states are read anew, and rates stay those of the last interval.
	// False: the module did not answer.
	bool read(bool tick);

	const TopModel &model() const { return model_; }
	void note(std::string event) { event_ = std::move(event); }
	// 0: the last reading was good, and the object was there at one of them.
	int exitCode() const;

private:
	void fail(const nvmeof::Error &error);
	void stamp();

	std::string object_, host_, event_;
	Source source_;
	bool found_ = false; // the object, ever
	std::optional<nvmeof::ErrorCode> failed_;
	nvmeof::Rates rates_;
	TopModel model_;
};
