// SPDX-License-Identifier: LGPL-2.1-or-later
#include "discovery_log.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <string>
#include <vector>

#include "discovery_entry.h"
#include "wire/status.h"

namespace nofctl {

using namespace nvmeof;

namespace {

constexpr std::size_t blockSize = wire::discoveryBlock;

using Block = std::array<std::uint8_t, blockSize>;
using Entries = std::vector<DiscoveryEntry>;

struct Header {
	std::uint64_t generation = 0;
	std::uint64_t entries = 0;

	bool operator==(const Header &) const = default;
};

Error unusable(std::string why)
{
	Error error;
	error.sysErrno = EPROTO;
	error.message = "the discovery log is unusable: " + std::move(why);
	return error;
}

Result<Header> decodeHeader(const Block &block)
{
	const auto raw = *wire::decode<wire::DiscoveryHeader>(block);
	if (std::uint16_t format = raw.recfmt)
		return unusable("its format " + std::to_string(format) + " is not supported");
	Header header{raw.genctr, raw.numrec};
	if (header.entries > maxDiscoveryEntries)
		return unusable("it has " + std::to_string(header.entries) + " entries, more than the limit of " +
				std::to_string(maxDiscoveryEntries));
	return header;
}

class LogReader {
public:
	explicit LogReader(LogSource &source) : source_(source) {}

	// Nothing: the log changed during the read.
	Result<std::optional<DiscoveryLog>> once();
	// Reads the header without RAE, which re-enables the change event: a defect of the whole log may be fixed
	// later, and the next change must be reported then.
	Error giveUp(Error why);

private:
	Result<Header> header(bool retain);
	Result<void> entries(std::uint64_t count);
	Result<void> piece(std::uint64_t at, std::size_t length);

	LogSource &source_;
	Block first_{};
	Entries entries_;
};

Result<Header> LogReader::header(bool retain)
{
	if (Result<void> done = source_.read(0, std::as_writable_bytes(std::span(first_)), retain); !done)
		return done.error();
	return decodeHeader(first_);
}

// The first piece repeats the header.
Result<void> LogReader::piece(std::uint64_t at, std::size_t length)
{
	wire::Bytes bytes(length);
	if (Result<void> done = source_.read(at, std::as_writable_bytes(std::span(bytes)), true); !done)
		return done;
	std::span<const std::uint8_t> rest(bytes);
	if (at == 0)
		rest = rest.subspan(blockSize);
	else if (std::ranges::equal(rest.first(blockSize), first_))
		return unusable("reads at an offset return its beginning");
	for (; !rest.empty(); rest = rest.subspan(blockSize))
		entries_.push_back(describe(*wire::decode<wire::DiscoveryEntry>(rest)));
	return {};
}

Result<void> LogReader::entries(std::uint64_t count)
{
	std::uint64_t end = (count + 1) * blockSize;
	std::size_t max = source_.max() / blockSize * blockSize;
	if (end > max && !source_.offsets())
		return unusable("it has " + std::to_string(end) + " bytes, but the controller allows to read only " +
				std::to_string(max));
	entries_.clear();
	entries_.reserve(count);
	for (std::uint64_t at = 0; count && at < end; at += max) {
		auto length = static_cast<std::size_t>(std::min<std::uint64_t>(max, end - at));
		if (Result<void> done = piece(at, length); !done)
			return done;
	}
	return {};
}

Result<std::optional<DiscoveryLog>> LogReader::once()
{
	Result<Header> before = header(true);
	if (!before)
		return before.error();
	Result<void> read = entries(before->entries);
	if (!read && !read.error().nvmeStatus)
		return read.error();
	// A read beyond the end of a shortened log is refused. So after an error, too, check whether the log has
	// changed.
	Result<Header> after = header(!read);
	if (after && *after != *before)
		return std::optional<DiscoveryLog>();
	if (!read)
		return read.error();
	if (!after)
		return after.error();
	return std::optional<DiscoveryLog>({before->generation, std::move(entries_)});
}

Error LogReader::giveUp(Error why)
{
	if (why.sysErrno == EPROTO)
		static_cast<void>(source_.read(0, std::as_writable_bytes(std::span(first_)), false));
	return why;
}

bool asksForRestart(const Error &error)
{
	return error.nvmeStatus == wire::st_discover_restart;
}

} // namespace

Result<DiscoveryLog> readDiscoveryLog(LogSource &source)
{
	LogReader reader(source);
	for (int tries = 1;; tries++) {
		Result<std::optional<DiscoveryLog>> log = reader.once();
		if (!log && !asksForRestart(log.error()))
			return reader.giveUp(log.error());
		if (log && *log)
			return **std::move(log);
		if (tries < discoveryTries && source.again(tries))
			continue;
		return unusable("it changed while it was read, " + std::to_string(tries) +
				(tries == 1 ? " time" : " times"));
	}
}

} // namespace nofctl
