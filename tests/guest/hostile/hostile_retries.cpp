// SPDX-License-Identifier: LGPL-2.1-or-later
// Requests that a target fails, loses or delays: where and how often they are retried.
#include "hostile_ports.h"
#include "support/fio.h"
#include "support/stalled_writes.h"
#include "target/acts.h"
#include "target/connection.h"
#include "target/identify.h"

#include <atomic>
#include <thread>

namespace guest::hostile_retries {

using target::Misbehaviour;
using target::acts::always;
using target::acts::failed;
using target::acts::poke;
using target::acts::when;

namespace {

const auto pathError =
	always(target::Hook::command, [](target::Strike &s) { return failed(s.io(), s, target::st_path_internal); });
const auto inaccessible = always(target::Hook::command, [](target::Strike &s) {
	return failed(s.io(), s, target::st_ana_inaccessible); // although the ANA log reports optimized
});

} // namespace

TEST_CASE("two live paths that both fail: the retries of a request are bounded", "[hostile][paths][trap30]")
{
	static const auto transition = always(
		target::Hook::command, [](target::Strike &s) { return failed(s.io(), s, target::st_ana_transition); });
	const Misbehaviour *how = nullptr;
	SECTION("internal path error")
	{
		how = &pathError;
	}
	SECTION("ANA inaccessible, contrary to the log")
	{
		how = &inaccessible;
	}
	SECTION("ANA transition, contrary to the log")
	{
		how = &transition;
	}
	Ports ports({withAna(), withAna()});
	auto list = ports.connectAll();
	Disk disk(ports.disk());
	REQUIRE(ports.work(disk) == 0);
	for (std::size_t i : {0, 1})
		ports[i].script().arm(*how, target::Script::forever);
	Buffer buffer(4096);
	Stopwatch time;
	CHECK(disk.read(0, buffer) < 0);
	CHECK(time.elapsed() < scaled(10s));
	auto tries = ports[0].script().strikes() + ports[1].script().strikes();
	CHECK(tries >= 2);
	CHECK(tries <= 64);
	for (std::size_t i : {0, 1})
		ports[i].script().disarm();
	for (auto &c : list)
		CHECK(ports.live(c.name));
	CHECK(eventually([&] { return ports.work(disk) == 0; }, 5s));
}

TEST_CASE("one of two paths fails every request: the other path completes them", "[hostile][paths][trap30]")
{
	Ports ports({withAna(), withAna()});
	ports.connectAll();
	Disk disk(ports.disk());
	REQUIRE(ports.work(disk) == 0);
	ports[0].script().arm(pathError, target::Script::forever);
	for (int i = 0; i < 5; i++)
		CHECK(ports.work(disk) == 0);
	CHECK(ports[0].script().strikes() > 0);
	ports[0].script().disarm();
}

// The next path may have no polled queue, and the request may have to wait: REQ_POLLED and REQ_NOWAIT are cleared.
TEST_CASE("polled and no-wait requests move like others", "[hostile][paths][trap25][short]")
{
	Ports ports({withAna(), withAna()});
	for (std::size_t i : {0, 1}) {
		auto o = ports.options(i);
		o.pollQueues = 1;
		CHECK(ports.host.connect(o).pollQueues == 1);
	}
	ports.set("iopolicy=round-robin");
	FioLoad polled({.file = ports.disk(),
			.blocks = "4k",
			.depth = 4,
			.size = "1m",
			.engine = "io_uring",
			.seconds = 60,
			.more = "--hipri"});
	FioLoad impatient({.file = ports.disk(),
			   .blocks = "4k",
			   .depth = 1,
			   .size = "1m",
			   .engine = "pvsync2",
			   .seconds = 60,
			   .more = "--nowait=1 --offset=4m"});
	for (std::size_t i : {0, 1, 0, 1}) {
		ports[i].script().arm(pathError, 20);
		CHECK(ports[i].script().waitStrikes(20, scaled(10s)));
		ports[i].script().disarm();
		dropAndWaitReconnected(ports, {i});
	}
	dropAndWaitReconnected(ports, {0, 1}); // no usable path for a while
	for (auto *load : {&polled, &impatient})
		expectGoodUntilNow(*load);
}

TEST_CASE("an Internal Error from one of two paths is retried on the other", "[hostile][paths][trap30]")
{
	static const auto internal =
		always(target::Hook::command, [](target::Strike &s) { return failed(s.io(), s, target::st_internal); });
	Ports ports({withAna(), withAna()});
	ports.connectAll();
	Disk disk(ports.disk());
	REQUIRE(ports.work(disk) == 0);
	for (std::size_t i : {0, 1}) { // the policy may prefer either
		ports[i].script().arm(internal, target::Script::forever);
		for (int n = 0; n < 5; n++)
			CHECK(ports.work(disk) == 0);
		ports[i].script().disarm();
	}
	CHECK(ports[0].script().strikes() + ports[1].script().strikes() > 0);
}

TEST_CASE("a write is retried until the only path stops answering with path errors", "[hostile][paths][trap30]")
{
	const Misbehaviour *how = nullptr;
	SECTION("internal path error")
	{
		how = &pathError;
	}
	SECTION("ANA inaccessible, ahead of the log")
	{
		how = &inaccessible;
	}
	Ports ports({withAna()});
	ports.connect(0);
	Disk disk(ports.disk());
	REQUIRE(ports.work(disk) == 0);
	ports[0].script().arm(*how, target::Script::forever);
	int written = 1;
	std::jthread writer([&] {
		Buffer buffer(4096);
		buffer.fill(7);
		written = disk.write(0, buffer);
	});
	REQUIRE(ports[0].script().waitStrikes(1, scaled(5s)));
	std::this_thread::sleep_for(200ms); // retries without a delay would be used up
	ports[0].script().disarm();
	writer.join();
	CHECK(written == 0);
}

TEST_CASE("degrade: a path by which requests fail is avoided until it recovers", "[hostile][paths][degrade]")
{
	static std::atomic<unsigned> turn; // fails every other request, so that no series of probes succeeds
	turn = 0;
	static const auto flaky = always(target::Hook::command, [](target::Strike &s) {
		return failed(s.io() && turn++ % 2, s, target::st_internal); // without DNR
	});
	Ports ports({withAna(), withAna()});
	auto list = ports.connectAll();
	ports.set("iopolicy=round-robin");
	ports.set("degrade=on");
	auto bad = pathOf(ports, list[0].name)->name;
	Watch watch;
	auto told = [&](nvmeof::EventType type) {
		return watch.find([&](auto &e) { return e.type == type && e.name() == bad; }, 20s).has_value();
	};
	FioLoad load({.file = ports.disk(), .size = "4m", .seconds = 120});
	ports[0].script().arm(flaky, target::Script::forever);
	CHECK(told(nvmeof::EventType::degraded));
	CHECK(pathOf(ports, list[0].name)->degraded);
	auto failed = ports[0].script().strikes();
	CHECK(failed >= 5);
	std::this_thread::sleep_for(1s);
	CHECK(ports[0].script().strikes() < failed + 40); // only probes, at most 20 per second
	CHECK(pathOf(ports, list[0].name)->degraded);
	ports[0].script().disarm();
	CHECK(told(nvmeof::EventType::restored));
	CHECK_FALSE(pathOf(ports, list[0].name)->degraded);
	CHECK(load.running());
	auto result = load.finish(90s);
	INFO(result.text);
	CHECK(result.good());
}

TEST_CASE("a status with a Command Retry Delay is retried after that delay", "[hostile][paths][crdt]")
{
	static const auto delays = always(target::Hook::adminData, [](target::Strike &s) {
		return poke<std::uint16_t>(s.identify(target::cns_ctrl), s, 130, 8); // CRDT2: 800 ms
	});
	static const auto notNow = always(target::Hook::command, [](target::Strike &s) {
		return failed(s.ioRead(), s, target::st_internal | 2 << 11);
	});
	for (unsigned n : {1u, 2u}) { // one path, then two
		INFO(n << " paths");
		Ports ports(std::vector(n, target::Config()));
		for (unsigned i = 0; i < n; i++)
			ports[i].script().arm(delays, target::Script::forever);
		ports.connectAll();
		Disk disk(ports.disk());
		REQUIRE(ports.work(disk) == 0);
		for (unsigned i = 0; i < n; i++) {
			ports[i].script().disarm();
			ports[i].script().arm(notNow, n == 1 ? 1 : target::Script::forever);
		}
		Pending read([node = ports.disk()] {
			Buffer buffer(4096);
			return Disk(node).read(0, buffer);
		});
		REQUIRE(read.waits());
		std::this_thread::sleep_for(500ms);
		for (unsigned i = 0; i < n; i++)
			ports[i].script().disarm();
		REQUIRE(read.join(5s));
		CHECK(read.status() == 0);
		CHECK(read.took() >= 750ms);
	}
}

TEST_CASE("a read completes although the target always exceeds the request timeout", "[hostile][slow]")
{
	static const auto slow = always(target::Hook::command, [](target::Strike &s) {
		if (s.ioRead())
			s.verdict = target::Verdict::hold;
		return s.ioRead();
	});
	Ports ports(std::vector<target::Config>(1));
	ports.connectAll();
	auto node = ports.disk();
	REQUIRE(ports.work(Disk(node)) == 0);
	writeFile("/sys/block/" + node.substr(5) + "/queue/io_timeout", "1000");
	ports[0].script().arm(slow, target::Script::forever);
	std::jthread answers([&](std::stop_token stop) {
		// Answers each read after 2.5 s. The host sends an Abort after 1 s and would end the association 1 s
		// later.
		for (std::uint64_t seen = 0; !stop.stop_requested(); std::this_thread::sleep_for(20ms)) {
			if (ports[0].script().strikes() == seen)
				continue;
			seen = ports[0].script().strikes();
			std::this_thread::sleep_for(2500ms);
			ports[0].releaseHeld();
		}
	});
	Pending read([node] {
		Buffer buffer(4096);
		return Disk(node).read(0, buffer);
	});
	CHECK(read.join(scaled(15s)));
	CHECK(read.status() == 0);
	answers.request_stop();
	answers.join();
	ports[0].script().disarm();
	ports[0].releaseHeld();
}

TEST_CASE("a request is retried over lost connections until fast_io_fail_tmo, or else ctrl_loss_tmo",
	  "[hostile][losses][trap30]")
{
	static const auto cut = always(target::Hook::command, [](target::Strike &s) {
		auto *conn = &s.conn;
		return when(s.ioRead(), [&] {
			s.verdict = target::Verdict::drop;
			conn->end(true);
		});
	});
	constexpr int more = 20; // more than NOF_MAX_LOSSES, which are allowed at any time
	Ports ports(std::vector<target::Config>(1));
	auto o = ports.options(0);
	struct {
		Millis loss, fail;
		bool ends;
	} const limits[] = {{-1ms, -1ms, false}, {scaled(60s), -1ms, false}, {1s, -1ms, true}, {scaled(60s), 1s, true}};
	auto &limit = limits[GENERATE(0, 1, 2, 3)];
	INFO("ctrl_loss_tmo " << limit.loss.count() << " fast_io_fail_tmo " << limit.fail.count());
	o.ctrlLoss = limit.loss;
	o.fastIoFail = limit.fail;
	auto c = ports.host.connect(o);
	Disk disk(ports.disk());
	REQUIRE(ports.work(disk) == 0);
	ports[0].script().arm(cut, limit.ends ? target::Script::forever : more);
	Buffer buffer(4096);
	CHECK((disk.read(0, buffer) == 0) == !limit.ends);
	CHECK(ports[0].script().strikes() >= (limit.ends ? 16 : more)); // reconnects are quick: no controller is lost
	ports[0].script().disarm();
	CHECK(ports.live(c.name));
	CHECK(ports.work(disk) == 0);
}

TEST_CASE("a read completes although both paths take longer than the timeouts", "[hostile][paths][slow]")
{
	Ports ports(std::vector<target::Config>(2));
	ports.connectAll();
	auto node = ports.disk();
	REQUIRE(ports.work(Disk(node)) == 0);
	for (std::size_t i : {0, 1})
		ports[i].setLatency(70s);
	Pending read([node] {
		Buffer buffer(4096);
		return Disk(node).read(0, buffer);
	});
	// The read is detached once and times out once; then the host waits long enough.
	CHECK(read.join(scaled(240s)));
	CHECK(read.status() == 0);
	CHECK(ports[0].counters().reads + ports[1].counters().reads <= 8);
	for (std::size_t i : {0, 1})
		ports[i].setLatency(0s);
	CHECK(eventually([&] { return ports.work(Disk(node)) == 0; }, 15s));
}

} // namespace guest::hostile_retries
