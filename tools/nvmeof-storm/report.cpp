// SPDX-License-Identifier: LGPL-2.1-or-later
#include "report.h"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "libctl/base/text.h"
#include "log_check.h"

namespace storm {

using Json = nlohmann::ordered_json;
using initiator::Reason;

namespace {

constexpr int schemaVersion = 1;

double milliseconds(std::uint64_t microseconds)
{
	return static_cast<double>(microseconds) / 1000;
}

// @count per host that has read its log
double each(double count, const Counts &counts)
{
	return counts.good ? count / static_cast<double>(counts.good) : 0;
}

double microseconds(std::chrono::nanoseconds time)
{
	return static_cast<double>(time.count()) / 1000;
}

template <typename Fn> void eachFailure(const Counts &counts, Fn tell)
{
	for (std::size_t step = 0; step < counts.failures.size(); step++)
		for (std::size_t reason = 0; reason < reasonCount; reason++)
			if (const auto count = counts.failures[step][reason])
				tell(toString(static_cast<HostStep>(step)), toString(static_cast<Reason>(reason)),
				     count);
}

std::string line(const std::string &name, const Summary &s)
{
	return fmt::format("{:<12}{:>9}{:>11.3f}{:>11.3f}{:>11.3f}{:>11.3f}\n", name, s.count, s.p50, s.p90, s.p99,
			   s.last);
}

std::string timesText(const Counts &counts)
{
	std::string out =
		fmt::format("\n{:<12}{:>9}{:>11}{:>11}{:>11}{:>11}\n", "ms", "hosts", "p50", "p90", "p99", "last");
	for (std::size_t step = 0; step < stepCount; step++)
		if (const Summary s = summarize(counts.stepTimes[step]); s.count)
			out += line(toString(static_cast<HostStep>(step)), s);
	return out + line("whole", summarize(counts.whole));
}

std::string roundsText(const Outcome &outcome)
{
	std::string out;
	for (std::size_t i = 0; i < outcome.counts.rounds.size(); i++) {
		const Round &round = outcome.counts.rounds[i];
		out += fmt::format("\nchange {}: made after {:.3f} ms, {} hosts without the event\n", i + 1,
				   milliseconds(outcome.acknowledged[i]), round.missed);
		out += line("event", summarize(round.events));
		out += line("read", summarize(round.reads));
	}
	return out;
}

std::string logsText(const KnownLogs &logs)
{
	std::string out;
	for (const auto &log : logs.logs())
		if (log->hosts)
			out += fmt::format("log: generation {}, {} entries, read {} times\n", log->generation,
					   log->count, log->hosts);
	return out;
}

std::string costText(const Outcome &outcome)
{
	const Counts &counts = outcome.counts;
	std::string out = fmt::format("{} commands sent, {} exchanges, {} writes to sockets: {:.1f} exchanges a host\n",
				      counts.commands, counts.exchanges, counts.writes,
				      each(static_cast<double>(counts.exchanges), counts));
	auto line = [&](const char *whose, const CpuTime &time) {
		out += fmt::format("processor time of {}: {:.1f} us a host ({:.1f} user, {:.1f} system)\n", whose,
				   each(microseconds(time.sum), counts), each(microseconds(time.user()), counts),
				   each(microseconds(time.system()), counts));
	};
	if (outcome.serviceTime)
		line("the service", *outcome.serviceTime);
	line("this program", outcome.ownTime);
	return out;
}

std::string servedText(const Options &options, const Counts &counts)
{
	std::string out;
	for (std::size_t i = 0; i < counts.served.size() && counts.served.size() > 1; i++)
		out += fmt::format("{}: {} hosts\n", options.addresses[i], counts.served[i]);
	return out;
}

std::string troubleText(const Outcome &outcome)
{
	std::string out;
	eachFailure(outcome.counts, [&](const char *step, const char *reason, std::uint64_t count) {
		out += fmt::format("attempts that failed: {} at {}, {}\n", count, step, reason);
	});
	for (const auto &[why, hosts] : outcome.counts.failureReasons)
		out += fmt::format("hosts that failed: {}: {}\n", hosts, nofctl::printable(why));
	for (const auto &[what, count] : outcome.counts.violations)
		out += fmt::format("defect: {} times {}\n", count, what);
	if (!outcome.trouble.empty())
		out += outcome.trouble + "\n";
	return out;
}

Json jsonOf(const Summary &s)
{
	return {{"count", s.count}, {"p50", s.p50}, {"p90", s.p90}, {"p99", s.p99}, {"last", s.last}};
}

Json timesJson(const Counts &counts)
{
	Json times = Json::object();
	for (std::size_t step = 0; step < stepCount; step++)
		if (!counts.stepTimes[step].empty())
			times[toString(static_cast<HostStep>(step))] = jsonOf(summarize(counts.stepTimes[step]));
	times["whole"] = jsonOf(summarize(counts.whole));
	return times;
}

Json failuresJson(const Counts &counts)
{
	Json all = Json::array();
	eachFailure(counts, [&](const char *step, const char *reason, std::uint64_t count) {
		all.push_back({{"step", step}, {"reason", reason}, {"attempts", count}});
	});
	return all;
}

Json countedJson(const std::map<std::string, std::uint64_t> &what, const char *name, const char *number)
{
	Json all = Json::array();
	for (const auto &[text, count] : what)
		all.push_back({{name, nofctl::printable(text)}, {number, count}});
	return all;
}

Json logsJson(const KnownLogs &logs)
{
	Json all = Json::array();
	for (const auto &log : logs.logs())
		if (log->hosts)
			all.push_back(
				{{"generation", log->generation}, {"entries", log->count}, {"reads", log->hosts}});
	return all;
}

// Relative to the time when the change was made; negative if hosts were notified earlier
double after(double last, double made)
{
	return last - made;
}

Json roundsJson(const Outcome &outcome)
{
	Json all = Json::array();
	for (std::size_t i = 0; i < outcome.counts.rounds.size(); i++) {
		const Round &round = outcome.counts.rounds[i];
		const double made = milliseconds(outcome.acknowledged[i]);
		const Summary events = summarize(round.events), reads = summarize(round.reads);
		all.push_back({{"made_ms", made},
			       {"events_ms", jsonOf(events)},
			       {"reads_ms", jsonOf(reads)},
			       {"last_event_after_made_ms", after(events.last, made)},
			       {"last_read_after_made_ms", after(reads.last, made)},
			       {"missed", round.missed}});
	}
	return all;
}

Json costJson(const CpuTime &time, const Counts &counts)
{
	return {{"sum", each(microseconds(time.sum), counts)},
		{"user", each(microseconds(time.user()), counts)},
		{"system", each(microseconds(time.system()), counts)}};
}

Json servedJson(const Options &options, const Counts &counts)
{
	Json all = Json::array();
	for (std::size_t i = 0; i < counts.served.size(); i++)
		all.push_back({{"address", options.addresses[i]}, {"hosts", counts.served[i]}});
	return all;
}

} // namespace

std::string text(const Options &options, const Outcome &outcome, ExitCode code)
{
	const Counts &counts = outcome.counts;
	std::string out =
		fmt::format("{} hosts: {} have their log, {} failed, {} lost it; after {:.3f} ms: {}\n", options.hosts,
			    counts.good, counts.failed, counts.lost, milliseconds(outcome.elapsed), toString(code));
	out += fmt::format("{} attempts, {} to the next address, {} again; {} logs torn; {} events\n", counts.attempts,
			   counts.failovers, counts.retries, counts.torn, counts.events);
	out += fmt::format("{} bytes received, {} sent\n", counts.bytesIn, counts.bytesOut);
	out += costText(outcome);
	out += servedText(options, counts) + logsText(outcome.logs);
	if (outcome.memoryAfter)
		out += fmt::format("memory of the service: {} bytes before, {} with all hosts\n", outcome.memoryBefore,
				   outcome.memoryAfter);
	out += troubleText(outcome);
	if (counts.good)
		out += timesText(counts);
	return out + roundsText(outcome);
}

std::string json(const Options &options, const Outcome &outcome, ExitCode code)
{
	const Counts &counts = outcome.counts;
	Json whole{{"schema_version", schemaVersion}, {"verdict", toString(code)}};
	whole["hosts"] = options.hosts;
	whole["threads"] = options.threads;
	whole["good"] = counts.good;
	whole["failed"] = counts.failed;
	whole["lost"] = counts.lost;
	whole["elapsed_ms"] = milliseconds(outcome.elapsed);
	whole["attempts"] = counts.attempts;
	whole["fell_over"] = counts.failovers;
	whole["retries"] = counts.retries;
	whole["torn"] = counts.torn;
	whole["events"] = counts.events;
	whole["bytes_received"] = counts.bytesIn;
	whole["bytes_sent"] = counts.bytesOut;
	whole["commands"] = counts.commands;
	whole["exchanges"] = counts.exchanges;
	whole["writes"] = counts.writes;
	whole["exchanges_per_host"] = each(static_cast<double>(counts.exchanges), counts);
	whole["service_cpu_us_per_host"] = outcome.serviceTime ? costJson(*outcome.serviceTime, counts) : Json();
	whole["own_cpu_us_per_host"] = costJson(outcome.ownTime, counts);
	whole["served"] = servedJson(options, counts);
	whole["logs"] = logsJson(outcome.logs);
	whole["times_ms"] = timesJson(counts);
	whole["changes"] = roundsJson(outcome);
	whole["failures"] = failuresJson(counts);
	whole["endings"] = countedJson(counts.failureReasons, "why", "hosts");
	whole["oddities"] = countedJson(counts.violations, "what", "times");
	whole["memory_before"] = outcome.memoryBefore;
	whole["memory_after"] = outcome.memoryAfter;
	whole["trouble"] = outcome.trouble;
	return whole.dump(2) + "\n";
}

// ---- verdict

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
	for (const auto &log : logs.logs()) {
		if (!log->hosts)
			continue;
		Bytes entries = withoutOrigin(log->entries);
		const auto first = generations.find(log->generation);
		if (first == generations.end())
			generations.emplace(log->generation, std::move(entries));
		else if (first->second != entries)
			counts.addViolation("a log that differs from another one of the same generation", log->hosts);
	}
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

// The log that most hosts received; null: none
const KnownLogs::Log *usualLog(const KnownLogs &logs)
{
	const KnownLogs::Log *usual = nullptr;
	for (const auto &log : logs.logs())
		if (log->hosts && (!usual || log->hosts > usual->hosts))
			usual = log.get();
	return usual;
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
