// SPDX-License-Identifier: LGPL-2.1-or-later
// The discovery logs that hosts received: which of them differ, and checks against NVMe Base 2.0, 5.16.1.23, down to
// the last byte.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "libctl/wire/bytes.h"
#include "libctl/wire/discovery_log.h"

namespace storm {

// Called with a constant text for the violation found in a header or entry, at most once per check.
using Complain = std::function<void(const char *what)>;

void checkHeader(const nofctl::wire::DiscoveryHeader &header, const Complain &complain);
void checkEntry(const nofctl::wire::DiscoveryEntry &entry, const Complain &complain);
// @entries: complete entries
void checkEntries(std::span<const std::uint8_t> entries, const Complain &complain);

/*
 * The distinct discovery logs that hosts received. Each received log is compared byte by byte, as it arrives, with the
 * known ones, and stored only where it is new. This shows which hosts received the same log, and no host needs memory
 * for its own copy.
 */
class KnownLogs {
public:
	struct Log {
		std::uint64_t generation, count;
		nofctl::wire::Bytes header, entries; // as much as any host has received
		std::uint64_t hosts = 0;             // that have read it completely
	};

	// The position of a host in a log
	class Reader {
	public:
		const Log *log() const { return log_; } // null: not stored, as there are too many

	private:
		friend class KnownLogs;
		Log *log_ = nullptr;
		std::uint64_t at_ = 0;
	};

	void begin(Reader &reader, std::span<const std::uint8_t> header, std::uint64_t generation, std::uint64_t count);
	// The next bytes of the entries
	void take(Reader &reader, std::span<const std::uint8_t> data);
	// The log was read completely.
	void end(Reader &reader);

	const std::vector<std::unique_ptr<Log>> &logs() const { return logs_; }
	std::uint64_t left() const { return unkept_; } // logs that were too many to be stored
	// Adds the logs of another thread, with their readers
	void merge(const KnownLogs &other);

private:
	Log *add(const Log &log);
	Log *other(const Log &than, std::uint64_t at, std::span<const std::uint8_t> data);

	std::vector<std::unique_ptr<Log>> logs_;
	std::uint64_t kept_ = 0, unkept_ = 0; // bytes; logs
};

} // namespace storm
