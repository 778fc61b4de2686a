// SPDX-License-Identifier: LGPL-2.1-or-later
// Ghost writes: a controller that the host has lost executes a write late, over newer data (traps 1 and 2). Port 0 is
// lost, port 1 remains.
#include "support/fio.h"
#include "support/stalled_writes.h"
#include "support/ports.h"
#include "target/connection.h"

#include <optional>
#include <thread>

namespace guest::fencing {

using nvmeof::ControllerState;
using target::Misbehaviour;

namespace {

struct Setup {
	Millis keepAlive = 1000ms;
	std::uint16_t kas = 1; // 100 ms units
	std::uint16_t quiesce = 200;
	std::uint8_t ccrLimit = 0;
	bool trafficKeepAlive = false;
	bool ccrByOther = false;      // port 0 does not support CCR
	std::string fencing = "safe"; // empty: the default
};

std::vector<target::Config> configs(const Setup &setup)
{
	target::Config config;
	config.ana = true;
	config.kas = setup.kas;
	config.quiesce = setup.quiesce;
	config.ccrLimit = setup.ccrLimit;
	config.trafficKeepAlive = setup.trafficKeepAlive;
	config.lateExpiry = true; // as late as the specification allows
	auto lost = config;
	if (setup.ccrByOther)
		lost.ccrLimit = 0;
	return {lost, config};
}

class Scene {
public:
	Ports ports;

	explicit Scene(const Setup &setup = {})
		: ports(configs(setup)), keepAlive(setup.keepAlive), stalledWrites(ports.stalledWrites())
	{
		ports[1].setAnaState(1,
				     target::ana_non_optimized); // so that writes prefer port 0
		for (std::size_t i : {0, 1}) {
			auto o = ports.options(i);
			o.keepAlive = scaled(setup.keepAlive);
			names.push_back(ports.host.connect(o).name);
		}
		node = ports.disk();
		disk = std::make_shared<Disk>(node);
		if (!setup.fencing.empty())
			ports.set("fencing=" + setup.fencing);
		REQUIRE(write(0, 1) == 0);
		REQUIRE(both());
	}

	Millis keepAlive;
	target::StalledWrites &stalledWrites;
	std::vector<std::string> names;
	std::string node;
	std::shared_ptr<Disk> disk;

	static constexpr std::size_t length = guest::length;

	int write(std::uint64_t offset, std::uint32_t seed) const { return writeTo(*disk, offset, seed); }

	std::optional<nvmeof::Hold> hold() { return take(ports.host.client().namespaces()).front().hold; }

	Pending stall(std::uint64_t offset, std::uint32_t seed, const char *how)
	{
		connects = ports[0].counters().adminConnects;
		return stallOn(ports, disk, offset, seed, how);
	}

	// Waits until the host has lost port 0, or has already reconnected.
	bool noticed()
	{
		return eventually(
			[this] {
				auto c = ports.host.controller(names[0]);
				return c.state != ControllerState::live || ports[0].counters().adminConnects > connects;
			},
			10s);
	}

	// Waits until both paths are usable, and that of port 0 is optimized.
	bool both()
	{
		auto is = [this](std::size_t i, nvmeof::AnaState state) {
			for (auto &p : ports.host.paths())
				if (p.controller == names[i])
					return p.usable && p.anaState == state;
			return false;
		};
		bool good = eventually(
			[&] { return is(0, nvmeof::AnaState::optimized) && is(1, nvmeof::AnaState::nonOptimized); },
			20s);
		if (!good)
			WARN(ports.paths());
		return good;
	}

	// Checks that the write is held until the lost controller can no longer execute it, and not much longer.
	void heldUntilBound(const Pending &pending, bool execute)
	{
		auto deadline = stalledWrites.deadline();
		REQUIRE(deadline < Clock::now() + scaled(20s));
		auto bound = deadline - pending.begin();
		std::this_thread::sleep_until(deadline - 300ms);
		CHECK((pending.waits() || Clock::now() >= deadline));
		if (execute) // an emulator that was stalled may be late for it
			CHECK((stalledWrites.execute() == 1 || Clock::now() >= deadline));
		CHECK(pending.join(8s));
		CHECK(pending.status() == 0);
		CHECK(pending.end() >= deadline);
		CHECK(pending.took() < 2 * bound + scaled(2s));
	}

	// Writes newer data and checks that nothing overwrites it. Returns false if it was overwritten.
	bool newerDataStays(std::uint64_t offset, std::uint32_t seed)
	{
		REQUIRE(write(offset, seed) == 0);
		CHECK(stalledWrites.execute() == 0);
		bool stays = ports.stored(offset, length, seed);
		CHECK(stays);
		Buffer buffer(length);
		REQUIRE(disk->read(offset, buffer) == 0);
		CHECK(buffer.holds(seed));
		return stays;
	}

private:
	std::uint64_t connects = 0; // to port 0, before it was lost
};

Misbehaviour forCommand(bool (*act)(target::Strike &))
{
	return {"command",
		1,
		target::Hook::command,
		target::When::io,
		target::Expect::judgedByTest,
		target::Needs::nothing,
		act};
}

// Takes the command, does not answer, and resets the connection.
bool swallow(target::Strike &s, bool condition)
{
	if (!condition)
		return false;
	auto *conn = &s.conn;
	s.verdict = target::Verdict::drop;
	s.after = [conn] { conn->end(true); };
	return true;
}

} // namespace

TEST_CASE("fencing=immediate: the retry is immediate, and a late write can overwrite newer data",
	  "[fencing][immediate]")
{
	Scene scene({.keepAlive = 4000ms, .fencing = "immediate"});
	unsigned overwritten = 0, count = rounds("NVMEOF_FENCING_IMMEDIATE", 5);
	for (unsigned round = 0; round < count; round++) {
		auto pending = scene.stall(place(round), 1000 + round, "write-stalled-then-rst");
		auto deadline = scene.stalledWrites.deadline();
		REQUIRE(pending.join(5s));
		CHECK(pending.status() == 0);
		CHECK(Clock::now() < deadline);
		REQUIRE(scene.write(place(round), 2000 + round) == 0);
		scene.stalledWrites.execute();
		overwritten += scene.ports.stored(place(round), Scene::length, 1000 + round) ? 1 : 0;
		REQUIRE(scene.both());
	}
	record("immediate", "ours", overwritten, count);
	CHECK(overwritten >= 1); // fencing=safe prevents this
}

TEST_CASE("fencing=auto, the default: a write is retried at once if the peer ended the connection",
	  "[fencing][auto][short]")
{
	Scene scene({.keepAlive = 4000ms, .fencing = ""});
	auto pending = scene.stall(0, 7, "write-stalled-then-rst");
	auto deadline = scene.stalledWrites.deadline();
	REQUIRE(pending.join(5s));
	CHECK(pending.status() == 0);
	CHECK(Clock::now() < deadline);
}

TEST_CASE("fencing=auto: after a silent loss a write waits for the keep-alive timeout, as with other hosts",
	  "[fencing][auto][bound][short]")
{
	constexpr auto timer = 2000ms;
	Scene scene({.keepAlive = timer, .fencing = ""});
	unsigned overwritten = 0, count = rounds("NVMEOF_FENCING_AUTO", 3);
	for (unsigned round = 0; round < count; round++) {
		INFO("round " << round);
		auto pending = scene.stall(place(round), 1000 + round, "write-stalled-silent");
		REQUIRE(pending.join(8s));
		CHECK(pending.status() == 0);
		CHECK(pending.took() >= scaled(timer) - 50ms);
		CHECK(pending.took() < scaled(timer) + 1s);
		REQUIRE(scene.write(place(round), 2000 + round) == 0);
		scene.stalledWrites.execute();
		overwritten += scene.ports.stored(place(round), Scene::length, 1000 + round) ? 1 : 0;
		REQUIRE(scene.both());
		rest(round, count);
	}
	record("default", "ours", overwritten, count);
}

TEST_CASE("fencing=auto: a requested reset of a controller that answers moves its writes at once", "[fencing][auto]")
{
	Scene scene({.keepAlive = 4000ms, .fencing = ""});
	auto pending = scene.stall(0, 7, "write-stalled");
	CHECK(scene.ports.host.client().reset(scene.names[0]).ok());
	REQUIRE(pending.join(scaled(1s)));
	CHECK(pending.status() == 0);
}

TEST_CASE("fencing=auto: a backend that hangs keeps its writes; reads and new requests use the other path",
	  "[fencing][auto][stall][trap1][short]")
{
	static const auto hang = forCommand([](auto &s) {
		if (s.io())
			s.verdict = target::Verdict::hold;
		return s.io();
	});
	Scene scene({.keepAlive = 4000ms, .fencing = ""});
	auto connects = scene.ports[0].counters().adminConnects.load();
	auto leftOut = [&] {
		for (auto &p : scene.ports.host.paths())
			if (p.controller == scene.names[0])
				return p.degraded;
		return false;
	};
	unsigned overwritten = 0, count = rounds("NVMEOF_FENCING_SLOW", 3);
	for (unsigned round = 0; round < count; round++) {
		INFO("round " << round);
		auto offset = place(round);
		REQUIRE(scene.write(65536 * 16 + offset, 9) == 0);
		scene.ports[0].script().arm(hang, target::Script::forever);
		Pending write([&, offset, round] { return scene.write(offset, 1000 + round); });
		Pending read([&, offset] {
			Buffer buffer(Scene::length);
			int err = scene.disk->read(65536 * 16 + offset, buffer);
			return err ? err : buffer.holds(9) ? 0 : -ESTALE;
		});
		REQUIRE(read.join(scaled(6s)));
		CHECK(read.status() == 0);
		CHECK(read.took() < scaled(4s)); // detection is slower while the other path is idle
		CHECK(leftOut());
		Stopwatch fresh;
		CHECK(scene.write(65536 * 32 + offset, round) == 0);
		CHECK(fresh.elapsed() < scaled(500ms));
		std::this_thread::sleep_for(5s); // longer than the keep-alive timeout, which does not notice
		CHECK(write.waits());
		scene.ports[0].script().disarm();
		scene.ports[0].releaseHeld();
		REQUIRE(write.join(scaled(5s)));
		CHECK(write.status() == 0);
		overwritten += scene.newerDataStays(offset, 5000 + round) ? 0 : 1;
		CHECK(eventually([&] { return !leftOut(); }, scaled(10s)));
		std::this_thread::sleep_for(12s); // a path that stalls again soon is avoided for longer
	}
	record("default", "ours", overwritten, count);
	// Over RDMA a late answer to a detached command ends the connection: its memory key is no longer valid.
	if (!notOverRdma("the connection outlives answers that come late"))
		CHECK(scene.ports[0].counters().adminConnects == connects);
}

TEST_CASE("fencing=safe with Cross-Controller Reset: newer data is never overwritten", "[fencing][ccr][trap1][short]")
{
	Scene scene({.keepAlive = 10s, .ccrLimit = 4});
	Stopwatch all;
	unsigned overwritten = 0;
	auto count = rounds("NVMEOF_FENCING_CCR", 20);
	Millis max{0};
	for (unsigned round = 0; round < count; round++) {
		INFO("round " << round);
		auto resets = scene.ports[1].counters().crossResets.load();
		bool deferred = round % 4 == 3;
		scene.ports[1].setCcr({deferred ? 200ms : 0ms});
		auto pending = scene.stall(place(round), 1000 + round, "write-stalled-then-rst");
		if (deferred) { // until the reset is done the old controller may execute the write
			std::this_thread::sleep_for(100ms);
			auto hold = scene.hold();
			CHECK((pending.waits() || scene.stalledWrites.waiting() == 0));
			CHECK((!pending.waits() || (hold && hold->asked == scene.names[1])));
		}
		REQUIRE(pending.join(8s)); // far less than the bound of 10 s
		CHECK(pending.status() == 0);
		max = std::max(max, pending.took());
		CHECK(scene.ports[1].counters().crossResets > resets);
		overwritten += scene.newerDataStays(place(round), 5000 + round) ? 0 : 1;
		REQUIRE(scene.both());
	}
	record("safe", "ours", overwritten, count);
	CHECK(scene.stalledWrites.executed() == 0);
	std::printf("%u rounds in %ld ms, a write waited %ld ms at most\n", count, all.elapsed().count(), max.count());
}

TEST_CASE("fencing=safe without CCR: held until the controller has given up", "[fencing][bound][trap1][short]")
{
	Scene scene;
	unsigned overwritten = 0;
	auto count = rounds("NVMEOF_FENCING_BOUND", 3);
	for (unsigned round = 0; round < count; round++) {
		INFO("round " << round);
		auto pending = scene.stall(place(round), 1000 + round, "write-stalled-silent");
		scene.heldUntilBound(pending, round % 2 == 0);
		overwritten += scene.newerDataStays(place(round), 5000 + round) ? 0 : 1;
		REQUIRE(scene.both());
		rest(round, count);
	}
	record("safe", "ours", overwritten, count);
}

TEST_CASE("the bound is the controller's: KAS granularity, traffic based keep-alive, quiesce time",
	  "[fencing][bound][trap1]")
{
	Setup setup;
	SECTION("a timeout of 1500 ms that the controller rounds up to 2 s")
	{
		setup.kas = 10;
		setup.keepAlive = 1500ms;
	}
	SECTION("traffic based: one period more")
	{
		setup.trafficKeepAlive = true;
	}
	SECTION("a quiesce time of 1500 ms")
	{
		setup.quiesce = 1500;
	}
	Scene scene(setup);
	auto pending = scene.stall(0, 7, "write-stalled-silent");
	scene.heldUntilBound(pending, false);
	scene.newerDataStays(0, 8);
}

// Common targets close the connection before their backend has finished, and report no CQT.
TEST_CASE("fencing=safe: quiesce-tmo applies to a target without CQT, even if the target ends the connection",
	  "[fencing][bound][quiesce][trap1]")
{
	Scene scene({.quiesce = 0});
	auto node = scene.ports.host.client().subsystems();
	CHECK(take(std::move(node)).front().quiesceTimeout == 30s);
	scene.ports.set("quiesce-tmo=3");
	auto pending = scene.stall(0, 7, "write-stalled-then-rst");
	std::this_thread::sleep_for(scaled(2 * scene.keepAlive) + 2500ms);
	CHECK(pending.waits());
	// The hold names the lost controller and the time left.
	auto hold = scene.hold();
	REQUIRE(hold);
	CHECK(hold->controller == scene.names[0]);
	CHECK(hold->left > 0ms);
	CHECK(hold->left <= 700ms);
	CHECK(hold->asked.empty());
	auto shown = run("nvmeofctl show " + scene.node);
	INFO(shown.text);
	CHECK(shown.text.find(": the association of " + scene.names[0] + " was lost") != std::string::npos);
	CHECK(pending.join(8s));
	CHECK_FALSE(scene.hold());
	CHECK(pending.status() == 0);
	CHECK(pending.took() >= scaled(2 * scene.keepAlive) + 2900ms);
	CHECK(scene.newerDataStays(0, 8));
	CHECK(kernelLogHas("the time bound has passed"));
}

TEST_CASE("reads and flushes complete while a write is held", "[fencing][reads]")
{
	Scene scene({.keepAlive = 3000ms});
	REQUIRE(scene.write(4096, 42) == 0);
	auto pending = scene.stall(0, 7, "write-stalled-then-rst");
	REQUIRE(scene.noticed());
	auto deadline = scene.stalledWrites.deadline();
	Buffer buffer(Scene::length);
	unsigned reads = 0;
	while (Clock::now() < deadline - 500ms) {
		Stopwatch one;
		REQUIRE(scene.disk->read(reads % 2 * 4096, buffer) == 0);
		CHECK(one.elapsed() < scaled(1s));
		if (reads % 2)
			CHECK(buffer.holds(42));
		REQUIRE(scene.disk->flush() == 0);
		REQUIRE(scene.write(8192, reads) == 0); // a new write was not on the lost path
		reads++;
	}
	CHECK(reads >= 5);
	CHECK(pending.waits());
	scene.heldUntilBound(pending, true);
	scene.newerDataStays(0, 8);
}

TEST_CASE("reads and flushes of the lost path are retried at once; Write Zeroes and discards are held",
	  "[fencing][kinds]")
{
	static const auto read = forCommand([](auto &s) { return swallow(s, s.ioRead()); });
	static const auto flush = forCommand([](auto &s) { return swallow(s, s.io() && s.is(target::op_flush)); });
	static const auto zeroes =
		forCommand([](auto &s) { return swallow(s, s.io() && s.is(target::op_write_zeroes)); });
	static const auto discard = forCommand([](auto &s) { return swallow(s, s.io() && s.is(target::op_dsm)); });
	constexpr auto timer = 3000ms;
	Scene scene({.keepAlive = timer});
	auto lose = [&](const Misbehaviour &how, std::function<int()> command) {
		scene.ports[0].script().arm(how);
		Pending pending(std::move(command));
		REQUIRE(scene.ports[0].script().waitStrikes(1, scaled(5s)));
		REQUIRE(pending.join(12s));
		CHECK(pending.status() == 0);
		REQUIRE(scene.both());
		return pending.took();
	};
	auto disk = scene.disk;
	CHECK(lose(read, [disk] {
		      Buffer buffer(4096);
		      return disk->read(0, buffer);
	      }) < scaled(timer) - 500ms);
	CHECK(lose(flush, [disk] { return disk->flush(); }) < scaled(timer) - 500ms);
	CHECK(lose(zeroes, [disk] { return disk->zeroOut(0, 65536); }) >= scaled(timer) - 500ms);
	CHECK(lose(discard, [disk] { return disk->discard(0, 65536); }) >= scaled(timer) - 500ms);
}

TEST_CASE("reset, deletion and timeouts of the lost controller release nothing", "[fencing][trap2]")
{
	Scene scene({.keepAlive = 3000ms});
	auto &client = scene.ports.host.client();
	bool deleted = false;
	auto pending = [&] { return scene.stall(0, 7, "write-stalled-silent"); };
	auto lost = [&] {
		auto held = scene.stall(0, 7, "write-stalled-then-rst");
		REQUIRE(scene.noticed());
		return held;
	};
	SECTION("reset after it has reconnected")
	{
		auto held = lost();
		REQUIRE(scene.ports.live(scene.names[0]));
		CHECK(client.reset(scene.names[0]).ok());
		scene.heldUntilBound(held, true);
	}
	SECTION("reset before the host has noticed anything")
	{
		auto held = pending();
		CHECK(client.reset(scene.names[0]).ok());
		scene.heldUntilBound(held, true);
	}
	SECTION("deleted")
	{
		deleted = true;
		auto held = lost();
		CHECK(client.disconnect(scene.names[0]).ok());
		scene.heldUntilBound(held, true);
	}
	SECTION("deleted before the host has noticed anything")
	{
		deleted = true;
		auto held = pending();
		CHECK(client.disconnect(scene.names[0]).ok());
		scene.heldUntilBound(held, true);
	}
	SECTION("reset many times while it reconnects")
	{
		auto held = lost();
		for (int i = 0; i < 10; i++) {
			(void)client.reset(scene.names[0]); // refused while it connects
			std::this_thread::sleep_for(100ms);
		}
		scene.heldUntilBound(held, true);
	}
	SECTION("the request timeout expires")
	{
		writeFile("/sys/block/" + scene.node.substr(5) + "/queue/io_timeout",
			  std::to_string(scaled(500ms).count()));
		auto held = lost();
		scene.heldUntilBound(held, true);
	}
	scene.newerDataStays(0, 8);
	if (!deleted)
		CHECK(scene.both());
}

TEST_CASE("a disk that is removed while a write is held for it", "[fencing][removal][trap2]")
{
	Scene scene({.keepAlive = 4s});
	auto pending = scene.stall(0, 7, "write-stalled-then-rst");
	auto deadline = scene.stalledWrites.deadline();
	REQUIRE(scene.noticed());
	REQUIRE(scene.both()); // reconnected
	CHECK(pending.waits());
	SECTION("all controllers deleted")
	{
		scene.ports.host.disconnectAll();
	}
	SECTION("the namespace removed at the target")
	{
		scene.ports.subsystem().stores().remove(1);
		for (std::size_t i : {0, 1})
			scene.ports[i].namespacesChanged();
	}
	REQUIRE(pending.join(12s));
	// The write may fail. It may also succeed if the removal waits for it, but never early.
	CHECK((pending.status() < 0 || Clock::now() >= deadline));
	scene.disk.reset();
}

TEST_CASE("a held write fails at once when the last path and the disk are removed",
	  "[fencing][removal][unload][trap2][trap24]")
{
	Scene scene({.keepAlive = 20s});
	auto pending = scene.stall(0, 7, "write-stalled-then-rst");
	REQUIRE(scene.noticed());
	REQUIRE(scene.both());
	for (std::size_t i : {0, 1})
		scene.ports[i].stop();
	for (auto &name : scene.names)
		REQUIRE(scene.ports.host.waitState(name, ControllerState::connecting));
	CHECK(pending.waits());
	Stopwatch time;
	scene.ports.host.disconnectAll();
	CHECK(time.elapsed() < scaled(5s));
	CHECK(pending.join(5s));
	CHECK(pending.status() < 0);
	scene.disk.reset();
	scene.ports.host.forget();
	CHECK(eventually([] { return Host::unload().status == 0 || !Host::loaded(); }, 5s));
	Host::load();
	scene.ports.host.reopen();
}

TEST_CASE("removal of a disk stops waiting for a write when the last connection is lost",
	  "[fencing][removal][trap2][trap24]")
{
	Scene scene({.keepAlive = 20s});
	auto &host = scene.ports.host;
	auto pending = scene.stall(0, 7, "write-stalled");
	REQUIRE(host.client().disconnect(scene.names[1]).ok());
	Stopwatch time;
	std::thread cut([&] {
		std::this_thread::sleep_for(500ms); // the removal waits for the write
		scene.ports[0].dropConnections(true);
	});
	host.disconnectAll();
	CHECK(time.elapsed() < scaled(8s));
	cut.join();
	CHECK(pending.join(5s));
	CHECK(pending.status() < 0);
	scene.disk.reset();
}

TEST_CASE("Cross-Controller Reset that does not work: a write is held until the bound", "[fencing][ccr][trap1]")
{
	static const auto refused = forCommand([](target::Strike &s) {
		if (!s.admin(target::op_cross_reset))
			return false;
		s.verdict = target::Verdict::failed;
		s.status = target::st_ccr_limit;
		return true;
	});
	static const auto never = forCommand([](target::Strike &s) {
		if (!s.admin(target::op_cross_reset))
			return false;
		s.verdict = target::Verdict::drop;
		return true;
	});
	Scene scene({.keepAlive = 2000ms, .ccrLimit = 4, .ccrByOther = true});
	auto &other = scene.ports[1];
	SECTION("it fails")
	{
		other.setCcr({100ms, false, true});
	}
	SECTION("it fails without an event")
	{
		other.setCcr({100ms, false, false});
	}
	SECTION("it takes longer than the bound")
	{
		other.setCcr({20s, true, true});
	}
	SECTION("it is refused")
	{
		other.script().arm(refused, target::Script::forever);
	}
	SECTION("it is not answered")
	{
		other.script().arm(never, target::Script::forever);
	}
	auto pending = scene.stall(0, 7, "write-stalled-silent");
	scene.heldUntilBound(pending, true);
	CHECK((other.counters().crossResets > 0 || other.script().strikes() > 0));
	other.script().disarm();
	CHECK(scene.both());
	scene.newerDataStays(0, 8);
}

TEST_CASE("Cross-Controller Reset that completes without an event releases the write", "[fencing][ccr]")
{
	Scene scene({.keepAlive = 2000ms, .ccrLimit = 4});
	scene.ports[1].setCcr({100ms, true, false});
	auto pending = scene.stall(0, 7, "write-stalled-silent");
	CHECK(pending.join(10s)); // after reading the log, or at the bound
	CHECK(pending.status() == 0);
	scene.newerDataStays(0, 8);
}

TEST_CASE("load survives repeated connection loss with fencing=safe", "[fencing][load]")
{
	Scene scene({.keepAlive = 5s, .ccrLimit = 4});
	FioLoad load({.file = scene.node, .blocks = "4k", .depth = 8, .size = "4m", .seconds = 8});
	for (int i = 0; load.running(); i++) {
		std::this_thread::sleep_for(500ms);
		scene.ports[0].script().arm(*target::findMisbehaviour("write-stalled-then-rst"));
		bool struck = scene.ports[0].script().waitStrikes(1, scaled(2s));
		scene.ports[0].script().disarm();
		if (struck && i % 2)
			scene.stalledWrites.execute(); // allowed until the host has had the controller reset
		CHECK(eventually([&] { return scene.stalledWrites.waiting() == 0; }));
		scene.both();
	}
	auto result = load.wait(40s);
	INFO(result.text);
	CHECK(result.good());
	CHECK(scene.ports[1].counters().crossResets > 0);
}

} // namespace guest::fencing
