// SPDX-License-Identifier: LGPL-2.1-or-later
// Makes every allocation of the driver fail once: nothing breaks or leaks, the caller gets an error, and the next try
// succeeds. A good run of each scenario counts its allocations; one run for each of them follows.
// NVMEOF_FAULT_POINTS=all fails each of them, otherwise only the first at each place in the driver.
// NVMEOF_FAULT_STRIDE=K fails every K-th of these, NVMEOF_FAULT=SCENARIO:N a single one. Needs the kernel of
// qemu/debug.
#include "support/reproduce.h"
#include "support/block.h"
#include "support/selection.h"
#include "support/failnth.h"
#include "support/multi.h"
#include "support/rig.h"
#include "target/server.h"

#include <catch2/catch.hpp>
#include <fcntl.h>
#include <linux/nvme_ioctl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <set>

namespace guest::faults {

using nvmeof::ControllerState;
using nvmeof::EventType;

namespace {

constexpr std::uint64_t mib = 1 << 20;

// Result of an action. The error is the message that a user reads.
struct Outcome {
	bool good = true;
	bool retried = false; // by the driver, which reported it in an event
	std::string error;

	static Outcome of(bool good, const std::string &error) { return {good, false, good ? "" : error}; }
	template <class T> static Outcome of(const nvmeof::Result<T> &r)
	{
		return of(r.ok(), r.ok() ? "" : r.error().message);
	}
	static Outcome ofErrno(int err) { return of(err == 0, err ? std::strerror(-err) : ""); }
};

struct Scenario {
	std::string name;
	std::function<void()> before;
	std::function<Outcome()> action;
	std::function<void(const Outcome &)> after; // checks the result and undoes the action
};

void nothing() {}
void noCheck(const Outcome &) {}

struct Tally {
	unsigned points = 0, sites = 0;                         // found by the counting run
	unsigned played = 0, errors = 0, fine = 0, retried = 0; // all runs, and runs with a failure by result
	unsigned missed = 0;                                    // runs with fewer allocations than the counting run
	std::set<std::string> messages;
};

// The allocations to fail. The one that NVMEOF_FAULT names is tried even if the counting run did not reach it.
std::vector<unsigned> choose(const std::string &scenario, const FailNth &fail)
{
	std::vector<unsigned> all;
	auto only = environment("NVMEOF_FAULT", "");
	if (!only.empty()) {
		auto colon = only.find(':');
		auto n = colon == std::string::npos ? 1 : std::stoul(only.substr(colon + 1));
		if (isSelected("NVMEOF_FAULT", scenario + ":" + std::to_string(n)))
			all.push_back(static_cast<unsigned>(n));
		return all;
	}
	if (environment("NVMEOF_FAULT_POINTS", "sites") == "all")
		for (unsigned n = 1; n <= fail.count(); n++)
			all.push_back(n);
	else
		for (auto &site : fail.sites())
			all.push_back(site.first);
	std::sort(all.begin(), all.end());
	auto stride = std::stoul(environment("NVMEOF_FAULT_STRIDE", "1"));
	std::vector<unsigned> some;
	for (std::size_t i = 0; i < all.size(); i += stride)
		some.push_back(all[i]);
	return some;
}

// Treats an exception as an error with a message: most test helpers throw errors of the library.
Outcome act(const Scenario &s)
{
	try {
		return s.action();
	} catch (const std::exception &e) {
		return Outcome::of(false, e.what());
	}
}

void good(const Scenario &s)
{
	s.before();
	auto out = act(s);
	INFO("nothing made to fail: " << out.error);
	CHECK(out.good);
	s.after(out);
}

void record(Tally &tally, const Outcome &out, const std::string &hit)
{
	tally.played++;
	tally.missed += hit.empty();
	tally.errors += !hit.empty() && !out.good;
	tally.fine += !hit.empty() && out.good && !out.retried;
	tally.retried += !hit.empty() && out.good && out.retried;
	if (!out.good)
		tally.messages.insert(out.error);
}

// Prints the start of the line before the run, so that the log of a guest that crashed names it.
void play(FailNth &fail, const Scenario &s, unsigned n, Tally &tally)
{
	recordChoice("NVMEOF_FAULT", s.name + ":" + std::to_string(n));
	s.before();
	std::printf("fault: %s:%u", s.name.c_str(), n);
	std::fflush(stdout);
	fail.arm(n);
	auto out = act(s);
	fail.settle();
	auto hit = fail.hit();
	fail.off();
	record(tally, out, hit);
	std::printf(" %s: %s%s%s\n", hit.empty() ? "not reached" : hit.substr(0, hit.find('\n')).c_str(),
		    out.good ? "good" : "error: ", out.error.c_str(), out.retried ? ", retried" : "");
	std::fflush(stdout);
	INFO("NVMEOF_FAULT='" << s.name << ":" << n << "' " << hit << "\n" << out.error);
	CHECK((out.good || !out.error.empty()));
	CHECK((out.good || !hit.empty())); // an error without a failed allocation
	s.after(out);
	good(s);
}

void print(const char *kind, const std::string &what, const Tally &t)
{
	std::printf("%s: %-28s %4u points %3u sites, %4u played: %3u errors, %3u good, %3u good after a retry, "
		    "%3u not reached\n",
		    kind, what.c_str(), t.points, t.sites, t.played, t.errors, t.fine, t.retried, t.missed);
}

// The last "figure:" line of a run has the totals.
void tell(const Scenario &s, const Tally &t)
{
	static Tally all;
	all.points += t.points;
	all.sites += t.sites;
	all.played += t.played;
	all.errors += t.errors;
	all.fine += t.fine;
	all.retried += t.retried;
	all.missed += t.missed;
	print("faults", s.name, t);
	for (auto &m : t.messages)
		std::printf("faults:     \"%s\"\n", m.c_str());
	print("figure: faults", "all scenarios", all);
	std::fflush(stdout);
}

Tally playAll(const Scenario &s)
{
	FailNth fail;
	Tally tally;
	good(s); // makes the one-time allocations
	s.before();
	fail.arm(0);
	auto out = act(s);
	fail.settle();
	tally.points = fail.count();
	tally.sites = static_cast<unsigned>(fail.sites().size());
	auto points = choose(s.name, fail);
	fail.off();
	s.after(out);
	REQUIRE(out.good);
	REQUIRE(tally.points > 0);
	for (auto n : points) {
		try {
			play(fail, s, n, tally);
		} catch (const std::exception &e) {
			FAIL_CHECK("NVMEOF_FAULT='" << s.name << ":" << n << "' " << e.what());
			fail.off();
		}
	}
	recordChoice("NVMEOF_FAULT", "");
	tell(s, tally);
	// With more misses, the runs do not match the counting run.
	CHECK(tally.missed * 10 <= (environment("NVMEOF_FAULT", "").empty() ? tally.played + 9 : 0));
	return tally;
}

// Disconnecting leaves no object behind.
void expectNothing(Host &host)
{
	host.disconnectAll();
	CHECK(eventually([&] { return take(host.client().controllers()).empty(); }));
	CHECK(eventually([&] { return take(host.client().namespaces()).empty(); }));
	CHECK(eventually([&] { return take(host.client().subsystems()).empty(); }));
}

// A device node exists shortly before it can be opened.
void expectVerified(const std::string &disk, std::uint32_t seed)
{
	CHECK(eventually([&] { return Disk(disk).fd() >= 0; }));
	Disk d(disk);
	CHECK(d.verified(0, 65536, seed) == 0);
}

// Connects; succeeds only if the disk appears as well.
Outcome connectAndLook(Host &host, const nvmeof::ConnectOptions &options)
{
	auto c = host.client().connect(options, nvmeof::WaitFor::namespaces, 60s);
	if (!c)
		return Outcome::of(c);
	auto disk = host.disk(1);
	return Outcome::of(!disk.empty(), host.controller(c->name).lastError);
}

// Records failed connect attempts, and checks that each event has a reason.
class FailedConnects {
public:
	bool failed()
	{
		bool any = false;
		for (auto &e : watch_.drain(50ms)) {
			if (e.type != EventType::connectFailed)
				continue;
			any = true;
			INFO("an attempt that failed without a reason");
			CHECK_FALSE(e.reason.empty());
		}
		return any;
	}

private:
	Watch watch_;
};

Outcome resetAndWait(Host &host, const std::string &name)
{
	FailedConnects attempts;
	auto before = host.controller(name).reconnects;
	auto reset = host.client().reset(name);
	if (!reset)
		return Outcome::of(reset);
	bool back = eventually(
		[&] {
			auto c = host.controller(name);
			return c.state == ControllerState::live && c.reconnects > before;
		},
		60s);
	return {back, attempts.failed(), back ? "" : host.controller(name).lastError};
}

// Blocks of a disk with known contents. After a failed write each sector holds the old or the new data.
class Blocks {
public:
	Blocks(const std::string &disk, std::size_t length) : disk_(disk), old_(length), now_(length) { write(); }

	const Disk &disk() const { return disk_; }
	int write()
	{
		old_.fill(seed_);
		now_.fill(++seed_);
		return disk_.write(0, now_);
	}
	int read()
	{
		Buffer in(now_.size());
		int err = disk_.read(0, in);
		if (!err)
			CHECK(in.holds(seed_)); // wrong data are worse than an error
		return err;
	}
	void expect(bool written)
	{
		Buffer in(now_.size());
		REQUIRE(disk_.read(0, in) == 0);
		CHECK((in.holds(seed_) || (!written && sectors(in))));
		REQUIRE(disk_.write(0, now_) == 0);
	}

private:
	// True if each sector holds the old or the new data.
	bool sectors(Buffer &in)
	{
		for (std::size_t at = 0; at < in.size(); at += 512)
			if (std::memcmp(in.data() + at, old_.data() + at, 512) &&
			    std::memcmp(in.data() + at, now_.data() + at, 512))
				return false;
		return true;
	}

	Disk disk_;
	Buffer old_, now_;
	std::uint32_t seed_ = 1;
};

// Repeats the I/O, because the allocations of one depend on earlier ones.
Outcome several(const std::function<int()> &io)
{
	for (int i = 0; i < 4; i++)
		if (int err = io())
			return Outcome::ofErrno(err);
	return {};
}

int passthru(const std::string &node, unsigned long request, nvme_passthru_cmd &cmd)
{
	int fd = ::open(node.c_str(), O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	int ret = ::ioctl(fd, request, &cmd);
	int err = ret < 0 ? -errno : ret ? -EREMOTEIO : 0;
	::close(fd);
	return err;
}

int identifyController(const std::string &node)
{
	Buffer data(4096);
	nvme_passthru_cmd cmd{};
	cmd.opcode = 0x06;
	cmd.cdw10 = 1;
	cmd.addr = reinterpret_cast<std::uintptr_t>(data.data());
	cmd.data_len = 4096;
	int err = passthru(node, NVME_IOCTL_ADMIN_CMD, cmd);
	if (!err)
		CHECK_FALSE(data.zero());
	return err;
}

int passthruIo(const std::string &disk, std::uint8_t opcode, Buffer &data)
{
	nvme_passthru_cmd cmd{};
	cmd.opcode = opcode;
	cmd.nsid = 1;
	cmd.cdw10 = 4096; // LBA that no other I/O of the test uses
	cmd.cdw12 = static_cast<std::uint32_t>(data.size() / 512 - 1);
	cmd.addr = reinterpret_cast<std::uintptr_t>(data.data());
	cmd.data_len = static_cast<std::uint32_t>(data.size());
	return passthru(disk, NVME_IOCTL_IO_CMD, cmd);
}

std::string policyOf(Host &host)
{
	auto s = take(host.client().subsystems()).at(0);
	return s.iopolicy + " " + std::to_string(s.spillLatency.count()) + " " + toString(s.fencing);
}

nvmeof::SubsystemSettings policy(const std::string &selector, std::chrono::microseconds spill, nvmeof::Fencing fencing)
{
	nvmeof::SubsystemSettings s;
	s.iopolicy = selector;
	s.spillLatency = spill;
	s.fencing = fencing;
	return s;
}

} // namespace

TEST_CASE("faults: connect", "[faults][connect]")
{
	Rig rig;
	auto o = rig.options();
	std::string name = "connect";
	SECTION("plain") {}
	SECTION("with digests and a polled queue")
	{
		name = "connect-digests";
		o.hdrDigest = o.dataDigest = true;
		o.pollQueues = 1;
	}
	auto tally = playAll(
		{name, nothing, [&] { return connectAndLook(rig.host, o); },
		 [&](const Outcome &out) {
			 if (out.good)
				 expectVerified(rig.disk(), 1);
			 else // a failed first connect is not retried; the controller is removed
				 CHECK(eventually([&] { return take(rig.host.client().controllers()).empty(); }));
			 expectNothing(rig.host);
		 }});
	CHECK((tally.errors > 0 || tally.played < 10)); // a connect fails without most of its allocations
}

TEST_CASE("faults: a second path", "[faults][connect]")
{
	Rig rig;
	nvmet::Port second(2, "127.0.0.1", 4421);
	second.link(rig.subsystem);
	auto first = rig.connect();
	auto o = Host::options("127.0.0.1", "4421");
	playAll({"second-path", nothing,
		 [&] {
			 auto c = rig.host.client().connect(o, nvmeof::WaitFor::namespaces, 60s);
			 if (!c)
				 return Outcome::of(c);
			 bool joined = eventually([&] { return rig.host.nameSpace(1)->paths == 2; });
			 return Outcome::of(joined, rig.host.controller(c->name).lastError);
		 },
		 [&](const Outcome &) {
			 expectVerified(rig.disk(), 2);
			 for (auto &c : take(rig.host.client().controllers()))
				 if (c.name != first.name)
					 CHECK(rig.host.client().disconnect(c.name).ok());
			 CHECK(rig.host.nameSpace(1)->paths == 1);
		 }});
}

// The second path may have joined a disk that then cannot be added.
TEST_CASE("faults: two paths at once", "[faults][connect]")
{
	Rig rig;
	nvmet::Port second(2, "127.0.0.1", 4421);
	second.link(rig.subsystem);
	std::vector<nvmeof::ConnectOptions> both{rig.options(), Host::options("127.0.0.1", "4421")};
	playAll({"two-paths", nothing,
		 [&] {
			 Outcome out;
			 for (auto &c : rig.host.client().connectAll(both, nvmeof::WaitFor::namespaces, 60s))
				 if (!c)
					 out = Outcome::of(c);
			 return out;
		 },
		 [&](const Outcome &out) {
			 auto there = take(rig.host.client().controllers()).size();
			 if (out.good)
				 CHECK(there == 2);
			 CHECK(eventually([&] { return rig.host.paths().size() == there; }, 40s));
			 if (there)
				 expectVerified(rig.disk(), 9);
			 expectNothing(rig.host);
		 }});
}

TEST_CASE("faults: an asynchronous event that names a log page", "[faults][events]")
{
	target::Server server;
	server.stores().add(1, 16 * mib);
	Host host;
	auto o = Host::options("127.0.0.1", std::to_string(server.port()), server.config().nqn);
	auto c = host.connect(o);
	// The controller reports no further event of this type until the log page is read.
	auto read = [&] {
		auto before = server.counters().errorLogs.load();
		server.sendEvent({0, 4, target::log_error});
		bool was = eventually([&] { return server.counters().errorLogs > before; });
		return Outcome::of(was, "the log was not read");
	};
	playAll({"event-of-target", nothing, read, [&](const Outcome &out) {
			 CHECK(out.good);
			 CHECK(host.state(c.name) == ControllerState::live);
		 }});
}

TEST_CASE("faults: disconnect", "[faults][disconnect]")
{
	Rig rig;
	std::string name;
	playAll({"disconnect", [&] { name = rig.connect().name; },
		 [&] { return Outcome::of(rig.host.client().disconnect(name)); },
		 [&](const Outcome &) { expectNothing(rig.host); }});
}

TEST_CASE("faults: a namespace is added", "[faults][scan]")
{
	Rig rig;
	auto c = rig.connect();
	Loop backing(16 * mib);
	playAll({"namespace-comes", nothing,
		 [&] {
			 rig.subsystem.addNamespace(2, backing.device());
			 bool there = !rig.host.disk(2, 15s).empty();
			 return Outcome::of(there, rig.host.controller(c.name).lastError);
		 },
		 [&](const Outcome &out) {
			 if (!out.good)
				 CHECK(rig.host.client().rescan(c.name).ok());
			 auto disk = rig.host.disk(2);
			 CHECK_FALSE(disk.empty());
			 expectVerified(disk, 3);
			 rig.subsystem.removeNamespace(2);
			 // An event reports the removal; a failure above must not have disabled events.
			 CHECK(eventually([&] { return !rig.host.nameSpace(2); }, 15s));
			 CHECK(rig.host.state(c.name) == ControllerState::live);
		 }});
}

TEST_CASE("faults: a namespace is removed", "[faults][scan]")
{
	Rig rig;
	auto c = rig.connect();
	Loop backing(16 * mib);
	playAll({"namespace-goes",
		 [&] {
			 rig.subsystem.addNamespace(2, backing.device());
			 REQUIRE_FALSE(rig.host.disk(2, 15s).empty());
		 },
		 [&] {
			 rig.subsystem.removeNamespace(2);
			 bool gone = eventually([&] { return !rig.host.nameSpace(2); }, 15s);
			 return Outcome::of(gone, rig.host.controller(c.name).lastError);
		 },
		 [&](const Outcome &out) {
			 if (!out.good)
				 CHECK(rig.host.client().rescan(c.name).ok());
			 CHECK_FALSE(rig.host.nameSpace(2));
			 CHECK(rig.host.state(c.name) == ControllerState::live);
		 }});
}

TEST_CASE("faults: rescan by hand", "[faults][scan]")
{
	Rig rig;
	auto c = rig.connect();
	playAll({"rescan", nothing, [&] { return Outcome::of(rig.host.client().rescan(c.name)); },
		 [&](const Outcome &) {
			 CHECK(take(rig.host.client().namespaces()).size() == 1);
			 expectVerified(rig.disk(), 4);
		 }});
}

TEST_CASE("faults: reconnect", "[faults][reconnect]")
{
	Rig rig;
	auto c = rig.connect();
	std::string name = "reconnect";
	SECTION("with default fencing") {}
	SECTION("with fencing=safe")
	{
		name = "reconnect-safe";
		nvmeof::SubsystemSettings s;
		s.fencing = nvmeof::Fencing::safe;
		s.quiesceTimeout = std::chrono::seconds(1);
		REQUIRE(rig.host.client().set(take(rig.host.client().subsystems()).at(0).name, s).ok());
	}
	playAll({name, nothing, [&] { return resetAndWait(rig.host, c.name); },
		 [&](const Outcome &) {
			 CHECK(rig.host.waitState(c.name, ControllerState::live, 60s));
			 expectVerified(rig.disk(), 5);
			 CHECK(rig.host.busy() == 0);
		 }});
}

TEST_CASE("faults: I/O", "[faults][io]")
{
	Rig rig;
	auto o = rig.options();
	std::string how;
	SECTION("plain") {}
	SECTION("with digests")
	{
		how = "-digests";
		o.hdrDigest = o.dataDigest = true;
	}
	auto c = rig.host.connect(o);
	auto node = rig.disk();
	Blocks small(node, 4096);
	Disk other(node);
	// Each user has its own part of the disk.
	Buffer data(65536), in(65536);
	auto alive = [&](const Outcome &) {
		CHECK(rig.host.waitState(c.name, ControllerState::live, 60s));
		CHECK(eventually([&] { return rig.host.busy() == 0; }));
	};
	auto written = [&](const Outcome &out) {
		alive(out);
		small.expect(out.good);
	};
	playAll({"write" + how, nothing, [&] { return several([&] { return small.write(); }); }, written});
	playAll({"read" + how, nothing, [&] { return several([&] { return small.read(); }); }, alive});
	{
		Blocks large(node, 256 * 1024);
		playAll({"write-large" + how, nothing, [&] { return Outcome::ofErrno(large.write()); },
			 [&](const Outcome &out) {
				 alive(out);
				 large.expect(out.good);
			 }});
		playAll({"read-large" + how, nothing, [&] { return Outcome::ofErrno(large.read()); }, alive});
	}
	auto flush = [&] {
		int err = small.write();
		return err ? err : small.disk().flush();
	};
	playAll({"flush" + how, nothing, [&] { return several(flush); }, written});
	auto zeroed = [&](const Outcome &out) {
		alive(out);
		REQUIRE(other.read(mib, in) == 0);
		CHECK((in.zero() || !out.good));
	};
	auto fill = [&] {
		data.fill(6);
		REQUIRE(other.write(mib, data) == 0);
	};
	playAll({"write-zeroes" + how, fill, [&] { return Outcome::ofErrno(other.zeroOut(mib, data.size())); },
		 zeroed});
	playAll({"discard" + how, fill, [&] { return Outcome::ofErrno(other.discard(mib, data.size())); }, zeroed});
}

TEST_CASE("faults: passthrough", "[faults][io][passthru]")
{
	Rig rig;
	auto c = rig.connect();
	auto node = rig.disk();
	Buffer out(16384), in(16384);
	out.fill(7);
	auto alive = [&](const Outcome &) { CHECK(rig.host.state(c.name) == ControllerState::live); };
	playAll({"passthru-admin", nothing, [&] { return Outcome::ofErrno(identifyController("/dev/" + c.name)); },
		 alive});
	playAll({"passthru-write", nothing, [&] { return Outcome::ofErrno(passthruIo(node, 1, out)); }, alive});
	playAll({"passthru-read", nothing,
		 [&] {
			 int err = passthruIo(node, 2, in);
			 if (!err)
				 CHECK(in.holds(7));
			 return Outcome::ofErrno(err);
		 },
		 alive});
}

TEST_CASE("faults: settings", "[faults][control]")
{
	Rig rig;
	auto c = rig.connect();
	auto s = take(rig.host.client().subsystems()).at(0).name;
	Watch listener; // without a listener, a change allocates no event
	auto usual = policy("numa", 0us, nvmeof::Fencing::immediate);
	auto other = policy("round-robin", 500us, nvmeof::Fencing::safe);
	playAll({"set-policy", [&] { REQUIRE(rig.host.client().set(s, usual).ok()); },
		 [&] { return Outcome::of(rig.host.client().set(s, other)); },
		 [&](const Outcome &out) {
			 CHECK(policyOf(rig.host) == (out.good ? "round-robin 500 safe" : "numa 0 immediate"));
		 }});
	nvmeof::ControllerSettings loss;
	loss.ctrlLoss = 44s;
	playAll({"set-controller",
		 [&] {
			 nvmeof::ControllerSettings back;
			 back.ctrlLoss = 33s;
			 REQUIRE(rig.host.client().set(c.name, back).ok());
		 },
		 [&] { return Outcome::of(rig.host.client().set(c.name, loss)); },
		 [&](const Outcome &out) { CHECK(rig.host.controller(c.name).ctrlLoss == (out.good ? 44s : 33s)); }});
}

TEST_CASE("faults: listings", "[faults][control]")
{
	Rig rig;
	rig.connect();
	auto &client = rig.host.client();
	playAll({"list", nothing,
		 [&] {
			 for (auto count : {take(client.subsystems()).size(), take(client.controllers()).size(),
					    take(client.namespaces()).size(), take(client.paths()).size()})
				 CHECK(count == 1);
			 take(client.controller(take(client.controllers()).at(0).name));
			 take(client.version());
			 return Outcome{};
		 },
		 noCheck});
}

TEST_CASE("faults: events", "[faults][control][events]")
{
	Rig rig;
	rig.connect();
	auto s = take(rig.host.client().subsystems()).at(0).name;
	std::optional<Watch> watch;
	std::uint32_t depth = 1;
	playAll({"event", [&] { watch.emplace(); },
		 [&] {
			 nvmeof::SubsystemSettings wanted;
			 wanted.spillDepth = depth = 3 - depth;
			 auto set = rig.host.client().set(s, wanted);
			 // Either the event arrives, or one that reports its loss.
			 bool lost = false;
			 bool told = watch->find([&](const nvmeof::Event &e) {
						  lost |= e.type == EventType::lost;
						  return e.subsystem() && (e.type == EventType::changed || lost);
					  }).has_value();
			 CHECK(told);
			 auto out = Outcome::of(set);
			 out.retried = lost;
			 return out;
		 },
		 [&](const Outcome &) { watch.reset(); }});
}

TEST_CASE("faults: loading", "[faults][load]")
{
	Host host;
	host.forget();
	auto gone = [] {
		if (Host::loaded())
			REQUIRE(eventually([] { return Host::unload().status == 0 || !Host::loaded(); }));
	};
	playAll({"load", gone,
		 [&] {
			 auto out = run("modprobe nvmeof_tcp");
			 return Outcome::of(out.status == 0, out.text);
		 },
		 [&](const Outcome &) { gone(); }});
	Host::load();
	host.reopen();
}

} // namespace guest::faults
