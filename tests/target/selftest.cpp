// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests of the target itself over its own sockets: behaviour that the guest tests rely on
#include "client.h"
#include "identify.h"
#include "misbehaviour.h"
#include "server.h"

#include <catch2/catch.hpp>

#include <optional>
#include <thread>

using namespace target;
using namespace std::chrono_literals;

namespace {

Command write(std::uint64_t block)
{
	auto cmd = command(op_write, static_cast<std::uint32_t>(block));
	cmd.nsid = 1;
	return cmd;
}

Command log(std::uint8_t page, std::uint32_t bytes, std::uint8_t lsp = 0, std::uint32_t offset = 0)
{
	auto cmd = command(op_get_log, page | std::uint32_t(lsp) << 8 | (bytes / 4 - 1) << 16);
	cmd.cdw12 = offset;
	return cmd;
}

// A controller with its two queues
struct Controller {
	Queue admin;
	std::optional<Queue> io;
	std::uint8_t ciu = 0;
	std::uint64_t cirn = 0;

	explicit Controller(Server &server, std::uint32_t kato = 0) : admin(server, 0xffff, kato)
	{
		REQUIRE(admin.run(propertySet(prop_cc, 1)) == st_ok);
		REQUIRE(admin.run(command(op_identify, cns_ctrl)) == st_ok);
		ciu = admin.data()[at::ciu];
		cirn = get<std::uint64_t>(admin.data(), at::cirn);
		io.emplace(server, admin.cntlid());
	}

	Command resetOf(const Controller &other) const
	{
		auto cmd = command(op_cross_reset, other.admin.cntlid() | std::uint32_t(other.ciu) << 16);
		cmd.cdw12 = static_cast<std::uint32_t>(other.cirn);
		cmd.cdw13 = static_cast<std::uint32_t>(other.cirn >> 32);
		return cmd;
	}
};

Config configured()
{
	Config config;
	config.ana = true;
	config.ccrLimit = 2;
	config.kas = 1;
	config.quiesce = 100;
	return config;
}

struct Pair {
	Server a{configured()};
	Server b{configured(), a.shared()};
	StalledWrites &stalledWrites = a.subsystem().stalledWrites();

	Pair() { a.stores().add(1, 1 << 20); }

	std::uint8_t stored(std::size_t block) { return a.stores().find(1)->peek(block * 512, 1)[0]; }

	void stall(Controller &c, const char *how = "write-stalled-silent")
	{
		a.script().arm(*findMisbehaviour(how));
		c.io->send(write(0), Bytes(512, 1));
		REQUIRE(stalledWrites.wait(1, 30s));
	}
};

} // namespace

TEST_CASE("two ports share one store and have separate controllers")
{
	Pair p;
	Controller one(p.a), two(p.b);
	CHECK(one.admin.cntlid() != two.admin.cntlid());
	CHECK(one.io->run(write(3), Bytes(512, 7)) == st_ok);
	auto read = command(op_read, 3);
	read.nsid = 1;
	REQUIRE(two.io->run(read) == st_ok);
	CHECK(two.io->data() == Bytes(512, 7));
}

TEST_CASE("ANA states are per port: in the log, as an event and as a status")
{
	Pair p;
	Controller one(p.a), two(p.b);
	auto config = command(op_set_features, feat_async_event);
	config.cdw11 = 1 << 11;
	REQUIRE(one.admin.run(config) == st_ok);
	one.admin.send(command(op_async_event));
	p.a.setAnaState(1, ana_inaccessible);
	auto event = one.admin.completion();
	REQUIRE(event);
	CHECK((event->result & 0xffffff) == 0x0c0302);
	CHECK(one.io->run(write(0), Bytes(512, 1)) == st_ana_inaccessible);
	CHECK(two.io->run(write(0), Bytes(512, 1)) == st_ok);

	REQUIRE(one.admin.run(log(log_ana, 56)) == st_ok);
	auto &page = one.admin.data();
	CHECK(get<std::uint64_t>(page, 0) == 2); // changed once
	CHECK(get<std::uint16_t>(page, 8) == 1);
	CHECK(get<std::uint32_t>(page, 16) == 1);
	CHECK(get<std::uint32_t>(page, 20) == 1);
	CHECK(page[32] == ana_inaccessible);
	CHECK(get<std::uint32_t>(page, 48) == 1);
	REQUIRE(one.admin.run(log(log_ana, 8, 1, 16)) == st_ok); // a piece of the log, groups only
	CHECK(get<std::uint32_t>(one.admin.data(), 4) == 0);
}

TEST_CASE("a stalled write is executed on demand, into the store that the ports share")
{
	Pair p;
	Controller one(p.a, 10000), two(p.b);
	p.stall(one);
	CHECK(one.admin.run(command(op_keep_alive)) == -1); // silent
	CHECK(two.io->run(write(0), Bytes(512, 2)) == st_ok);
	CHECK(p.stalledWrites.execute() == 1);
	CHECK(p.stored(0) == 1); // the old write overwrites the newer one
	CHECK(p.stalledWrites.waiting() == 0);
}

TEST_CASE("a late write after one by a newer controller is counted as a ghost")
{
	Pair p;
	auto store = p.a.stores().find(1);
	Controller old(p.a);
	CHECK(old.io->run(write(0), Bytes(512, 1)) == st_ok);
	p.stall(old);
	Controller next(p.a);
	CHECK(next.io->run(write(0), Bytes(512, 2)) == st_ok);
	CHECK(next.io->run(write(1), Bytes(512, 2)) == st_ok);
	CHECK(store->lateWrites() == 0);
	REQUIRE(p.stalledWrites.execute() == 1);
	CHECK(p.stored(0) == 1);
	CHECK(store->lateWrites() == 1);
	CHECK(store->hitByLateWrite(0, 0));
	CHECK_FALSE(store->hitByLateWrite(1, 0));
	CHECK_FALSE(store->hitByLateWrite(0, 1));
	CHECK(next.io->run(write(0), Bytes(512, 3)) == st_ok);
	CHECK_FALSE(store->hitByLateWrite(0, 0));
}

TEST_CASE("a stalled write outlives its connection")
{
	Pair p;
	std::optional<Controller> one(std::in_place, p.a, 10000);
	p.stall(*one, "write-stalled-then-rst");
	CHECK_FALSE(one->io->open());
	one.reset();
	CHECK(p.stalledWrites.execute() == 1);
}

TEST_CASE("stalled writes are not executed after the keep-alive timer and CQT")
{
	Pair p;
	auto begin = Clock::now();
	Controller one(p.a, 60050);
	p.stall(one);
	auto deadline = p.stalledWrites.deadline();
	CHECK(deadline - begin >= 60200ms); // 60,050 rounded up to 60,100, plus CQT of 100
	CHECK(deadline - Clock::now() < 60200ms);
	SECTION("before that they are")
	{
		CHECK(p.stalledWrites.execute(deadline - 1ms) == 1);
	}
	SECTION("after that they are not")
	{
		CHECK(p.stalledWrites.execute(deadline) == 0);
		CHECK(p.stalledWrites.dropped() == 1);
	}
}

TEST_CASE("a controller ends when its keep-alive timer expires")
{
	Pair p;
	Controller one(p.a, 250);
	CHECK(one.admin.closes());
}

TEST_CASE("with traffic-based keep-alive the timer may take twice as long")
{
	auto config = configured();
	config.trafficKeepAlive = true;
	Server a(config);
	a.stores().add(1, 1 << 20);
	Controller one(a, 1000);
	auto associations = a.associations().all();
	REQUIRE(associations.size() == 1);
	CHECK(associations[0]->keepAliveExpiry() - Clock::now() > 1500ms);
	CHECK(associations[0]->quiescedAt() - associations[0]->keepAliveExpiry() == 100ms);
}

TEST_CASE("an immediate Cross-Controller Reset ends the controller and its writes")
{
	Pair p;
	Controller one(p.a, 10000), two(p.b);
	REQUIRE(one.ciu != 0);
	REQUIRE(one.cirn != 0);
	CHECK(two.admin.data()[at::ccrl] == 2);
	CHECK(two.admin.run(two.resetOf(two)) == (st_invalid_field | st_dnr));
	p.stall(one);
	CHECK(two.admin.run(two.resetOf(one)) == st_ok);
	CHECK(two.admin.result() == 1);
	CHECK(p.stalledWrites.execute() == 0);
	CHECK(p.stalledWrites.dropped() == 1);
	CHECK(two.admin.run(two.resetOf(one)) == st_ok); // already gone
	CHECK(two.admin.result() == 1);
	CHECK(one.admin.closes());
	CHECK(one.io->closes());
}

TEST_CASE("a Cross-Controller Reset of another instance does nothing")
{
	Pair p;
	Controller one(p.a, 10000), two(p.b);
	auto cmd = two.resetOf(one);
	cmd.cdw13 = ~cmd.cdw13;
	CHECK(two.admin.run(cmd) == st_ok);
	CHECK(two.admin.result() == 1);
	CHECK(one.io->run(write(0), Bytes(512, 1)) == st_ok);
}

TEST_CASE("a slow Cross-Controller Reset reports success or failure in the log")
{
	bool succeeds = GENERATE(true, false);
	Pair p;
	Controller one(p.a, 10000), two(p.b);
	auto config = command(op_set_features, feat_async_event);
	config.cdw11 = 1 << 20;
	REQUIRE(two.admin.run(config) == st_ok);
	p.stall(one);
	p.b.setCcr({200ms, succeeds, true});
	CHECK(two.admin.run(two.resetOf(one)) == st_ok);
	CHECK(two.admin.result() == 0);
	CHECK(two.admin.run(two.resetOf(one)) == st_ccr_in_progress);
	REQUIRE(two.admin.run(log(log_ccr, 16)) == st_ok);
	CHECK(two.admin.data()[8 + 6] == ccr_in_progress);
	CHECK(p.stalledWrites.waiting() == 1);

	two.admin.send(command(op_async_event));
	auto event = two.admin.completion();
	REQUIRE(event);
	CHECK((event->result & 0xffffff) == 0x1ef402);
	CHECK(p.stalledWrites.waiting() == (succeeds ? 0 : 1));
	REQUIRE(two.admin.run(log(log_ccr, 16, 1)) == st_ok);
	auto &page = two.admin.data();
	CHECK(get<std::uint16_t>(page, 0) == 1);
	CHECK(get<std::uint16_t>(page, 8) == one.admin.cntlid());
	CHECK(page[10] == one.ciu);
	CHECK(get<std::uint16_t>(page, 12) == two.admin.cntlid());
	CHECK(page[14] == (succeeds ? ccr_success : ccr_failed));
	CHECK(page[15] == (ccr_validated | ccr_initiated));
	REQUIRE(two.admin.run(log(log_ccr, 16)) == st_ok);
	CHECK(get<std::uint16_t>(two.admin.data(), 0) == 0); // removed by the read
}

TEST_CASE("Cross-Controller Resets above the limit are refused")
{
	Pair p;
	Controller one(p.a, 10000), two(p.a, 10000), three(p.a, 10000), source(p.b);
	p.b.setCcr({5s});
	CHECK(source.admin.run(source.resetOf(one)) == st_ok);
	CHECK(source.admin.run(source.resetOf(two)) == st_ok);
	CHECK(source.admin.run(source.resetOf(three)) == st_ccr_limit);
}

TEST_CASE("a silent port answers nothing until the silence ends")
{
	Pair p;
	Controller one(p.a), two(p.b);
	p.a.silence(true);
	CHECK(one.io->run(write(0), Bytes(512, 1)) == -1);
	CHECK(two.io->run(write(1), Bytes(512, 1)) == st_ok);
	CHECK(p.stored(0) == 0);
	p.a.silence(false);
	CHECK(one.io->completion()); // late, but it arrives
	CHECK(p.stored(0) == 1);
}

TEST_CASE("each table line states its expected outcome")
{
	for (auto &m : misbehaviours()) {
		INFO(m.name);
		CHECK(m.expect != Expect::judgedByTest);
	}
}
