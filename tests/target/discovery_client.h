// SPDX-License-Identifier: LGPL-2.1-or-later
// Reads a discovery log as a host does, for the target's own tests.
#pragma once

#include "client.h"
#include "discovery.h"

#include <algorithm>
#include <set>

namespace target {

constexpr int badField = st_invalid_field | st_dnr, badParam = st_connect_param | st_dnr;
constexpr int shortData = -2; // success status, but less data than requested

inline Queue discover(const Server &server, std::uint32_t kato = 0, int wanted = st_ok)
{
	return Queue(server, 0xffff, kato, wellKnownDiscoveryNqn, wanted);
}

inline bool same(const DiscoveryEntry &a, const DiscoveryEntry &b)
{
	return std::ranges::equal(bytesOf(a), bytesOf(b));
}

struct Log {
	int status = 0;
	DiscoveryHeader header{}, after{}; // read first, and again at the end
	std::vector<DiscoveryEntry> entries = {};

	bool torn() const { return header.genctr != after.genctr; }
	std::multiset<Bytes> content() const
	{
		std::multiset<Bytes> all;
		for (auto &e : entries)
			all.insert(encode(e));
		return all;
	}
};

inline bool operator==(const std::vector<DiscoveryEntry> &a, const std::vector<DiscoveryEntry> &b)
{
	return std::equal(a.begin(), a.end(), b.begin(), b.end(), same);
}

inline int piece(Queue &q, std::uint64_t offset, std::uint32_t bytes, bool retain = false)
{
	int status = q.run(getLog(log_discovery, offset, bytes, retain));
	return status || q.data().size() == bytes ? status : shortData;
}

inline int readHeader(Queue &q, DiscoveryHeader &to, bool retain = false)
{
	int status = piece(q, 0, sizeof(to), retain);
	if (!status)
		std::memcpy(&to, q.data().data(), sizeof(to));
	return status;
}

// Reads header, entries and the header again, as a host does, but limits NUMREC. most: maximum number of entries
inline Log readLog(Queue &q, std::uint64_t max = 100000, std::uint32_t step = 4096)
{
	Log log;
	log.status = readHeader(q, log.header, true);
	auto end = (std::min<std::uint64_t>(log.header.numrec, max) + 1) * discoveryBlock;
	Bytes all;
	for (std::uint64_t at = discoveryBlock; at < end && !log.status; at += step) {
		log.status = piece(q, at, static_cast<std::uint32_t>(std::min<std::uint64_t>(step, end - at)), true);
		all.insert(all.end(), q.data().begin(), q.data().end());
	}
	if (!log.status)
		log.status = readHeader(q, log.after);
	log.entries.resize(all.size() / discoveryBlock);
	if (!log.entries.empty())
		std::memcpy(static_cast<void *>(log.entries.data()), all.data(), log.entries.size() * discoveryBlock);
	return log;
}

inline void askForEvents(Queue &q)
{
	auto config = command(op_set_features, feat_async_event);
	config.cdw11 = 1u << 31;
	REQUIRE(q.run(config) == st_ok);
}

inline std::vector<DiscoveryEntry> made(std::size_t count)
{
	std::vector<DiscoveryEntry> list;
	for (std::size_t i = 0; i < count; i++)
		list.push_back(makeEntry(sub_nvm, "nqn.2024-01.io.nvmeof:made" + std::to_string(i), "127.0.0.1",
					 static_cast<std::uint16_t>(5000 + i % 1000)));
	return list;
}

constexpr std::uint32_t changed = event_discovery_changed.result();

} // namespace target
