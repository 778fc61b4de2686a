// SPDX-License-Identifier: LGPL-2.1-or-later
// Sessions with targets whose PDUs are changed at random, several at a time. A session ends in bounded time, wrong data
// that can be detected are never returned as good, and nothing is left behind. /results/fuzz_pdu.txt lists the changes
// of each session.
//
// NVMEOF_FUZZ_SESSIONS: number of sessions [300]; NVMEOF_FUZZ_SEED: seed, printed;
// NVMEOF_FUZZ_SESSION: run this one alone; NVMEOF_FUZZ_WORKERS: sessions at a time [10]
#include "fuzz_session.h"
#include "support/reproduce.h"
#include "support/kernel_log.h"
#include "target/misbehaviour.h"

#include <catch2/catch.hpp>

#include <fstream>
#include <map>
#include <mutex>
#include <thread>

namespace guest::fuzz_pdu {

namespace {

constexpr std::uint64_t batch = 100; // sessions between two checks for leftovers

std::uint64_t number(const char *variable, std::uint64_t fallback)
{
	return std::stoull(environment(variable, std::to_string(fallback)));
}

std::string replay(std::uint64_t seed, std::uint64_t session)
{
	return reproduceCommand(
		"", {{"NVMEOF_FUZZ_SEED", std::to_string(seed)}, {"NVMEOF_FUZZ_SESSION", std::to_string(session)}});
}

// Sums over all sessions, and lines for each in a file. Thread safe.
class Journal {
public:
	explicit Journal(std::uint64_t seed) : seed_(seed), file_("/results/fuzz_pdu.txt", std::ios::app) {}

	// Called first, so that the file names the sessions of a guest that crashed.
	void begin(const FuzzSession &session)
	{
		std::lock_guard guard(lock_);
		markKernelLog("fuzz_pdu: " + session.describe());
		file_ << "begin " << session.describe() << std::endl;
	}

	void end(const FuzzOutcome &o)
	{
		std::lock_guard guard(lock_);
		sessions_++;
		live_ += o.live;
		disks_ += o.disk;
		good_ += o.good;
		failed_ += o.failed;
		deceived_ += o.deceived;
		lateWrites_ += o.lateWrites;
		maxSize_ = std::max(maxSize_, o.took);
		for (std::size_t i = 0; i < target::mutationKinds; i++)
			kinds_[i] += o.mutator->counts()[i];
		file_ << "end " << o.session << (o.live ? " live" : "") << " good " << o.good << " failed " << o.failed
		      << " " << o.took.count() << " ms, " << o.done << std::endl;
		if (o.fault.empty())
			return;
		faults_++;
		std::printf("fuzz_pdu: FAILED %lu:%lu: %s\n  %s\n  again: %s\n", seed_, o.session, o.fault.c_str(),
			    o.done.c_str(), replay(seed_, o.session).c_str());
		std::fflush(stdout);
	}

	void print(Millis took) const
	{
		double seconds = static_cast<double>(took.count()) / 1000;
		std::printf(
			"figure: fuzz_pdu: seed %lu: %lu sessions in %.1f s, %.1f/s; %lu came live, %lu had the disk; "
			"%lu I/Os good, %lu with errors, %lu deceived, %lu ghost writes; longest %ld ms\n",
			seed_, sessions_, seconds, static_cast<double>(sessions_) / seconds, live_, disks_, good_,
			failed_, deceived_, lateWrites_, maxSize_.count());
		std::uint64_t sum = 0;
		std::string text;
		for (auto &[kind, n] : kinds_) {
			sum += n;
			text += std::string(" ") + toString(static_cast<target::Mutation>(kind)) + " " +
				std::to_string(n);
		}
		std::printf("figure: mutations of PDUs: %lu:%s\n", sum, text.c_str());
		std::fflush(stdout);
	}

	std::uint64_t faults() const { return faults_; }
	std::uint64_t live() const { return live_; }
	std::uint64_t sessions() const { return sessions_; }
	std::uint64_t good() const { return good_; }
	std::size_t kinds() const
	{
		return static_cast<std::size_t>(
			std::count_if(kinds_.begin(), kinds_.end(), [](auto &k) { return k.second > 0; }));
	}

private:
	const std::uint64_t seed_;
	std::mutex lock_;
	std::ofstream file_;
	std::uint64_t sessions_ = 0, live_ = 0, disks_ = 0, good_ = 0, failed_ = 0, deceived_ = 0, lateWrites_ = 0,
		      faults_ = 0;
	Millis maxSize_{0};
	std::map<std::size_t, std::uint64_t> kinds_;
};

// Plays the sessions from first to end - 1 with several workers.
void runAll(Journal &journal, std::uint64_t seed, std::uint64_t first, std::uint64_t end, std::uint64_t workers)
{
	std::atomic<std::uint64_t> next{first};
	std::vector<std::jthread> threads;
	for (unsigned w = 0; w < workers; w++)
		threads.emplace_back([&, w] {
			auto client = take(nvmeof::Client::open());
			for (std::uint64_t n; (n = next++) < end;) {
				FuzzSession session(client, seed, n, w);
				journal.begin(session);
				journal.end(session.play());
			}
		});
}

std::string leftovers(nvmeof::Client &client)
{
	std::string text;
	for (auto &c : take(client.controllers()))
		text += " " + c.name;
	for (auto &n : take(client.namespaces()))
		text += " " + n.name;
	for (auto &s : take(client.subsystems()))
		text += " " + s.name;
	return text;
}

void checkBatch(Host &host, const KernelLog &log, std::uint64_t seed, std::uint64_t first, std::uint64_t end)
{
	INFO("sessions " << seed << ":" << first << " to " << end - 1);
	auto alarms = log.alarms();
	for (auto &line : alarms)
		std::printf("fuzz_pdu: kernel, in sessions %lu:%lu..%lu: %s\n", seed, first, end - 1, line.c_str());
	CHECK(alarms.empty());
	// The last close of a disk frees its subsystem, and a probe may still have it open.
	CHECK(eventually([&] { return leftovers(host.client()).empty(); }, 5s));
	INFO(leftovers(host.client()));
	CHECK(leftovers(host.client()).empty());
}

// A last session with a correct target
void checkGoodSession()
{
	target::Server server;
	server.stores().add(1, 8 << 20);
	Host host;
	host.connect(Host::options("127.0.0.1", std::to_string(server.port()), server.config().nqn));
	Disk disk(host.disk(1, 10s, server.config().nqn));
	CHECK(disk.verified(0, 131072, 1) == 0);
	CHECK(server.violations().empty());
}

} // namespace

TEST_CASE("PDUs changed at random break nothing", "[fuzz][pdu]")
{
	auto seed = seedFrom("NVMEOF_FUZZ_SEED");
	auto count = number("NVMEOF_FUZZ_SESSIONS", 300), first = std::uint64_t(0);
	auto only = environment("NVMEOF_FUZZ_SESSION", "");
	if (!only.empty()) {
		first = std::stoull(only);
		count = 1;
	}
	Host host;
	KernelLog log;
	Journal journal(seed);
	Stopwatch time;
	for (auto at = first; at < first + count && journal.faults() < 10; at += batch) {
		auto end = std::min(at + batch, first + count);
		runAll(journal, seed, at, end, number("NVMEOF_FUZZ_WORKERS", 10));
		checkBatch(host, log, seed, at, end);
	}
	journal.print(time.elapsed());
	CHECK(journal.faults() == 0);
	checkGoodSession();
	if (count < 300)
		return;
	CHECK(journal.live() > journal.sessions() / 10); // some sessions become live,
	CHECK(journal.live() < journal.sessions());      // but not all
	CHECK(journal.good() > journal.sessions());
	CHECK(journal.kinds() == target::mutationKinds);
}

TEST_CASE("wrong data that the target did not announce are found", "[fuzz][check]")
{
	static const target::Misbehaviour flip{"flip",
					       9,
					       target::Hook::wire,
					       target::When::io,
					       target::Expect::error,
					       target::Needs::nothing,
					       [](target::Strike &s) {
						       if (!s.ioRead() || s.raw->size() < 100)
							       return false;
						       (*s.raw)[80] ^= 1;
						       return true;
					       }};
	target::Server server;
	auto store = server.stores().add(1, 4 << 20);
	Host host;
	host.connect(Host::options("127.0.0.1", std::to_string(server.port()), server.config().nqn));
	auto nqn = server.config().nqn, node = host.disk(1, 10s, nqn);
	FuzzIo good(store, 0, 4 << 20, target::Random{1}), bad = good;
	good.run(node, nqn, Clock::now() + 10s, nullptr);
	CHECK(good.fault.empty());
	CHECK(good.good == 12);
	server.script().arm(flip, target::Script::forever);
	bad.run(node, nqn, Clock::now() + 10s, nullptr);
	CHECK_FALSE(bad.fault.empty());
}

} // namespace guest::fuzz_pdu
