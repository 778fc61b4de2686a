// SPDX-License-Identifier: LGPL-2.1-or-later
// Commands, connects and removals with a target that does not answer.
#include "hostile_stage.h"
#include "support/fio.h"

#include <csignal>
#include <thread>

namespace guest::hostile_silence {

using nvmeof::ControllerState;
using target::Verdict;
using target::When;
using target::acts::always;
using target::acts::verdict;

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

} // namespace guest::hostile_silence
