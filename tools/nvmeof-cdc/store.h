// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Where records are kept. All that changes in the model comes from here, in the order in which it was written, whoever
 * wrote it; what is written is told before its writer has the answer. A store is its loop's: it never blocks once it
 * has started, and calls nobody once it has ended.
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

template <typename T> Change changeOf(const T &record)
{
	return {record.key(), storedText(record.json())};
}

struct News {
	bool whole = false; // these are all records that there are
	std::vector<Change> changes;
	std::uint64_t generation = 0; // GENCTR with these: grows with each change of what hosts are told, never falls
};

struct StoreState {
	std::string engine;         // "sqlite", "etcd"
	std::string place;          // the file; the member of etcd that is talked to, and the prefix
	bool writable = true;       // the last write was done, and the next one is not refused at once
	std::string trouble = {};   // why not, or what else is wrong, for people
	std::int64_t agedSince = 0; // since when others' changes do not arrive, seconds since 1970; 0: they do
};

class Store {
public:
	using Told = std::function<void(News)>;
	using Done = std::function<void(nvmeof::Result<void>)>;

	virtual ~Store() = default;
	// Tells all that there is, at once or as soon as it is known, and later what changes. All may be told again.
	// Errors: what waiting does not mend, and what to do
	virtual nvmeof::Result<void> start(Told told) = 0;
	// All of @changes or none. @done may be called at once. Errors: nothing is changed, or where the message says
	// so, perhaps
	virtual void write(std::vector<Change> changes, Done done) = 0;
	// The generation is greater than @above from now on.
	virtual void raise(std::uint64_t above, Done done) = 0;
	// This instance is there until it leaves, or runs no more. Again: it is another than before.
	virtual void join(const Instance &instance) = 0;
	virtual void leave(Done done) = 0;
	virtual StoreState state() const = 0;
};

} // namespace cdc
