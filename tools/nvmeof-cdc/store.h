// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Storage of records. All changes of the model come from here, in the order of the writes by any instance. A write is
 * reported through OnUpdate before its Done is called. A store belongs to one event loop. After start() it does not
 * block, and after its destruction it calls nothing.
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
	std::optional<std::string> value; // JSON; absent: the record was removed
};

template <typename T> Change changeOf(const T &record)
{
	return {record.key(), storedText(record.json())};
}

// Of one write that has many records; etcd allows 4,032 and 1 MiB
constexpr std::size_t maxWriteRecords = 500, maxWriteBytes = 256 << 10;

struct StoreUpdate {
	bool whole = false; // @changes are all records
	std::vector<Change> changes;
	std::uint64_t generation = 0; // GENCTR after the changes: rises with each change that hosts see, never falls
};

struct StoreState {
	std::string engine;          // "sqlite", "etcd"
	std::string place;           // the file; or the current etcd member and the prefix
	bool writable = true;        // the last write succeeded, and the next one will not be refused at once
	std::string trouble = {};    // why not writable, or another problem, for messages
	std::int64_t staleSince = 0; // when changes of other instances stopped arriving, s since 1970; 0: they arrive
};

class Store {
public:
	using OnUpdate = std::function<void(StoreUpdate)>;
	using Done = std::function<void(nvmeof::Result<void>)>;

	virtual ~Store() = default;
	// Reports all records, at once or when they are known, and later each change; may report all records again.
	// Errors: permanent ones, with advice
	virtual nvmeof::Result<void> start(OnUpdate onUpdate) = 0;
	// Writes all of @changes or none. @done may be called at once. Errors: nothing was changed or, where the
	// message says so, the outcome is unknown
	virtual void write(std::vector<Change> changes, Done done) = 0;
	// Raises the generation above @above.
	virtual void raise(std::uint64_t above, Done done) = 0;
	// Announces this instance until it leaves or ends. A second call updates its record.
	virtual void join(const Instance &instance) = 0;
	virtual void leave(Done done) = 0;
	virtual StoreState state() const = 0;
};

} // namespace cdc
