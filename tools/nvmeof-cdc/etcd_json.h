// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What etcd 3.4's JSON gateway is told, and what it answers: keys and values are base64, 64-bit numbers may be text,
 * and what is zero or empty is left out.
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

using Json = nlohmann::json;

std::string toBase64(std::string_view bytes);
std::optional<std::string> ofBase64(std::string_view text);

// The end of the range of all keys that begin with @prefix
std::string endOf(std::string prefix);

// Pieces of a transaction
Json put(std::string_view key, std::string_view value, std::int64_t lease = 0);
Json remove(std::string_view key);
Json isRevision(std::string_view key, std::uint64_t revision); // of its last change; 0: there is no such key
Json isValue(std::string_view key, std::string_view value);

struct Event {
	std::string key;
	std::optional<std::string> value; // nothing: the key is gone
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
	bool changed = false; // there is something of this revision
};

struct Notice { // of a watch
	Header header;
	bool created = false, canceled = false;
	std::uint64_t compacted = 0; // up to where events are gone
	std::string reason;
	std::vector<Event> events;
};

struct Lease {
	std::int64_t id = 0, ttl = 0; // seconds
};

nvmeof::Result<Range> rangeOf(const Json &answer);
nvmeof::Result<Transaction> transactionOf(const Json &answer);
nvmeof::Result<Notice> noticeOf(const Json &answer);
nvmeof::Result<Lease> leaseOf(const Json &answer);

} // namespace cdc::etcd
