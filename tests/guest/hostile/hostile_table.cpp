// SPDX-License-Identifier: LGPL-2.1-or-later
// Each misbehaviour of the table, and misbehaviour at random under load.
#include "hostile_stage.h"
#include "hostile_tally.h"
#include "support/fio.h"
#include "support/reproduce.h"
#include "support/selection.h"

#include <random>
#include <thread>

namespace guest::hostile {

using nvmeof::ControllerState;
using target::Expect;
using target::Misbehaviour;
using target::Needs;
using target::When;

namespace {

target::Config configFor(Needs needs)
{
	target::Config config;
	config.ana = needs == Needs::ana;
	return config;
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

} // namespace guest::hostile
