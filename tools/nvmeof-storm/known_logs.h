// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The discovery logs that hosts have been told, each kept once: what a host is told is compared, as it comes, with what
 * others were told before, byte by byte, and kept only where it is new. So all hosts of a view are known to have been
 * told the same, and no host needs memory for its log.
 */
#pragma once

#include <memory>
#include <vector>

#include "libctl/wire/bytes.h"

namespace storm {

class KnownLogs {
public:
	struct Log {
		std::uint64_t generation, count;
		nofctl::wire::Bytes header, entries; // as far as somebody has been told
		std::uint64_t hosts = 0;             // that have read it to its end
	};

	// A host's place in one of them
	class Reader {
	public:
		const Log *log() const { return log_; } // null: it is one too many to be kept

	private:
		friend class KnownLogs;
		Log *log_ = nullptr;
		std::uint64_t at_ = 0;
	};

	void begin(Reader &reader, std::span<const std::uint8_t> header, std::uint64_t generation, std::uint64_t count);
	// The next bytes of the entries
	void take(Reader &reader, std::span<const std::uint8_t> data);
	// It has read all of it.
	void end(Reader &reader);

	const std::vector<std::unique_ptr<Log>> &logs() const { return logs_; }
	std::uint64_t left() const { return unkept_; } // out of account, as they were too many
	// Those of another thread, with all that read them
	void merge(const KnownLogs &other);

private:
	Log *add(const Log &log);
	Log *other(const Log &than, std::uint64_t at, std::span<const std::uint8_t> data);

	std::vector<std::unique_ptr<Log>> logs_;
	std::uint64_t kept_ = 0, unkept_ = 0; // bytes; logs
};

} // namespace storm
