// SPDX-License-Identifier: LGPL-2.1-or-later
// Scans of namespaces, and the events that start them, with a target that is slow, refuses or falls silent.
#include "hostile_stage.h"
#include "hostile_tally.h"

#include <atomic>
#include <memory>
#include <optional>
#include <thread>

namespace guest::hostile_scan {

using nvmeof::ControllerState;
using target::Bytes;
using target::Expect;
using target::Misbehaviour;
using target::Needs;
using target::Verdict;
using target::When;
using target::acts::always;
using target::acts::failed;
using target::acts::verdict;

namespace {

constexpr std::uint64_t mib = 1 << 20;

} // namespace

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

TEST_CASE("a scan that refuses many namespaces sends few events", "[hostile][namespaces]")
{
	Stage stage;
	for (std::uint32_t nsid = 2; nsid <= 80; nsid++)
		stage.server.stores().add(nsid, 1 * mib, 8); // blocks of 256 bytes
	Watch watch;
	stage.host.connect(stage.options());
	unsigned events = 0;
	CHECK(watch.find([&](auto &e) {
		events += e.type == nvmeof::EventType::refused;
		return e.reason.find("79 namespaces refused") != std::string::npos;
	}));
	CHECK(events == 33);
	CHECK(take(stage.host.client().namespaces()).size() == 1);
	CHECK(stage.work(Disk(stage.disk())) == 0);
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

} // namespace guest::hostile_scan
