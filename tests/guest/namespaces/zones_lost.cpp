// SPDX-License-Identifier: LGPL-2.1-or-later
// Zoned namespaces of the scriptable target: commands lost without an answer, and protocol violations about zones
#include "hostile/hostile_format.h"
#include "support/reproduce.h"
#include "support/selection.h"
#include "support/stalled_writes.h"
#include "support/zoned.h"
#include "target/acts.h"
#include "target/connection.h"

namespace guest::zones_lost {

using target::Hook;
using target::Misbehaviour;
using target::When;
using target::acts::always;

namespace {

constexpr std::uint64_t mib = 1 << 20;
constexpr unsigned zone = 2048, capacity = 1536; // sectors

target::Config zoned()
{
	target::Config config;
	config.ana = true;
	config.zoned = true;
	config.kas = 1;
	return config;
}

// The first port gets the writes while it is there; the other one takes over.
struct Scene {
	Ports ports{std::vector<target::Config>{zoned(), zoned()}};
	std::shared_ptr<Disk> disk;

	Scene()
	{
		ports.store().makeZoned({.blocks = zone, .capacity = capacity, .maxOpen = 3, .maxActive = 4});
		ports[1].setAnaState(1, target::ana_non_optimized);
		ports.connectAll();
		auto node = ports.disk();
		REQUIRE_FALSE(node.empty());
		disk = std::make_shared<Disk>(node);
		REQUIRE(write(0, 1) == 0);
		REQUIRE(both());
	}

	target::ZoneTable &zones() { return *ports.store().zones(); }
	int write(std::uint64_t sector, std::uint32_t seed, std::size_t bytes = length) const
	{
		Buffer buffer(bytes);
		buffer.fill(seed);
		return disk->write(sector * 512, buffer);
	}
	int manage(unsigned long what, unsigned n) const
	{
		return manageZones(*disk, what, std::uint64_t(n) * zone, zone);
	}
	bool both()
	{
		return eventually(
			[this] {
				auto paths = ports.host.paths();
				return std::ranges::count_if(paths, [](auto &p) { return p.usable; }) == 2;
			},
			20s);
	}
	bool holds(std::uint64_t sector, std::uint32_t seed) const
	{
		Buffer buffer(length);
		return disk->read(sector * 512, buffer) == 0 && buffer.holds(seed);
	}
};

// Cuts the connection on a write after writing `blocks` of its blocks; -1: all of them
template <int blocks> bool cutWrite(target::Strike &s)
{
	if (!s.ioWrite())
		return false;
	auto &store = *s.conn.server().stores().find(1);
	auto nr = blocks < 0 ? s.cmd->blocks() : std::uint32_t(blocks);
	if (nr && store.zones()->write(s.cmd->slba(), nr) == target::st_ok)
		store.write(s.cmd->slba(), std::span(*s.data).first(std::size_t(nr) << store.shift()), 1);
	auto *conn = &s.conn;
	s.verdict = target::Verdict::drop;
	s.after = [conn] { conn->end(true); };
	return true;
}

template <bool executed> bool cutAction(target::Strike &s)
{
	if (!s.io() || !s.is(target::op_zone_send))
		return false;
	auto &store = *s.conn.server().stores().find(1);
	if (executed)
		store.zones()->manage(s.cmd->slba(), static_cast<std::uint8_t>(s.cmd->cdw13), s.cmd->cdw13 >> 8 & 1);
	auto *conn = &s.conn;
	s.verdict = target::Verdict::drop;
	s.after = [conn] { conn->end(true); };
	return true;
}

bool cutReport(target::Strike &s)
{
	if (!s.io() || !s.is(target::op_zone_receive))
		return false;
	auto *conn = &s.conn;
	s.verdict = target::Verdict::drop;
	s.after = [conn] { conn->end(true); };
	return true;
}

const auto executedWrite = always(Hook::execute, cutWrite<-1>);
const auto lostWrite = always(Hook::execute, cutWrite<0>);
const auto halfWrite = always(Hook::execute, cutWrite<3>);
const auto executedAction = always(Hook::execute, cutAction<true>);
const auto lostAction = always(Hook::execute, cutAction<false>);
const auto lostReport = always(Hook::execute, cutReport);

} // namespace

TEST_CASE("a lost write: the write pointer shows whether it was executed", "[zones][lost][trap42][short]")
{
	Scene scene;
	auto &first = scene.ports[0].script();
	auto reports = scene.zones().reports();
	first.arm(executedWrite);
	CHECK(scene.write(8, 2) == 0);
	CHECK(scene.holds(8, 2));
	CHECK(scene.zones().wp(0) == 16);
	CHECK(scene.zones().reports() == reports + 1);
	REQUIRE(scene.both());

	first.arm(lostWrite);
	CHECK(scene.write(16, 3) == 0);
	CHECK(scene.holds(16, 3));
	CHECK(scene.zones().wp(0) == 24);
	REQUIRE(scene.both());

	// the last write of a zone: a full zone has no write pointer
	REQUIRE(scene.write(zone, 4, (capacity - 8) * 512) == 0);
	first.arm(executedWrite);
	CHECK(scene.write(zone + capacity - 8, 5) == 0);
	CHECK(scene.zones().state(1) == target::zone_full);
	CHECK(scene.holds(zone + capacity - 8, 5));
	REQUIRE(scene.both());

	// the zone report is lost, too
	first.arm(lostWrite);
	scene.ports[1].script().arm(lostReport);
	CHECK(scene.write(24, 6) == 0);
	CHECK(scene.holds(24, 6));
	CHECK(scene.zones().refused() == 0); // no write was resent without a zone report
	REQUIRE(scene.both());

	first.arm(halfWrite);
	CHECK(scene.write(32, 7) == -EIO);
	CHECK(scene.zones().wp(0) == 35);
	CHECK(scene.zones().refused() == 0);
	REQUIRE(scene.both());
	REQUIRE(scene.manage(BLKRESETZONE, 0) == 0);
	CHECK(scene.write(0, 8) == 0);

	// more open and active zones than permitted
	for (unsigned n : {3u, 4u, 5u})
		CHECK(scene.manage(BLKOPENZONE, n) == 0);
	CHECK(scene.manage(BLKOPENZONE, 6) == -EOVERFLOW);
	CHECK(scene.manage(BLKRESETZONE, 0) == 0);
	CHECK(scene.manage(BLKOPENZONE, 6) == -ETOOMANYREFS);
	CHECK(eventually([&] { return scene.ports.host.busy() == 0; }, 5s));
}

TEST_CASE("lost zone actions are retried if they did not take effect", "[zones][lost][trap42]")
{
	Scene scene;
	for (auto *how : {&executedAction, &lostAction}) {
		INFO(how->name << (how == &executedAction ? " executed" : " lost"));
		struct {
			unsigned long request;
			target::ZoneState then;
		} const steps[] = {{BLKOPENZONE, target::zone_explicit},
				   {BLKCLOSEZONE, target::zone_closed},
				   {BLKFINISHZONE, target::zone_full},
				   {BLKRESETZONE, target::zone_empty}};
		for (auto &step : steps) {
			if (step.request == BLKCLOSEZONE)
				REQUIRE(scene.write(2 * zone, 1) == 0);
			auto managed = scene.zones().managed();
			scene.ports[0].script().arm(*how);
			CHECK(scene.manage(step.request, 2) == 0);
			CHECK(scene.zones().state(2) == step.then);
			CHECK(scene.zones().managed() == managed + 1);
			REQUIRE(scene.both());
		}
		scene.ports[0].script().arm(*how);
		CHECK(manageZones(*scene.disk, BLKRESETZONE, 0, scene.disk->size() / 512) == 0);
		CHECK(scene.zones().state(0) == target::zone_empty);
		REQUIRE(scene.both());
		REQUIRE(scene.write(0, 1) == 0);
	}
	CHECK(scene.zones().refused() == 0);
}

TEST_CASE("a lost zone report is retried on another path", "[zones][lost][trap42][short]")
{
	Scene scene;
	int error = 0;
	scene.ports[0].script().arm(lostReport);
	CHECK(reportZones(*scene.disk, 0, 100, &error).size() == 8);
	CHECK(error == 0);
	CHECK(scene.ports[0].script().strikes() == 1);
	REQUIRE(scene.both());
}

TEST_CASE("the zone report after a lost write waits for the end of the fence under every policy",
	  "[zones][lost][fencing][trap42][trap47]")
{
	Scene scene;
	scene.ports.set("quiesce-tmo=0"); // this target honours the CQT it reports
	scene.ports.set(GENERATE("fencing=safe", "fencing=auto", "fencing=immediate"));
	auto reports = scene.zones().reports();
	scene.ports[0].script().arm(lostWrite);
	Pending pending([&scene] { return scene.write(8, 2); });
	std::this_thread::sleep_for(scaled(1s)); // the fence lasts 2 x 1.5 s
	CHECK(pending.waits());
	CHECK(scene.zones().reports() == reports);
	REQUIRE(pending.join(15s));
	CHECK(pending.status() == 0);
	CHECK(scene.holds(8, 2));
	CHECK(scene.zones().refused() == 0);
	CHECK(scene.zones().reports() > reports);
}

// The connection is reset, and the target executes the command 1.5 s later: later acknowledged writes must survive.
TEST_CASE("a zone reset that is executed late destroys no later write", "[zones][lost][fencing][trap47][short]")
{
	Scene scene;
	scene.ports.set(GENERATE("fencing=auto", "fencing=immediate"));
	constexpr unsigned n = 2;
	bool all = GENERATE(false, true);
	INFO((all ? "all zones" : "one zone"));
	REQUIRE(scene.write(n * zone, 1) == 0);
	auto &first = scene.ports[0].script();
	first.arm(lostAction);
	Pending pending([&scene, all] {
		int err = all ? manageZones(*scene.disk, BLKRESETZONE, 0, scene.disk->size() / 512)
			      : scene.manage(BLKRESETZONE, n);
		return err ? err : scene.write(n * zone, 9);
	});
	REQUIRE(first.waitStrikes(1, scaled(5s)));
	std::this_thread::sleep_for(scaled(1500ms));
	CHECK(scene.zones().manage(all ? 0 : n * zone, target::zone_reset, all) == target::st_ok);
	REQUIRE(pending.join(15s));
	CHECK(pending.status() == 0);
	CHECK(scene.zones().wp(n) == n * zone + 8);
	CHECK(scene.holds(n * zone, 9));
	CHECK(scene.zones().refused() == 0);
}

TEST_CASE("an inconsistent zone report after a lost write is rejected", "[zones][lost][hostile]")
{
	Scene scene;
	for (auto *name : {"zone-report-endless", "zone-start-wrong", "zone-capacity-over", "zone-pointer-beyond",
			   "zone-state-unknown", "zone-type-unknown"}) {
		INFO(name);
		// the first port may be back when the fence ends: both ports report wrongly
		scene.ports[1].script().arm(*target::findMisbehaviour(name), target::Script::forever);
		scene.ports[0].script().arm(lostWrite);
		Pending pending([&scene] { return scene.write(8, 2); });
		REQUIRE(scene.ports[0].script().waitStrikes(1, scaled(5s)));
		scene.ports[0].script().arm(*target::findMisbehaviour(name), target::Script::forever);
		REQUIRE(pending.join(15s));
		CHECK(pending.status() == -EIO);
		for (std::size_t port : {0u, 1u})
			scene.ports[port].script().disarm();
		CHECK(scene.zones().wp(0) == 8);
		REQUIRE(scene.both());
		CHECK_FALSE(reportZones(*scene.disk, 0, 1).empty());
	}
	CHECK(scene.write(8, 3) == 0);
	CHECK(scene.zones().refused() == 0);
}

TEST_CASE("a zone append is native where the parameter asks for it, with the limit of the target", "[zones][short]")
{
	auto config = zoned();
	config.zoneAppend = 1; // 8 KiB
	for (bool native : {true, false}) {
		INFO("native " << native);
		ModuleParameter parameter("native_append", native ? "1" : "0");
		Ports ports(std::vector<target::Config>{config});
		ports.store().makeZoned({.blocks = zone, .capacity = capacity, .maxOpen = 3, .maxActive = 4});
		ports.connect(0);
		auto node = ports.disk();
		REQUIRE_FALSE(node.empty());
		auto queue = [&](const char *attribute) {
			return readFile("/sys/block/" + node.substr(5) + "/queue/" + attribute);
		};
		// an elevator keeps the order of writes: the kernel cannot emulate appends by writes
		bool always = queue("scheduler").find("[mq-deadline]") != std::string::npos;
		CHECK((std::stoul(queue("zone_append_max_bytes")) == 8192) == (native || always));
	}
}

TEST_CASE("a target that reports wrong zones is not believed", "[zones][hostile][table]")
{
	for (auto &m : target::zoneMisbehaviours()) {
		if (!isSelected("NVMEOF_MISBEHAVIOUR", m.name))
			continue;
		DYNAMIC_SECTION(m.name << " (trap " << m.trap << "): " << toString(m.expect))
		{
			recordChoice("NVMEOF_MISBEHAVIOUR", m.name);
			Ports ports(std::vector<target::Config>{zoned()});
			ports.store().makeZoned({.blocks = zone, .capacity = capacity, .maxOpen = 3, .maxActive = 4});
			expectConnectResult(ports, m);
			ports[0].script().disarm();
			ports.host.disconnectAll();
			ports.connect(0);
			auto node = ports.disk();
			REQUIRE_FALSE(node.empty());
			Disk disk(node);
			CHECK(reportZones(disk, 0, 100).size() == 8);
			if (m.hook != Hook::zones)
				continue;
			// the same for a zone report requested by an application
			ports[0].script().arm(m, target::Script::forever);
			int error = 0;
			reportZones(disk, 0, 100, &error);
			CHECK(error < 0);
			ports[0].script().disarm();
			CHECK(reportZones(disk, 0, 100).size() == 8);
		}
	}
}

} // namespace guest::zones_lost
