// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Requests to and responses from the JSON gateway of etcd 3.4. Keys and values are base64, 64-bit numbers may be
 * strings, and members that are zero or empty are omitted.
 */
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>
#include <nvmeof/result.h>

namespace cdc::etcd {

using JsonValue = nlohmann::json;

std::string toBase64(std::string_view bytes);
std::optional<std::string> ofBase64(std::string_view text);

// The end of the range of all keys that begin with @prefix
std::string endOf(std::string prefix);

// Operations and comparisons of a transaction
JsonValue put(std::string_view key, std::string_view value, std::int64_t lease = 0);
JsonValue remove(std::string_view key);
JsonValue isRevision(std::string_view key,
		     std::uint64_t revision); // compares the mod revision; 0: the key does not exist
JsonValue isValue(std::string_view key, std::string_view value);

struct Event {
	std::string key;
	std::optional<std::string> value; // absent: the key was deleted
	std::uint64_t revision = 0;       // of the change
};

struct Header {
	std::uint64_t cluster = 0, revision = 0;
};

struct Range {
	Header header;
	std::vector<Event> records;
	bool more = false;
};

struct Transaction {
	Header header;
	bool succeeded = false;
	bool changed = false; // the transaction caused an event in this revision
};

struct Notice { // message of a watch stream
	Header header;
	bool created = false, canceled = false;
	std::uint64_t compacted = 0; // compact_revision: earlier events are gone
	std::string reason;
	std::vector<Event> events;
};

struct Lease {
	std::int64_t id = 0, ttl = 0; // seconds
};

nvmeof::Result<Range> rangeOf(const JsonValue &answer);
nvmeof::Result<Transaction> transactionOf(const JsonValue &answer);
nvmeof::Result<Notice> noticeOf(const JsonValue &answer);
nvmeof::Result<Lease> leaseOf(const JsonValue &answer);

} // namespace cdc::etcd
