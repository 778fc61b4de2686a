// SPDX-License-Identifier: LGPL-2.1-or-later
// The statistics of nvmeof-storm on what its hosts receive
#include <catch2/catch.hpp>

#include <cerrno>
#include <ctime>
#include <filesystem>
#include <iterator>
#include <system_error>

#include <unistd.h>

#include "nvmeof-storm/host.h"
#include "nvmeof-storm/log_check.h"
#include "nvmeof-storm/options.h"
#include "nvmeof-storm/storm.h"
#include "nvmeof-storm/report.h"

using namespace storm;
using namespace nofctl::wire;

namespace {

const Bytes header(1024);

Bytes bytes(std::size_t count, std::uint8_t of)
{
	return Bytes(count, of);
}

// A host that reads all of @log in pieces of @step bytes
void reads(KnownLogs &logs, const Bytes &log, std::size_t step, std::uint64_t generation = 7)
{
	KnownLogs::Reader reader;
	logs.begin(reader, header, generation, log.size() / 1024);
	for (std::size_t at = 0; at < log.size(); at += step)
		logs.take(reader, std::span(log).subspan(at, std::min(step, log.size() - at)));
	logs.end(reader);
}

std::vector<std::uint64_t> hosts(const KnownLogs &logs)
{
	std::vector<std::uint64_t> all;
	for (const auto &log : logs.logs())
		all.push_back(log->hosts);
	return all;
}

std::vector<std::string> complaints(const DiscoveryEntry &entry)
{
	std::vector<std::string> all;
	checkEntry(entry, [&](const char *what) { all.emplace_back(what); });
	return all;
}

} // namespace

TEST_CASE("equal logs are stored once, in whatever pieces and order hosts read them", "[storm]")
{
	KnownLogs logs;
	Bytes one = bytes(4096, 1), other = one;
	other[3000] = 2;
	reads(logs, one, 100);
	reads(logs, one, 4096);
	CHECK((hosts(logs) == std::vector<std::uint64_t>{2}));
	reads(logs, other, 4096);
	reads(logs, other, 7);
	CHECK((hosts(logs) == std::vector<std::uint64_t>{2, 2}));
	CHECK(logs.logs()[1]->entries == other);
	reads(logs, one, 1000, 8); // another generation
	CHECK((hosts(logs) == std::vector<std::uint64_t>{2, 2, 1}));
}

TEST_CASE("hosts that read concurrently with different content get different logs", "[storm]")
{
	KnownLogs logs;
	KnownLogs::Reader a, b, c;
	for (KnownLogs::Reader *reader : {&a, &b, &c})
		logs.begin(*reader, header, 1, 3);
	const auto feed = [&](KnownLogs::Reader &reader, const Bytes &data) { logs.take(reader, data); };
	feed(a, bytes(1024, 1));
	feed(b, bytes(512, 1));
	feed(b, bytes(1000, 1)); // beyond what any host has read
	feed(a, bytes(1000, 1));
	feed(c, bytes(1200, 1));
	feed(c, bytes(1872, 3)); // differs from the others here
	feed(b, bytes(1560, 2)); // differs as well, before a does
	feed(a, bytes(1048, 4));
	for (KnownLogs::Reader *reader : {&a, &b, &c})
		logs.end(*reader);
	REQUIRE(logs.logs().size() == 3);
	for (const auto &log : logs.logs()) {
		CHECK(log->hosts == 1);
		CHECK(log->entries.size() == 3072);
	}
}

TEST_CASE("the logs of several threads are merged", "[storm]")
{
	KnownLogs one, other;
	reads(one, bytes(1024, 1), 1024);
	reads(other, bytes(1024, 1), 100);
	reads(other, bytes(1024, 2), 100);
	one.merge(other);
	CHECK((hosts(one) == std::vector<std::uint64_t>{2, 1}));
}

TEST_CASE("with --same, two instances of a service that list each other agree", "[storm]")
{
	// The log of the instance @self: itself, the other instance, and a subsystem at @address
	auto logOf = [](std::size_t self, const char *address) {
		Bytes log;
		for (std::size_t i = 0; i < 2; i++)
			append(log, bytesOf(makeEntry(i == self ? sub_current : sub_referral,
						      "nqn.2024-01.io.nvmeof:cdc", i ? "10.0.0.2" : "10.0.0.1", 8009)));
		append(log, bytesOf(makeEntry(sub_nvm, "nqn.2024-01.io.nvmeof:a", address, 4420)));
		return log;
	};
	Options options;
	options.same = true;
	Outcome agree;
	reads(agree.logs, logOf(0, "10.0.1.1"), 4096);
	reads(agree.logs, logOf(1, "10.0.1.1"), 4096);
	CHECK(judge(options, agree) == ExitCode::good);
	CHECK(agree.counts.violations.empty());
	Outcome differ;
	reads(differ.logs, logOf(0, "10.0.1.1"), 4096);
	reads(differ.logs, logOf(1, "10.0.1.2"), 4096);
	CHECK(judge(options, differ) == ExitCode::wrong);
	Outcome later;
	reads(later.logs, logOf(0, "10.0.1.1"), 4096, 7);
	reads(later.logs, logOf(0, "10.0.1.2"), 4096, 8); // of another generation
	CHECK(judge(options, later) == ExitCode::good);
}

TEST_CASE("invalid entries are reported", "[storm]")
{
	const DiscoveryEntry good = makeEntry(sub_nvm, "nqn.2024-01.io.nvmeof:a", "10.0.0.1", 4420);
	CHECK(complaints(good).empty());
	DiscoveryEntry padded = good;
	setText(padded.traddr, "10.0.0.1", 0);
	setText(padded.trsvcid, "4420", 0);
	CHECK(complaints(padded).empty());
	using Change = void (*)(DiscoveryEntry &);
	const std::pair<Change, const char *> wrong[] = {
		{[](DiscoveryEntry &e) { e.reserved[19] = 1; }, "reserved bytes in an entry"},
		{[](DiscoveryEntry &e) { e.tsas[255] = 1; }, "reserved bytes in an entry"},
		{[](DiscoveryEntry &e) { e.trtype = 4; }, "an entry of an unknown transport or address family"},
		{[](DiscoveryEntry &e) { e.subtype = 0; }, "an entry that is neither a subsystem nor a service"},
		{[](DiscoveryEntry &e) { e.treq = 3; }, "an entry with a reserved TREQ"},
		{[](DiscoveryEntry &e) { e.cntlid = 0xfff0; }, "an entry with a reserved controller ID"},
		{[](DiscoveryEntry &e) { e.tsas[0] = 3; }, "an entry with a reserved SECTYPE"},
		{[](DiscoveryEntry &e) { setText(e.trsvcid, "", ' '); }, "an entry whose address is not text"},
		{[](DiscoveryEntry &e) { e.traddr[200] = 'x'; }, "an entry whose address is not text"},
		{[](DiscoveryEntry &e) { e.subnqn[3] = '\n'; }, "an entry with an invalid NQN"},
		{[](DiscoveryEntry &e) { setText(e.subnqn, "", 'x'); }, "an entry with an invalid NQN"},
	};
	for (const auto &[change, what] : wrong) {
		DiscoveryEntry entry = good;
		change(entry);
		INFO(what);
		CHECK(complaints(entry) == std::vector<std::string>{what});
	}
}

TEST_CASE("many durations are summarized by percentiles", "[storm]")
{
	CHECK(summarize({}).count == 0);
	Times times;
	for (std::uint32_t i = 1000; i > 0; i--)
		times.push_back(i * 1000);
	const Summary s = summarize(times);
	CHECK(s.count == 1000);
	CHECK(s.p50 == 500);
	CHECK(s.p90 == 900);
	CHECK(s.p99 == 990);
	CHECK(s.last == 1000);
	CHECK(summarize({5000}).p50 == 5);
}

TEST_CASE("each host has its own NQN and ID", "[storm]")
{
	CHECK(hostnqnOf("nqn.2014-08.org.nvmexpress:uuid:{uuid}", 0x102) ==
	      "nqn.2014-08.org.nvmexpress:uuid:00000000-0000-4000-8000-000000000102");
	CHECK(hostnqnOf("nqn.a:{}-{}", 12) == "nqn.a:12-12");
	CHECK(hostidOf(0x102)[6] == 0x40);
	CHECK(hostidOf(0x102)[14] == 1);
	CHECK(hostidOf(0x102)[15] == 2);
}

TEST_CASE("the CPU time of a process is read", "[storm]")
{
	const auto before = cpuTimeOf(::getpid());
	REQUIRE(before);
	timespec now{};
	const auto spent = [&] {
		::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
		return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
	};
	volatile unsigned turns = 0; // user time; reading the clock is system time
	for (const auto end = spent() + std::chrono::milliseconds(300); spent() < end;)
		for (int i = 0; i < 100000; i++)
			turns = turns + 1;
	const auto after = cpuTimeOf(::getpid());
	REQUIRE(after);
	const CpuTime took = *after - *before;
	CHECK(took.sum >= std::chrono::milliseconds(300));
	CHECK(took.sum < std::chrono::milliseconds(600));
	CHECK(after->sum <= spent());
	CHECK(took.user() > took.system());
	CHECK(took.user() + took.system() == took.sum);
	CHECK(CpuTime{std::chrono::seconds(4), 1, 3}.user() == std::chrono::seconds(1));
	CHECK(CpuTime{std::chrono::seconds(4)}.user() == std::chrono::seconds(0)); // shorter than a tick
	CHECK(memoryOf(::getpid()) > 0);
	CHECK_FALSE(cpuTimeOf(0x3fffffff));
	CHECK(memoryOf(0x3fffffff) == 0);
}

TEST_CASE("the counters of threads add up", "[storm]")
{
	Counts one, other;
	one.commands = 10;
	one.exchanges = 11;
	one.writes = 12;
	other = one;
	other.add(one);
	CHECK(other.commands == 20);
	CHECK(other.exchanges == 22);
	CHECK(other.writes == 24);
}

TEST_CASE("a socket for changes that cannot be connected is closed", "[storm]")
{
	auto openFiles = [] {
		return std::distance(std::filesystem::directory_iterator("/proc/self/fd"),
				     std::filesystem::directory_iterator());
	};
	PushOptions options;
	options.socket = "/nonexistent/nvmeof-storm.sock";
	const auto before = openFiles();
	int error = 0;
	try {
		makePush(options);
	} catch (const std::system_error &thrown) {
		error = thrown.code().value();
	}
	CHECK(error == ENOENT);
	CHECK(openFiles() == before);
}
