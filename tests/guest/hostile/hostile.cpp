// SPDX-License-Identifier: LGPL-2.1-or-later
// How the host handles a misbehaving target, which runs in this process.
#include "hostile_tally.h"
#include "support/reproduce.h"
#include "support/block.h"
#include "support/selection.h"
#include "support/fio.h"
#include "support/ports.h"
#include "target/acts.h"
#include "target/connection.h"
#include "target/identify.h"

#include <catch2/catch.hpp>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <random>
#include <system_error>
#include <thread>

namespace guest::hostile {

using nvmeof::ControllerState;
using target::Bytes;
using target::Expect;
using target::Misbehaviour;
using target::Needs;
using target::Verdict;
using target::When;
using target::acts::always;
using target::acts::failed;
using target::acts::poke;
using target::acts::verdict;

namespace {

constexpr std::uint64_t mib = 1 << 20;

target::Config configFor(Needs needs)
{
	target::Config config;
	config.ana = needs == Needs::ana;
	return config;
}

// A target and the host. The target is declared first, so that it outlives the connections to it.
struct Stage {
	target::Server server;
	Host host;
	std::uint32_t seed = 1;

	explicit Stage(target::Config config = {}) : server(reachable(std::move(config)))
	{
		server.stores().add(1, 8 * mib);
	}

	~Stage() { checkServer(); }

	void checkServer()
	{
		for (auto &text : server.violations())
			FAIL_CHECK("the host broke the protocol: " << text);
		CHECK(server.counters().digestErrors == 0);
	}

	nvmeof::ConnectOptions options(Needs needs = Needs::nothing)
	{
		auto o = Host::options(here(), std::to_string(server.port()), server.config().nqn);
		o.connectTimeout = o.keepAlive = scaled(1500ms);
		o.ctrlLoss = scaled(60s);
		o.reconnectDelay = 200ms;
		o.ioQueues = 2;
		o.hdrDigest = needs == Needs::headerDigest;
		o.dataDigest = needs == Needs::dataDigest;
		o.sqFlow = needs != Needs::noSqflow;
		return o;
	}

	std::string disk(Millis timeout = 10s) { return host.disk(1, timeout, server.config().nqn); }

	// In-capsule and R2T writes, reads of one and of several parts, a flush; each checked against the store as
	// well.
	int work(const Disk &disk)
	{
		for (std::size_t length : {4096u, 131072u}) {
			auto offset = std::uint64_t(seed % 8) * 131072;
			if (int err = disk.verified(offset, length, seed))
				return err;
			Buffer wanted(length);
			wanted.fill(seed++);
			auto stored = server.stores().find(1)->peek(offset, length);
			if (!std::equal(stored.begin(), stored.end(), wanted.data()))
				return -ESTALE;
		}
		return disk.flush();
	}

	// A reconnect is slow under TCG.
	bool live(const std::string &name) { return host.waitState(name, ControllerState::live, 15s); }
};

// Holds the active namespace list, and so the scan, until Server::releaseHeld().
Misbehaviour holdList(When when)
{
	return {"hold-list", 22, target::Hook::command, when, Expect::harmless, Needs::nothing, [](target::Strike &s) {
			return verdict(s.identify(target::cns_active), s, Verdict::hold);
		}};
}

// The worse of two results: wrong data, then any other error, then success.
int worse(int a, int b)
{
	auto weight = [](int err) { return err == -EILSEQ || err == -ESTALE ? 2 : err < 0 ? 1 : 0; };
	return weight(b) > weight(a) ? b : a;
}

bool resets(Expect expect)
{
	return expect == Expect::reset || expect == Expect::silence;
}

bool byClock(const std::string &reason)
{
	return std::ranges::any_of(std::array{"no answer", "nothing answered", "no progress", "in time"},
				   [&](auto *words) { return reason.find(words) != std::string::npos; });
}

// A bad PDU is reported as such. A missing answer is found by a timer: the host's, or the keep-alive timer of the
// target, which then closes the connection.
void expectReason(const std::string &text, Expect expect)
{
	INFO("last error: " << text);
	CHECK_FALSE(text.empty());
	if (expect == Expect::silence)
		CHECK((byClock(text) || text.find("closed by the target") != std::string::npos));
	else
		CHECK_FALSE(byClock(text));
}

// Runs I/O until the misbehaviour has struck, and checks the worst result.
void strikeDuringIo(Stage &stage, const Misbehaviour &m, const Disk &disk)
{
	auto &script = stage.server.script();
	int worst = 0;
	script.arm(m);
	for (int i = 0; i < 20 && script.strikes() == 0; i++)
		worst = worse(worst, stage.work(disk));
	CHECK(script.strikes() == 1);
	script.disarm();
	CHECK(worst != -EILSEQ); // wrong data were read
	CHECK(worst != -ESTALE); // wrong data were stored
	if (m.expect == Expect::error)
		CHECK(worst < 0);
	else if (m.expect != Expect::judgedByTest)
		CHECK(worst == 0);
}

void strikeWhileIdle(Stage &stage, const Misbehaviour &m)
{
	stage.server.script().arm(m);
	CHECK(stage.server.script().waitStrikes(1, scaled(10s)));
	std::this_thread::sleep_for(resets(m.expect) ? scaled(2500ms) : 300ms);
	stage.server.script().disarm();
}

void playLive(const Misbehaviour &m)
{
	recordChoice("NVMEOF_MISBEHAVIOUR", m.name);
	Stage stage(configFor(m.needs));
	auto c = stage.host.connect(stage.options(m.needs));
	auto node = stage.disk();
	if (m.expect == Expect::silence) // shortens the test
		writeFile("/sys/block/" + node.substr(5) + "/queue/io_timeout", std::to_string(scaled(1500ms).count()));
	Disk disk(node);
	REQUIRE(stage.work(disk) == 0);
	auto before = stage.server.counters().adminConnects.load();
	if (m.when == When::io)
		strikeDuringIo(stage, m, disk);
	else
		strikeWhileIdle(stage, m);
	tellPlayed(m, stage.server.script().strikes());
	auto connects = [&] { return stage.server.counters().adminConnects - before; };
	if (resets(m.expect)) {
		CHECK(eventually([&] { return connects() >= 1; }, 10s));
		expectReason(stage.host.controller(c.name).lastError, m.expect);
	}
	REQUIRE(stage.live(c.name));
	CHECK(stage.work(disk) == 0);
	if (m.expect == Expect::harmless || m.expect == Expect::retried || m.expect == Expect::error)
		CHECK(connects() == 0);
	CHECK(eventually([&] { return stage.host.busy() == 0; }, 5s));
}

// Keeps changing all pages of a mapped file. Runs in its own process: a page fault that waits for writeback may hold
// the mmap lock, and the target, which completes the writeback, needs the mmap lock of this process.
class Scribbler {
public:
	Scribbler(int fd, std::size_t length) : pid_(::fork())
	{
		if (pid_ == 0)
			scribble(fd, length);
		if (pid_ < 0)
			throw std::system_error(errno, std::generic_category(), "fork");
	}
	~Scribbler()
	{
		::kill(pid_, SIGKILL);
		::waitpid(pid_, nullptr, 0);
	}
	Scribbler(const Scribbler &) = delete;
	Scribbler &operator=(const Scribbler &) = delete;

	bool running() const { return ::kill(pid_, 0) == 0 && ::waitpid(pid_, nullptr, WNOHANG) == 0; }

private:
	[[noreturn]] static void scribble(int fd, std::size_t length)
	{
		void *at = ::mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		if (at == MAP_FAILED)
			::_exit(1);
		::close_range(3, ~0u, 0); // inherited sockets of the target would stay open after it closes them
		auto *map = static_cast<volatile std::uint8_t *>(at);
		for (std::uint8_t v = 0;; v++)
			for (std::size_t i = v; i < length; i += 509)
				map[i] = v;
	}

	pid_t pid_;
};

void expectRefused(Stage &stage, const nvmeof::Result<nvmeof::Connection> &result, const Misbehaviour &m)
{
	REQUIRE_FALSE(result.ok());
	INFO(result.error().message);
	CHECK_FALSE(result.error().message.empty());
	CHECK((!byClock(result.error().message) || std::string_view(m.name).ends_with("-never")));
	for (auto &c : take(stage.host.client().controllers()))
		CHECK(c.state != ControllerState::live);
}

// The controller is live although the target still misbehaves. Checks which namespaces and paths are usable.
void expectLive(Stage &stage, const nvmeof::Result<nvmeof::Connection> &result, const Misbehaviour &m)
{
	INFO((result ? "" : result.error().message));
	CHECK(result.ok() == (m.expect != Expect::scanFailed));
	auto list = take(stage.host.client().controllers());
	REQUIRE(list.size() == 1);
	CHECK(list[0].state == ControllerState::live);
	if (m.expect == Expect::harmless) {
		Disk disk(stage.disk());
		CHECK(stage.work(disk) == 0);
		CHECK(stage.server.counters().adminConnects == 1);
	}
	if (m.expect == Expect::scanFailed) {
		std::string_view name = m.name;
		// NSID 1 is reported before the error.
		bool came = name != "ns-list-failed" && name != "ns-list-descending" && !name.ends_with("-not-now");
		CHECK(bool(stage.host.nameSpace(1, stage.server.config().nqn)) == came);
		CHECK_FALSE(list[0].lastError.empty());
	}
	if (m.expect == Expect::unusable) { // and connect does not wait for its disk
		CHECK(stage.host.paths().empty());
		CHECK_FALSE(stage.host.nameSpace(1, stage.server.config().nqn));
	}
}

void playConnecting(const Misbehaviour &m)
{
	recordChoice("NVMEOF_MISBEHAVIOUR", m.name);
	Stage stage(configFor(m.needs));
	Watch watch;
	stage.server.script().arm(m, target::Script::forever);
	Stopwatch time;
	auto result = stage.host.client().connect(stage.options(m.needs), nvmeof::WaitFor::namespaces, scaled(5s));
	CHECK(time.elapsed() < scaled(8s));
	CHECK(stage.server.script().strikes() > 0);
	tellPlayed(m, stage.server.script().strikes());
	if (std::string_view(m.name).ends_with("-never"))
		CHECK(time.elapsed() > scaled(1s)); // it timed out and was not refused for another reason
	if (m.expect == Expect::refused)
		expectRefused(stage, result, m);
	else
		expectLive(stage, result, m);
	if (m.expect == Expect::nsRefused) {
		CHECK_FALSE(stage.host.nameSpace(1, stage.server.config().nqn));
		auto event = watch.find([](auto &e) { return e.type == nvmeof::EventType::refused; }, 3s);
		REQUIRE(event);
		CHECK_FALSE(event->reason.empty());
	}
	Stopwatch leaving;
	stage.host.disconnectAll();
	CHECK(leaving.elapsed() < scaled(2s));

	stage.server.script().disarm();
	stage.host.connect(stage.options(m.needs));
	Disk disk(stage.disk());
	CHECK(stage.work(disk) == 0);
}

} // namespace

TEST_CASE("misbehaviour while connecting", "[hostile][table][connecting]")
{
	for (auto &m : target::misbehaviours())
		if (m.when == When::connecting && played(m))
			DYNAMIC_SECTION(m.name << " (trap " << m.trap << "): " << toString(m.expect))
			{
				playConnecting(m);
			}
}

TEST_CASE("misbehaviour of a live target", "[hostile][table][live]")
{
	for (auto &m : target::misbehaviours())
		if ((m.when == When::io || m.when == When::idle) && played(m))
			DYNAMIC_SECTION(m.name << " (trap " << m.trap << "): " << toString(m.expect))
			{
				playLive(m);
			}
}

TEST_CASE("misbehaviour specific to RDMA", "[hostile][table][rdma]")
{
	for (auto &m : target::rdmaMisbehaviours())
		if (isSelected("NVMEOF_MISBEHAVIOUR", m.name))
			DYNAMIC_SECTION(m.name << " (trap " << m.trap << "): " << toString(m.expect))
			{
				m.when == When::connecting ? playConnecting(m) : playLive(m);
			}
}

TEST_CASE("verified load survives random misbehaviour of the target", "[hostile][random][short][race]")
{
	Stage stage;
	auto o = stage.options();
	auto c = stage.host.connect(o);
	FioLoad load({.file = stage.disk(),
		      .blocks = "4k",
		      .depth = 8,
		      .size = "4m",
		      .seconds = 12,
		      .more = "--bsrange=512-128k"});
	std::vector<const Misbehaviour *> fit;
	for (auto &m : target::misbehaviours())
		if (m.when == When::io && m.needs == Needs::nothing && possible(m, transportOfTests()) &&
		    (m.expect == Expect::reset || m.expect == Expect::harmless) &&
		    std::string_view(m.name) != "pdu-byte-per-second") // takes longer than the load runs
			fit.push_back(&m);
	std::mt19937 random(static_cast<std::uint32_t>(seedFrom("NVMEOF_HOSTILE_SEED")));
	unsigned struck = 0;
	while (load.running()) {
		auto *m = fit[random() % fit.size()];
		stage.server.script().arm(*m);
		struck += stage.server.script().waitStrikes(1, scaled(1s));
		stage.server.script().disarm();
		CHECK(stage.live(c.name));
	}
	std::printf("hostile: %u struck under load\n", struck);
	CHECK(struck >= 3);
	auto result = load.wait(60s);
	INFO(result.text);
	CHECK(result.good());
}

TEST_CASE("every limit of the target is kept", "[hostile][limits][trap29]")
{
	auto sqflowOff = GENERATE(false, true); // Catch 2.13 crashes when this follows sections
	target::Config config;
	config.queueEntries = 32;
	SECTION("a small queue") {}
	SECTION("MAXCMD below the queue size")
	{
		config.maxcmd = 8;
	}
	SECTION("small data PDUs and R2Ts")
	{
		config.maxH2cData = 4096;
		config.r2tBytes = 16384;
		config.c2hBytes = 4096;
	}
	SECTION("no data in the capsule, small transfers")
	{
		config.inCapsule = 0;
		config.mdts = 1;
	}
	SECTION("neither digests nor disabled SQ flow control")
	{
		config.allowDigests = config.allowSqflowOff = false;
	}
	Stage stage(config);
	auto o = stage.options();
	o.ioQueues = 1;
	o.queueSize = 1024;
	o.sqFlow = !sqflowOff;
	auto c = stage.host.connect(o);
	CHECK(c.queueSize <= 32);
	stage.server.setLatency(3ms); // so that commands queue up
	auto result =
		runFio({.file = stage.disk(), .blocks = "4k", .depth = 128, .size = "4m", .more = "--bsrange=512-64k"});
	INFO(result.text);
	CHECK(result.good());
	CHECK(stage.server.counters().maxInflight <= (config.maxcmd ? config.maxcmd : 31u));
	CHECK(stage.server.counters().maxInflight >= 4);
	if (!config.inCapsule)
		CHECK(stage.server.counters().inCapsuleWrites == 0);
}

TEST_CASE("block layer operations become the matching NVMe commands", "[hostile][commands][short]")
{
	Stage stage;
	stage.host.connect(stage.options());
	auto disk = stage.disk();
	auto &count = stage.server.counters();
	Disk d(disk, O_DSYNC);
	Buffer b(4096);
	b.fill(1);
	REQUIRE(d.write(0, b) == 0);
	CHECK(count.fua + count.flushes >= 1);
	REQUIRE(d.discard(0, 65536) == 0);
	CHECK(count.discards >= 1);
	REQUIRE(d.zeroOut(131072, 65536) == 0);
	CHECK(count.zeroes >= 1);
	CHECK(count.inCapsuleWrites >= 1);
	Buffer large(mib);
	large.fill(2);
	REQUIRE(d.write(0, large) == 0);
	CHECK(count.r2ts + count.remoteReads >= 1);
	auto before = count.shutdowns.load();
	stage.host.disconnectAll();
	CHECK(count.shutdowns == before + 1); // orderly, with CC.SHN
}

TEST_CASE("with traffic based keep-alive, I/O replaces Keep Alive commands", "[hostile][keepalive]")
{
	target::Config config;
	config.trafficKeepAlive = true;
	Stage stage(config);
	auto c = stage.host.connect(stage.options());
	FioLoad load({.file = stage.disk(), .size = "4m", .seconds = 5});
	CHECK(load.wait(30s).good());
	std::this_thread::sleep_for(scaled(4s));
	CHECK(stage.host.state(c.name) == ControllerState::live);
	CHECK(stage.server.counters().adminConnects == 1);
	CHECK(stage.server.counters().keepAlives >= 1); // without traffic, Keep Alive is sent
}

TEST_CASE("data that was not sent when a connection ends is never sent", "[hostile][zerocopy][trap3][short][race][tcp]")
{
	Stage stage;
	auto o = stage.options();
	o.ioQueues = 1;
	auto c = stage.host.connect(o);
	Disk disk(stage.disk());
	Buffer first(mib);
	first.fill(100);
	REQUIRE(disk.write(0, first) == 0);

	// The target sends an R2T and then stops reading: the data of this write fill the sockets on both sides, and
	// the rest waits to be sent.
	static const Misbehaviour stopReading{
		"stop-reading", 3, target::Hook::r2t, When::io, Expect::reset, Needs::nothing, [](target::Strike &s) {
			if (!s.ioWrite())
				return false;
			auto *server = &s.conn.server();
			s.after = [server] { server->stallReads(true); };
			return true;
		}};
	stage.server.script().arm(stopReading);
	std::atomic<int> status{1};
	Buffer second(mib);
	second.fill(200);
	std::thread writer([&] { status = disk.write(0, second); });
	REQUIRE(stage.server.script().waitStrikes(1, scaled(5s)));
	auto arrived = [&] { return stage.server.unreadBytes(); };
	CHECK(eventually([&] { return arrived() > 0; }));
	std::this_thread::sleep_for(300ms); // the sockets are full now
	auto before = stage.server.counters().adminConnects.load();
	REQUIRE(stage.host.client().reset(c.name).ok());
	// The host has closed the old connection before it makes a new association. The target still does not read.
	REQUIRE(eventually([&] { return stage.server.counters().adminConnects > before; }));
	auto unread = arrived();
	std::this_thread::sleep_for(500ms);
	// The Connect command of the new I/O queue may have arrived, about 1,100 bytes. Data that waited on the host
	// must not.
	CHECK(arrived() < unread + 4096);
	CHECK(status == 1);
	stage.server.stallReads(false);
	writer.join();
	CHECK(status == 0);
	CHECK(stage.server.stores().find(1)->peek(0, mib) == Bytes(second.data(), second.data() + mib));
}

TEST_CASE("pages of a mapped file that change during the write do not break the digest",
	  "[hostile][stable][trap10][short][tcp]")
{
	Stage stage;
	stage.server.stores().add(2, 64 * mib);
	auto c = stage.host.connect(stage.options(Needs::dataDigest));
	auto node = stage.host.disk(2, 10s, stage.server.config().nqn);
	must("mkfs.ext4 -q -F " + node + " && mkdir -p /mnt && mount " + node + " /mnt");
	int fd = ::open("/mnt/mapped", O_RDWR | O_CREAT, 0644);
	REQUIRE(::ftruncate(fd, 4 * mib) == 0);
	{
		Scribbler scribbler(fd, 4 * mib);
		Stopwatch time;
		while (time.elapsed() < 3s)
			CHECK(::fdatasync(fd) == 0);
		CHECK(scribbler.running());
	}
	::close(fd);
	must("umount /mnt && fsck.ext4 -f -n " + node);
	CHECK(stage.server.counters().digestErrors == 0);
	CHECK(stage.server.counters().adminConnects == 1);
}

TEST_CASE("the log of xfs, in slab pages, goes over the wire", "[hostile][slab][trap11][short]")
{
	target::Config config;
	Stage stage(config);
	stage.server.stores().add(2, 384 * mib);
	auto o = stage.options(overRdma() ? Needs::nothing : Needs::dataDigest);
	stage.host.connect(o);
	auto node = stage.host.disk(2, 10s, stage.server.config().nqn);
	must("mkfs.xfs -q -f " + node + " && mkdir -p /mnt && mount " + node + " /mnt");
	must("mkdir /mnt/d && for i in $(seq 200); do echo $i > /mnt/d/$i; [ $((i % 10)) != 0 ] || sync; done");
	must("umount /mnt && xfs_repair -n " + node + " && mount " + node +
	     " /mnt && [ \"$(cat /mnt/d/* | wc -l)\" = 200 ] && umount /mnt");
}

TEST_CASE("a namespace whose partition table is never read does not block deletion of the controller",
	  "[hostile][partition][trap16]")
{
	Stage stage;
	static const auto holdReads =
		always(target::Hook::command, [](target::Strike &s) { return verdict(s.ioRead(), s, Verdict::hold); });
	stage.server.script().arm(holdReads, target::Script::forever);
	auto c = take(stage.host.client().start(stage.options()));
	CHECK(stage.live(c.name));
	REQUIRE(stage.server.script().waitStrikes(1, scaled(5s)));
	SECTION("deleted while the read hangs") {}
	SECTION("deleted while the read waits for a path")
	{
		stage.server.stop();
		CHECK(stage.host.waitState(c.name, ControllerState::connecting));
	}
	Stopwatch time;
	stage.host.disconnectAll();
	CHECK(time.elapsed() < scaled(3s));
}

TEST_CASE("load survives a target that restarts on the same port", "[hostile][restart][trap24]")
{
	Stage stage;
	auto c = stage.host.connect(stage.options());
	FioLoad load({.file = stage.disk(), .size = "4m", .seconds = 6});
	for (int i = 0; i < 2; i++) {
		std::this_thread::sleep_for(1s);
		stage.server.stop();
		CHECK(stage.host.waitState(c.name, ControllerState::connecting));
		stage.server.start();
		CHECK(stage.live(c.name));
	}
	auto result = load.wait(40s);
	INFO(result.text);
	CHECK(result.good());
}

TEST_CASE("load survives connections that the target resets", "[hostile][restart]")
{
	Stage stage;
	auto c = stage.host.connect(stage.options());
	FioLoad load({.file = stage.disk(), .blocks = "64k", .size = "4m", .seconds = 6});
	while (load.running()) {
		std::this_thread::sleep_for(400ms);
		stage.server.dropConnections(true);
		stage.live(c.name);
	}
	auto result = load.wait(40s);
	INFO(result.text);
	CHECK(result.good());
}

TEST_CASE("fewer queues after a reconnect", "[hostile][queues][trap23]")
{
	Stage stage;
	auto c = stage.host.connect(stage.options());
	REQUIRE(c.ioQueues == 2);
	FioLoad load({.file = stage.disk(), .size = "4m", .seconds = 6});
	for (std::uint16_t queues : {1, 2, 1}) {
		std::this_thread::sleep_for(1s);
		stage.server.setMaxIoQueues(queues);
		stage.server.dropConnections();
		CHECK(eventually([&] {
			auto now = stage.host.controller(c.name);
			return now.state == ControllerState::live && now.ioQueues == queues;
		}));
	}
	auto result = load.wait(40s);
	INFO(result.text);
	CHECK(result.good());
}

TEST_CASE("a controller that comes back as one of another type is refused", "[hostile][restart][trap21]")
{
	static const auto discovery = always(target::Hook::adminData, [](target::Strike &s) {
		return poke<std::uint8_t>(s.identify(target::cns_ctrl), s, target::at::cntrltype, 2);
	});
	Stage stage;
	auto &script = stage.server.script();
	auto c = stage.host.connect(stage.options());
	FioLoad load({.file = stage.disk(), .size = "4m", .seconds = 6});
	std::this_thread::sleep_for(1s);
	script.arm(discovery, target::Script::forever);
	stage.server.dropConnections();
	REQUIRE(script.waitStrikes(2, scaled(5s)));
	auto now = stage.host.controller(c.name);
	CHECK(now.state == ControllerState::connecting);
	CHECK(now.lastError.find("type has changed") != std::string::npos);
	SECTION("accepted again with its original type")
	{
		script.disarm();
		CHECK(stage.live(c.name));
		auto result = load.wait(40s);
		INFO(result.text);
		CHECK(result.good());
	}
	SECTION("disconnect removes it")
	{
		CHECK(run("timeout 20 nvmeofctl disconnect --all --force").status == 0);
		load.stop();
	}
}

TEST_CASE("events during teardown", "[hostile][aer][trap14][race]")
{
	Stage stage;
	for (int i = 0; i < 10; i++) {
		stage.host.connect(stage.options());
		std::atomic<bool> stop{false};
		std::thread noise([&] {
			while (!stop) {
				stage.server.namespacesChanged();
				std::this_thread::sleep_for(1ms);
			}
		});
		std::this_thread::sleep_for(Millis(20 * i));
		if (i % 2)
			stage.server.dropConnections();
		stage.host.disconnectAll();
		stop = true;
		noise.join();
	}
}

TEST_CASE("event requests that are refused are retried with a growing delay", "[hostile][aer][trap14]")
{
	Stage stage;
	auto &script = stage.server.script();
	script.arm(*target::findMisbehaviour("async-request-failed"), target::Script::forever);
	auto c = stage.host.connect(stage.options());
	REQUIRE(script.waitStrikes(3, scaled(8s))); // 0, 0.5 to 1, 1.5 to 3 s
	CHECK(script.strikes() < 5);
	CHECK(stage.host.controller(c.name).lastError.find("refused the asynchronous event request") !=
	      std::string::npos);
	stage.server.stores().add(2, mib);
	stage.server.namespacesChanged();
	CHECK_FALSE(stage.host.nameSpace(2, stage.server.config().nqn));
	script.disarm();
	CHECK(stage.host.disk(2, 10s, stage.server.config().nqn) != ""); // noticed late, but not missed
	CHECK(stage.server.counters().adminConnects == 1);
}

TEST_CASE("a namespace that is not ready does not hide later namespaces", "[hostile][scan][trap21]")
{
	Stage stage;
	stage.server.stores().add(2, mib);
	static const auto notReady = always(target::Hook::command, [](target::Strike &s) {
		return failed(s.identify(target::cns_ns) && s.cmd->nsid == 1, s, target::st_ns_not_ready);
	});
	stage.server.script().arm(notReady, target::Script::forever);
	Watch watch;
	auto scanned = [&](int err) {
		return watch.find(
			[=](const nvmeof::Event &e) {
				return e.type == nvmeof::EventType::scanned && e.scanErrno == err;
			},
			30s);
	};
	auto connected = stage.host.client().connect(stage.options(), nvmeof::WaitFor::namespaces, scaled(5s));
	INFO((connected ? "" : connected.error().message));
	auto list = take(stage.host.client().controllers());
	REQUIRE(list.size() == 1);
	CHECK(list[0].lastError.find("namespace 1 cannot be identified") != std::string::npos);
	CHECK(stage.host.disk(2, 5s, stage.server.config().nqn) != "");
	CHECK_FALSE(stage.host.nameSpace(1, stage.server.config().nqn));
	auto unfinished = scanned(EAGAIN);
	REQUIRE(unfinished);
	CHECK(unfinished->controller()->scans == 0); // a scan with a namespace to retry is not complete
	CHECK(stage.host.controller(list[0].name).scans == 0);
	stage.server.script().disarm();
	CHECK(stage.host.disk(1, 30s, stage.server.config().nqn) != ""); // retried with a growing delay
	auto whole = scanned(0);
	REQUIRE(whole);
	CHECK(whole->controller()->scans == 1);
}

TEST_CASE("a namespace reported with fewer identifiers than before keeps its path", "[hostile][scan][trap27]")
{
	static const auto noList = always(target::Hook::command, [](target::Strike &s) {
		return failed(s.identify(target::cns_descs), s, target::st_invalid_field | target::st_dnr);
	});
	Stage stage;
	auto c = stage.host.connect(stage.options());
	Disk disk(stage.disk());
	auto path = stage.host.paths().at(0).name;
	REQUIRE(stage.work(disk) == 0);
	stage.server.script().arm(noList, target::Script::forever);
	stage.server.namespacesChanged();
	REQUIRE(stage.server.script().waitStrikes(1, scaled(5s)));
	std::this_thread::sleep_for(scaled(300ms));
	CHECK(stage.work(disk) == 0); // through the file opened earlier
	CHECK(stage.host.paths().at(0).name == path);
	stage.server.script().disarm();
	stage.server.namespacesChanged();
	CHECK(stage.work(disk) == 0);
	CHECK(stage.host.paths().size() == 1);
}

TEST_CASE("the partition table of a disk without a usable path is read once a path is usable", "[hostile][ana][trap16]")
{
	target::Config config;
	config.ana = true;
	Stage stage(config);
	Bytes sector(512); // a master boot record with one partition, of 1 MiB at 1 MiB
	target::put<std::uint8_t>(sector, 450, 0x83);
	target::put<std::uint32_t>(sector, 454, 2048);
	target::put<std::uint32_t>(sector, 458, 2048);
	target::put<std::uint16_t>(sector, 510, 0xaa55);
	stage.server.stores().find(1)->write(0, sector, 0);
	stage.server.setAnaState(1, target::ana_inaccessible);
	stage.host.connect(stage.options());
	CHECK(take(stage.host.client().namespaces()).empty());
	stage.server.setAnaState(1, target::ana_optimized);
	auto node = stage.disk();
	CHECK(eventually([&] { return exists(node + "p1"); }, 5s));
}

TEST_CASE("ANA: inaccessible means wait, persistent loss means error, optimized means go",
	  "[hostile][ana][trap17][trap18]")
{
	target::Config config;
	config.ana = true;
	Stage stage(config);
	auto c = stage.host.connect(stage.options());
	Disk disk(stage.disk());
	REQUIRE(stage.work(disk) == 0);
	auto tell = [&](target::AnaState state) {
		static std::uint64_t change = 10;
		stage.server.setAnaLog(target::makeAnaLog(change++, 1, {{1, state, {1}, 1}}));
		stage.server.sendEvent(target::event_ana_changed);
	};
	auto usable = [&](bool wanted) {
		return eventually([&] {
			auto paths = stage.host.paths();
			return !paths.empty() && paths[0].usable == wanted;
		});
	};
	tell(target::ana_inaccessible);
	REQUIRE(usable(false));
	std::atomic<int> status{1};
	std::thread waiter([&] { status = stage.work(disk); });
	std::this_thread::sleep_for(500ms);
	CHECK(status == 1);
	tell(target::ana_optimized);
	CHECK(usable(true));
	waiter.join();
	CHECK(status == 0);
	tell(target::ana_persistent_loss);
	REQUIRE(usable(false));
	CHECK(stage.work(disk) != 0);
	tell(target::ana_non_optimized);
	CHECK(eventually([&] { return stage.host.paths()[0].anaState == nvmeof::AnaState::nonOptimized; }));
	CHECK(stage.work(disk) == 0);
	tell(target::ana_inaccessible);
	REQUIRE(usable(false));
	stage.server.setAnaLog({}); // usable again, without an event: a reconnect reads the log again
	stage.server.dropConnections();
	CHECK(eventually([&] { return stage.server.counters().adminConnects >= 2; }));
	CHECK(stage.live(c.name));
	CHECK(usable(true));
	CHECK(stage.work(disk) == 0);
}

TEST_CASE("a command that is never answered is aborted, and recovered from", "[hostile][timeout][trap15][short]")
{
	Stage stage;
	auto o = stage.options();
	auto c = stage.host.connect(o);
	auto node = stage.disk();
	writeFile("/sys/block/" + node.substr(5) + "/queue/io_timeout", std::to_string(scaled(1s).count()));
	static const auto hold =
		always(target::Hook::command, [](target::Strike &s) { return verdict(s.ioWrite(), s, Verdict::hold); });
	Disk disk(node);
	auto before = stage.server.counters().adminConnects.load();
	stage.server.script().arm(hold);
	Stopwatch time;
	CHECK(stage.work(disk) == 0);
	CHECK(time.elapsed() < scaled(12s));
	CHECK(stage.server.counters().aborts >= 1);
	CHECK(stage.server.counters().adminConnects > before);
	CHECK(stage.live(c.name));
}

TEST_CASE("unloading and deleting while the target is silent", "[hostile][unload][trap24]")
{
	target::Config config;
	Stage stage(config);
	SECTION("in the middle of a connect")
	{
		stage.server.script().arm(*target::findMisbehaviour("identify-never"), target::Script::forever);
		take(stage.host.client().start(stage.options()));
		REQUIRE(stage.server.script().waitStrikes(1, scaled(3s)));
	}
	SECTION("while the first message is unanswered")
	{
		auto *never = overRdma() ? "cm-answer-never" : "icresp-never";
		stage.server.script().arm(*target::findMisbehaviour(never), target::Script::forever);
		take(stage.host.client().start(stage.options()));
		REQUIRE(stage.server.script().waitStrikes(1, scaled(3s)));
	}
	SECTION("with I/O stalled")
	{
		stage.host.connect(stage.options());
		auto node = stage.disk();
		stage.server.stallReads(true);
		FioLoad load({.file = node, .verify = false, .seconds = 30}, true);
		std::this_thread::sleep_for(1s);
		Stopwatch time;
		stage.host.disconnectAll();
		CHECK(time.elapsed() < scaled(8s)); // a normal shutdown is tried for as long as the target allows
		CHECK(load.wait(20s).status > 0);
	}
	SECTION("between two attempts to reconnect")
	{
		auto c = stage.host.connect(stage.options());
		stage.server.stop();
		REQUIRE(stage.host.waitState(c.name, ControllerState::connecting));
	}
	Stopwatch time;
	stage.host.disconnectAll();
	CHECK(time.elapsed() < scaled(2s));
	stage.host.forget();
	CHECK(eventually([] { return Host::unload().status == 0 || !Host::loaded(); }, 5s));
	Host::load();
	stage.host.reopen();
}

TEST_CASE("a command that waits for a silent target can be killed; its operation goes on", "[hostile][killed][trap22]")
{
	Stage stage;
	auto c = stage.host.connect(stage.options());
	SECTION("disconnect")
	{
		stage.server.silence(true);
		Background command("exec nvmeofctl disconnect --force -d " + c.name);
		REQUIRE(stage.host.waitState(c.name, ControllerState::deleting));
		command.signal(SIGKILL);
		CHECK(command.wait(1s).status == 128 + SIGKILL);
		CHECK(stage.host.state(c.name) == ControllerState::deleting);
		CHECK(stage.host.waitGone(c.name, 10s));
		stage.server.silence(false);
	}
	SECTION("rescan, queued behind another rescan")
	{
		static const auto hold = holdList(When::idle);
		stage.disk();
		stage.server.script().arm(hold);
		Background first("exec nvmeofctl rescan -d " + c.name);
		REQUIRE(stage.server.script().waitStrikes(1, scaled(3s)));
		Background second("exec nvmeofctl rescan -d " + c.name);
		auto waits = "head -qn1 /proc/[0-9]*/stack 2>/dev/null | grep -q scan_namespaces"; // for scan.lock
		REQUIRE(eventually([&] { return run(waits).status == 0; }));
		second.signal(SIGKILL);
		CHECK(second.wait(1s).status == 128 + SIGKILL);
		CHECK(first.running());
		stage.server.releaseHeld();
		auto done = first.wait(scaled(5s));
		INFO(done.text);
		CHECK(done.status == 0);
		CHECK(stage.host.controller(c.name).reconnects == 0);
	}
}

TEST_CASE("a slow rescan does not block other generic netlink families", "[hostile][killed][genl]")
{
	static const auto hold = holdList(When::idle);
	Stage stage;
	auto c = stage.host.connect(stage.options());
	stage.disk();
	stage.server.script().arm(hold);
	Background rescan("exec nvmeofctl rescan -d " + c.name);
	REQUIRE(stage.server.script().waitStrikes(1, scaled(3s)));
	// The process waits in poll(), not inside a generic netlink handler, which would hold the lock of all families.
	std::string stack;
	CHECK(eventually([&] {
		stack = readFile("/proc/" + std::to_string(rescan.pid()) + "/stack");
		return stack.find("poll") != std::string::npos;
	}));
	INFO(stack);
	CHECK(stack.find("genl") == std::string::npos);
	stage.server.releaseHeld();
	auto done = rescan.wait(scaled(5s));
	INFO(done.text);
	CHECK(done.status == 0);
}

TEST_CASE("connect: a target whose scan is slow does not delay another one", "[hostile][connecting]")
{
	static const auto hold = holdList(When::connecting);
	target::Config config;
	config.nqn += ":other";
	target::Server other(reachable(config));
	other.stores().add(1, 8 * mib);
	Stage stage;
	stage.server.script().arm(hold, target::Script::forever);
	auto second = stage.options();
	second.address.trsvcid = std::to_string(other.port());
	second.subsysnqn = config.nqn;
	auto results = stage.host.client().connectAll(std::vector{stage.options(), second}, nvmeof::WaitFor::namespaces,
						      scaled(4s));
	REQUIRE(results.size() == 2);
	REQUIRE_FALSE(results[0].ok());
	INFO(results[0].error().message);
	CHECK(results[0].error().message.find("connected, but") == 0);
	CHECK(results[1].ok());
	stage.server.script().disarm();
	stage.server.releaseHeld();
	CHECK_FALSE(stage.disk().empty());
}

// SPDK discards a range only up to its limit and reports success: the rest would silently keep its data.
TEST_CASE("limits of Dataset Management and Write Zeroes are respected", "[hostile][limits][trap44]")
{
	target::Config config;
	SECTION("per discard range, and of Write Zeroes")
	{
		config.rangeBlocks = 64;
		config.writeZeroes = 1;
	}
	SECTION("of all discard ranges together")
	{
		config.discardBlocks = 128;
	}
	Stage stage(config);
	stage.host.connect(stage.options());
	Disk disk(stage.disk());
	const auto node = stage.disk().substr(5);
	auto zeroed = [&] { return stage.server.stores().find(1)->peek(0, mib) == target::Bytes(mib); };
	Buffer full(mib);
	full.fill(1);
	REQUIRE(disk.write(0, full) == 0);
	CHECK(disk.discard(0, mib) == 0);
	CHECK(zeroed());
	CHECK(readFile("/sys/block/" + node + "/queue/discard_max_hw_bytes") ==
	      (config.rangeBlocks ? "32768" : "65536"));
	if (!config.writeZeroes)
		return;
	REQUIRE(disk.write(0, full) == 0);
	auto writes = stage.server.counters().writes.load();
	CHECK(disk.zeroOut(0, mib) == 0);
	CHECK(zeroed());
	CHECK(stage.server.counters().zeroes == mib / 8192);
	CHECK(stage.server.counters().writes == writes); // no Write replaces a Write Zeroes
}

TEST_CASE("max_namespaces limits how many namespaces are attached", "[hostile][namespaces]")
{
	Stage stage;
	for (std::uint32_t nsid = 2; nsid <= 6; nsid++)
		stage.server.stores().add(nsid, 1 * mib);
	std::optional<ModuleParameter> max(std::in_place, "max_namespaces", "4");
	auto c = stage.host.connect(stage.options());
	auto count = [&] { return take(stage.host.client().namespaces()).size(); };
	CHECK(eventually([&] { return count() == 4; }));
	auto told = [&] {
		return stage.host.controller(c.name).lastError.find("2 namespaces skipped") != std::string::npos;
	};
	CHECK(eventually(told));
	CHECK(stage.work(Disk(stage.disk())) == 0);
	max.reset();
	CHECK(run("nvmeofctl rescan -d " + c.name).status == 0);
	CHECK(count() == 6);
}

namespace {

Misbehaviour silentAt(const char *name, bool (*act)(target::Strike &))
{
	return {name, 22, target::Hook::command, When::idle, Expect::silence, Needs::nothing, act};
}

} // namespace

// An admin command times out after a minute, so all steps run in parallel, each with its own subsystem.
TEST_CASE("the host recovers from a target that falls silent during a scan", "[hostile][silence][long][trap22]")
{
	static const Misbehaviour steps[] = {
		silentAt("changed-list-never",
			 [](target::Strike &s) { return verdict(s.log(target::log_changed_ns), s, Verdict::drop); }),
		silentAt("ns-list-never",
			 [](target::Strike &s) { return verdict(s.identify(target::cns_active), s, Verdict::drop); }),
		silentAt("identify-ns-never",
			 [](target::Strike &s) { return verdict(s.identify(target::cns_ns), s, Verdict::drop); }),
		silentAt("descriptors-never",
			 [](target::Strike &s) { return verdict(s.identify(target::cns_descs), s, Verdict::drop); }),
	};
	std::vector<std::unique_ptr<Stage>> stages;
	std::vector<std::string> names;
	for (auto &step : steps) {
		target::Config config;
		config.nqn += std::string(":") + step.name;
		auto &stage = *stages.emplace_back(std::make_unique<Stage>(config));
		names.push_back(stage.host.connect(stage.options()).name);
		stage.disk();
		stage.server.script().arm(step);
		stage.server.namespacesChanged();
	}
	for (std::size_t i = 0; i < stages.size(); i++) {
		auto &stage = *stages[i];
		INFO(steps[i].name);
		REQUIRE(stage.server.script().waitStrikes(1, scaled(3s)));
		CHECK(stage.work(Disk(stage.disk())) == 0); // I/O does not wait for the scan
	}
	for (std::size_t i = 0; i < stages.size(); i++) {
		auto &stage = *stages[i];
		INFO(steps[i].name);
		CHECK(eventually([&] { return stage.host.controller(names[i]).reconnects > 0; }, 75s));
		REQUIRE(stage.live(names[i]));
		expectReason(stage.host.controller(names[i]).lastError, Expect::silence);
		CHECK(stage.work(Disk(stage.disk())) == 0);
		tellPlayed(steps[i], stage.server.script().strikes());
	}
}

TEST_CASE("reset and rescan are refused while a controller reconnects", "[hostile][restart]")
{
	Stage stage;
	auto c = stage.host.connect(stage.options());
	stage.server.stop();
	REQUIRE(stage.host.waitState(c.name, ControllerState::connecting));
	for (auto *verb : {"reset", "rescan"}) {
		auto out = run("nvmeofctl " + std::string(verb) + " -d " + c.name);
		INFO(verb << ": " << out.text);
		CHECK(out.status != 0);
		CHECK(out.text.find("the controller is not live") != std::string::npos);
	}
	stage.server.start();
	CHECK(stage.live(c.name));
	CHECK(run("nvmeofctl rescan -d " + c.name).status == 0);
}

TEST_CASE("small writes answered at once, at depth", "[hostile][fast][trap12][short][race]")
{
	Stage stage;
	auto o = stage.options(Needs::noSqflow);
	stage.host.connect(o);
	auto result =
		runFio({.file = stage.disk(), .rw = "randrw", .blocks = "4k", .depth = 64, .size = "8m", .seconds = 4});
	INFO(result.text);
	CHECK(result.good());
}

TEST_CASE("data with SUCCESS under flow control are taken, because targets in use send them",
	  "[hostile][success][trap6][short][race]")
{
	target::Config config;
	config.successAlways = true;
	config.queueEntries = 32;
	Stage stage(config);
	auto o = stage.options();
	o.sqFlow = true;
	stage.host.connect(o);
	auto result = runFio({.file = stage.disk(),
			      .rw = "randrw",
			      .blocks = "4k",
			      .depth = 64,
			      .size = "1m",
			      .more = "--bsrange=512-64k"});
	INFO(result.text);
	CHECK(result.good());
	CHECK(stage.server.counters().adminConnects == 1);
}

} // namespace guest::hostile
