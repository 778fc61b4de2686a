// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Where records are kept. All that changes in the model comes from here, in the order in which it was written, whoever
 * wrote it; what is written is told before its writer has the answer.
 */
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <nvmeof/result.h>

#include "record.h"

namespace cdc {

struct Change {
	std::string key;
	std::optional<std::string> value; // JSON; nothing: the record is gone
};

struct News {
	bool whole = false; // these are all records that there are
	std::vector<Change> changes;
	std::uint64_t generation = 0; // GENCTR with these: grows with each change of what hosts are told, never falls
};

struct StoreState {
	std::string engine;         // "sqlite"
	std::string place;          // the file
	bool writable = true;       //
	std::string trouble = {};   // why not, for people
	std::int64_t agedSince = 0; // since when others' changes do not arrive, seconds since 1970; 0: they do
};

class Store {
public:
	using Told = std::function<void(News)>;
	using Done = std::function<void(nvmeof::Result<void>)>;

	virtual ~Store() = default;
	// First tells all that there is, later what changes.
	virtual nvmeof::Result<void> start(Told told) = 0;
	// All of @changes or none
	virtual void write(std::vector<Change> changes, Done done) = 0;
	// This instance is there, as long as it runs.
	virtual void join(const Instance &instance) = 0;
	virtual StoreState state() const = 0;
};

} // namespace cdc
