// SPDX-License-Identifier: LGPL-2.1-or-later
// A loop that tests run until a condition holds, and stores with the records that they have reported.
#pragma once

#include <map>
#include <string>

#include <catch2/catch.hpp>

#include "model.h"
#include "libctl/runtime/loop.h"
#include "store.h"

namespace cdc {

// Runs the loop until @holds, which is evaluated after each turn, for at most 30 s.
template <typename Holds> bool until(runtime::Loop &loop, Holds holds)
{
	const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
	while (!holds()) {
		if (std::chrono::steady_clock::now() > end)
			return false;
		sd_event_run(loop.event(), 20000);
	}
	return true;
}

inline void turn(runtime::Loop &loop, std::chrono::milliseconds time)
{
	const auto end = std::chrono::steady_clock::now() + time;
	until(loop, [&] { return std::chrono::steady_clock::now() > end; });
}

inline Target aTarget(const std::string &name, const std::string &traddr = "10.0.0.1")
{
	Target target;
	target.nqn = "nqn.2024-01.io.nvmeof:" + name;
	target.traddr = traddr;
	return target;
}

inline Zone aZone(const std::string &name, std::vector<std::string> hosts = {}, std::vector<std::string> targets = {})
{
	Zone zone;
	zone.name = name;
	zone.hosts = std::move(hosts);
	zone.targets = std::move(targets);
	return zone;
}

inline Host aHost(const std::string &name)
{
	Host host;
	host.nqn = "nqn.2014-08.org.nvmexpress:uuid:" + name;
	return host;
}

inline Instance anInstance(const std::string &id)
{
	Instance instance;
	instance.id = id;
	instance.nqn = "nqn.2024-01.io.nvmeof:cdc-" + id;
	instance.addresses = {"10.0.0.9:8009"};
	return instance;
}

template <typename T> Change is(const T &record)
{
	return {record.key(), record.json().dump()};
}

template <typename T> Change isGone(const T &record)
{
	return {record.key(), {}};
}

// The records and generation that a store has reported so far
struct ReportedRecords {
	std::map<std::string, std::string> records;
	std::uint64_t generation = 0;
	std::size_t news = 0, whole = 0;
	bool fell = false; // the generation has fallen

	void operator()(const StoreUpdate &told)
	{
		news++;
		whole += told.whole;
		if (told.whole)
			records.clear();
		for (const Change &change : told.changes) {
			if (change.value)
				records[change.key] = *change.value;
			else
				records.erase(change.key);
		}
		fell = fell || told.generation < generation;
		generation = told.generation;
	}
	template <typename T> bool has(const T &record) const
	{
		auto found = records.find(record.key());
		return found != records.end() && found->second == record.json().dump();
	}
};

// Writes, and returns "" or the error message.
inline std::string written(runtime::Loop &loop, Store &store, std::vector<Change> changes)
{
	std::optional<std::string> outcome;
	store.write(std::move(changes),
		    [&](const nvmeof::Result<void> &done) { outcome = done ? "" : done.error().message; });
	return until(loop, [&] { return outcome.has_value(); }) ? *outcome : "no answer";
}

inline std::uint64_t nowMs()
{
	const auto now = std::chrono::system_clock::now().time_since_epoch();
	return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(now).count());
}

} // namespace cdc
