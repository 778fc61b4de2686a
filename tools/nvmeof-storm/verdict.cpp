// SPDX-License-Identifier: LGPL-2.1-or-later
#include "verdict.h"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>

#include <fmt/format.h>

#include "log_check.h"

namespace storm {

using namespace nofctl::wire;

namespace {

// Each log was received by many hosts: it is checked once, and a violation counts for all of them.
void checkLog(const KnownLogs::Log &log, Counts &counts)
{
	const auto complain = [&](const char *what) { counts.addViolation(what, log.hosts); };
	checkHeader(*decode<DiscoveryHeader>(log.header), complain);
	checkEntries(log.entries, complain);
	if (log.entries.size() != log.count * discoveryBlock)
		complain("a log whose length differs from its header");
}

// The entries as each instance of one service lists them: an instance lists itself as the current subsystem, and the
// others as referrals, so this is no difference between their logs.
Bytes withoutOrigin(const Bytes &entries)
{
	Bytes all = entries;
	for (std::size_t at = 0; at + sizeof(DiscoveryEntry) <= all.size(); at += sizeof(DiscoveryEntry)) {
		std::uint8_t &subtype = all[at + offsetof(DiscoveryEntry, subtype)];
		if (subtype == sub_current)
			subtype = sub_referral;
	}
	return all;
}

void checkSame(const KnownLogs &logs, Counts &counts)
{
	std::map<std::uint64_t, Bytes> generations; // with the first log of each
	for (const auto &log : logs.logs())
		if (log->hosts && generations.try_emplace(log->generation, withoutOrigin(log->entries)).first->second !=
					  withoutOrigin(log->entries))
			counts.addViolation("a log that differs from another one of the same generation", log->hosts);
}

void checkExpected(const KnownLogs &logs, const std::string &file, Counts &counts)
{
	std::ifstream in(file, std::ios::binary);
	const std::vector<char> all{std::istreambuf_iterator<char>(in), {}};
	const std::span<const std::uint8_t> bytes(reinterpret_cast<const std::uint8_t *>(all.data()), all.size());
	const auto entries = bytes.subspan(std::min(bytes.size(), discoveryBlock));
	for (const auto &log : logs.logs()) {
		if (!log->hosts || std::ranges::equal(log->entries, entries))
			continue;
		const auto differs = std::ranges::mismatch(log->entries, entries).in1 - log->entries.begin();
		counts.addViolation(
			fmt::format("a log that is not the expected one: {} entries, other from entry {}, byte {} on",
				    log->count, static_cast<std::size_t>(differs) / discoveryBlock,
				    static_cast<std::size_t>(differs) % discoveryBlock),
			log->hosts);
	}
}

bool late(const Counts &counts)
{
	return std::ranges::any_of(counts.rounds, [](const Round &round) { return round.missed != 0; });
}

} // namespace

ExitCode judge(const Options &options, Outcome &outcome)
{
	Counts &counts = outcome.counts;
	for (const auto &log : outcome.logs.logs())
		if (log->hosts)
			checkLog(*log, counts);
	if (options.same)
		checkSame(outcome.logs, counts);
	if (!options.expect.empty())
		checkExpected(outcome.logs, options.expect, counts);
	if (outcome.logs.left())
		counts.addViolation("more different logs than can be kept and compared", outcome.logs.left());
	if (!outcome.trouble.empty())
		return ExitCode::local;
	if (counts.failed || counts.lost)
		return ExitCode::failed;
	if (!counts.violations.empty())
		return ExitCode::wrong;
	return late(counts) ? ExitCode::late : ExitCode::good;
}

const char *toString(ExitCode code)
{
	constexpr std::array names{"good", "failed", "usage", "local", "wrong", "late"};
	return names[static_cast<std::size_t>(code)];
}

const KnownLogs::Log *usualLog(const KnownLogs &logs)
{
	const KnownLogs::Log *usual = nullptr;
	for (const auto &log : logs.logs())
		if (log->hosts && (!usual || log->hosts > usual->hosts))
			usual = log.get();
	return usual;
}

std::string save(const KnownLogs &logs, const std::string &file)
{
	const KnownLogs::Log *log = usualLog(logs);
	if (!log)
		return "no log to save";
	std::ofstream out(file, std::ios::binary | std::ios::trunc);
	for (const Bytes *part : {&log->header, &log->entries})
		out.write(reinterpret_cast<const char *>(part->data()), static_cast<std::streamsize>(part->size()));
	out.flush();
	return out ? "" : fmt::format("{}: {}", file, std::strerror(errno));
}

} // namespace storm
