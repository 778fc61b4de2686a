// SPDX-License-Identifier: LGPL-2.1-or-later
// The discovery service without misbehaviour
#include "discovery_client.h"
#include "identify.h"

#include <catch2/catch.hpp>

#include <thread>

using namespace target;
using namespace std::chrono_literals;

TEST_CASE("a discovery controller has the type and the commands of one")
{
	Server server;
	auto q = discover(server);
	REQUIRE(q.run(propertyGet(prop_cap)) == st_ok);
	CHECK((q.result() >> 37 & 0xff) == 0x80); // no I/O command set
	CHECK((q.result() & 0xffff) + 1 == server.config().queueEntries);
	REQUIRE(q.run(propertyGet(prop_vs)) == st_ok);
	CHECK(q.result() == 0x10400);
	REQUIRE(q.run(propertySet(prop_cc, 1)) == st_ok);
	REQUIRE(q.run(propertyGet(prop_csts)) == st_ok);
	CHECK(q.result() == 1);

	REQUIRE(q.run(command(op_identify, cns_ctrl)) == st_ok);
	auto &id = q.data();
	CHECK(id[at::cntrltype] == 2);
	CHECK(get<std::uint16_t>(id, at::cntlid) == q.cntlid());
	CHECK(id[at::lpa] == 1 << 2);
	CHECK(get<std::uint32_t>(id, at::oaes) == 1u << 31);
	CHECK(get<std::uint16_t>(id, at::kas) == server.config().kas);
	CHECK(get<std::uint32_t>(id, at::nn) == 0);
	CHECK(id[at::sqes] == 0);
	CHECK(get<std::uint32_t>(id, at::ioccsz) == 0);
	CHECK(std::string(reinterpret_cast<const char *>(&id[at::subnqn])) == wellKnownDiscoveryNqn);

	for (auto cns : {cns_ns, cns_active, cns_descs, cns_cs_ns, cns_cs_ctrl})
		CHECK(q.run(command(op_identify, cns)) == badField);
	for (auto page : {log_smart, log_changed_ns, log_ana, log_ccr})
		CHECK(q.run(getLog(page, 0, 64)) == (st_invalid_log | st_dnr));
	CHECK(q.run(command(op_set_features, feat_queues)) == badField);
	CHECK(q.run(command(op_cross_reset)) == (st_invalid_opcode | st_dnr));
	CHECK(server.counters().discoveryConnects == 1);
	CHECK(server.counters().adminConnects == 0);
	CHECK(server.violations().empty());
}

TEST_CASE("discovery controllers have no I/O queues, and I/O controllers no discovery log")
{
	Server server;
	auto q = discover(server);
	REQUIRE(q.run(propertySet(prop_cc, 1)) == st_ok);
	Queue(server, q.cntlid(), 0, wellKnownDiscoveryNqn, badParam);
	Queue(server, q.cntlid(), 0, "", badParam);
	Queue storage(server);
	REQUIRE(storage.run(propertySet(prop_cc, 1)) == st_ok);
	Queue(server, storage.cntlid(), 0, wellKnownDiscoveryNqn, badParam);
	CHECK(storage.run(getLog(log_discovery, 0, 1024)) == (st_invalid_log | st_dnr));
}

TEST_CASE("the discovery log contains the service itself and each port of each subsystem")
{
	auto both = std::make_shared<Discovery>();
	Config other;
	other.nqn = "nqn.2024-01.io.nvmeof:other";
	other.address = "::1";
	other.allowSqflowOff = false;
	Server a({}, std::make_shared<Subsystem>(both)), b({}, a.shared());
	Server c(other, std::make_shared<Subsystem>(both));
	auto q = discover(b);
	auto log = readLog(q);
	REQUIRE(log.status == st_ok);
	CHECK_FALSE(log.torn());
	CHECK(log.header.recfmt == 0);
	REQUIRE(log.entries.size() == 4);
	auto &self = log.entries[0];
	CHECK(self.subtype == sub_current);
	CHECK(text(self.subnqn) == wellKnownDiscoveryNqn);
	CHECK(text(self.trsvcid) == std::to_string(b.port()));
	CHECK(self.eflags == ef_persistent);
	Server *servers[] = {&a, &b, &c};
	for (std::size_t i = 0; i < 3; i++) {
		auto &e = log.entries[i + 1];
		auto &config = servers[i]->config();
		CHECK(e.trtype == tr_tcp);
		CHECK(e.adrfam == (i < 2 ? fam_ipv4 : fam_ipv6));
		CHECK(e.subtype == sub_nvm);
		CHECK(e.treq == (i < 2 ? 6 : 2));
		CHECK(e.portid == i + 1);
		CHECK(e.cntlid == 0xffff);
		CHECK(e.asqsz == 32);
		CHECK(text(e.subnqn) == config.nqn);
		CHECK(text(e.traddr) == config.address);
		CHECK(text(e.trsvcid) == std::to_string(servers[i]->port()));
		CHECK(e.traddr[255] == ' ');
		CHECK(e.trsvcid[31] == ' ');
		CHECK(e.subnqn[255] == 0);
	}

	SECTION("a port that stops disappears from the log, and returns")
	{
		a.stop();
		auto less = readLog(q);
		CHECK(less.header.genctr == log.header.genctr + 1);
		REQUIRE(less.entries.size() == 3);
		CHECK(text(less.entries[1].trsvcid) == std::to_string(b.port()));
		a.start();
		auto again = readLog(q);
		CHECK(again.header.genctr == log.header.genctr + 2);
		CHECK(again.content() == log.content());
	}
	SECTION("an empty log is a header")
	{
		both->setEntryLimit(0);
		auto none = readLog(q);
		CHECK(none.status == st_ok);
		CHECK(none.header.numrec == 0);
		CHECK(none.entries.empty());
	}
}

TEST_CASE("a discovery log of some megabytes can be read in pieces of any size")
{
	Server server;
	auto list = made(5000);
	server.subsystem().discovery().add(list);
	auto q = discover(server);
	auto step = GENERATE(4096u, 65536u, 1u << 20, 1000u * 4);
	auto log = readLog(q, 100000, step);
	REQUIRE(log.status == st_ok);
	REQUIRE(log.entries.size() == 5002);
	CHECK_FALSE(log.torn());
	CHECK(std::equal(list.begin(), list.end(), log.entries.begin() + 2, same));
}

TEST_CASE("invalid pieces of the discovery log are refused")
{
	Server server;
	server.subsystem().discovery().add(made(10));
	auto q = discover(server);
	std::uint64_t end = 13 * discoveryBlock;
	CHECK(piece(q, end - 4, 4) == st_ok);
	CHECK(piece(q, end - 4, 64) == st_ok);
	CHECK(q.data() == Bytes(64));
	CHECK(piece(q, end, 4) == st_ok);
	CHECK(piece(q, end + 4, 4) == badField);
	CHECK(piece(q, 2, 4) == badField);
	CHECK(piece(q, 1ull << 32, 4) == badField);
	CHECK(piece(q, 0, (1u << 20) + 4) == badField);
}

TEST_CASE("referrals work, also in a circle")
{
	Server a, b;
	a.subsystem().discovery().refer("127.0.0.1", b.port());
	b.subsystem().discovery().refer("127.0.0.1", a.port());
	Server *at = &a;
	for (int i = 0; i < 4; i++) {
		auto q = discover(*at);
		auto log = readLog(q);
		REQUIRE(log.entries.size() == 3);
		auto &e = log.entries[2];
		CHECK(e.subtype == sub_referral);
		CHECK(text(e.subnqn) == wellKnownDiscoveryNqn);
		at = at == &a ? &b : &a;
		CHECK(text(e.trsvcid) == std::to_string(at->port()));
	}
	a.subsystem().discovery().clear();
	auto q = discover(a);
	CHECK(readLog(q).entries.size() == 2);
}

TEST_CASE("a subscribed host gets one event about log changes until it has read the log")
{
	Server server;
	auto &discovery = server.subsystem().discovery();
	auto q = discover(server, 10000);
	q.send(command(op_async_event));
	discovery.add(made(1));
	CHECK(q.event() == 0); // not enabled
	askForEvents(q);
	discovery.add(made(1));
	CHECK(q.event() == changed);

	q.send(command(op_async_event));
	DiscoveryHeader header;
	discovery.add(made(1));
	REQUIRE(readHeader(q, header, true) == st_ok);
	CHECK(header.genctr == discovery.generation());
	discovery.add(made(1));
	CHECK(q.event() == 0);
	REQUIRE(readHeader(q, header) == st_ok);
	discovery.add(made(1));
	CHECK(q.event() == changed);

	discovery.add(made(1));
	server.namespacesChanged();
	q.send(command(op_async_event));
	CHECK(q.event() == 0); // events of other controllers
}

TEST_CASE("a discovery controller is kept by Keep Alive, and ends without")
{
	Config config;
	config.discoveryIdle = 100ms;
	SECTION("with Keep Alive")
	{
		Server server(config);
		auto kept = discover(server, 1000), idle = discover(server);
		for (int i = 0; i < 15; i++) {
			CHECK(kept.run(command(op_keep_alive)) == st_ok);
			std::this_thread::sleep_for(100ms);
		}
		CHECK(kept.open());
		CHECK(idle.closes());
	}
	SECTION("busy")
	{
		Server server(config);
		auto q = discover(server);
		for (int i = 0; i < 15; i++) {
			CHECK(piece(q, 0, 1024) == st_ok);
			std::this_thread::sleep_for(100ms);
		}
	}
	SECTION("without support for KATO")
	{
		config.persistentDiscovery = false;
		Server server(config);
		discover(server, 1000, badParam);
		auto q = discover(server);
		CHECK(readLog(q).entries[0].eflags == 0);
		REQUIRE(q.run(command(op_identify, cns_ctrl)) == st_ok);
		CHECK(get<std::uint16_t>(q.data(), at::kas) == 0);
	}
}

TEST_CASE("a discovery service can have its own NQN")
{
	Server server;
	constexpr const char *own = "nqn.2024-01.io.nvmeof:discovery";
	Queue(server, 0xffff, 0, own, badParam);
	server.subsystem().discovery().setNqn(own);
	Queue q(server, 0xffff, 0, own);
	auto log = readLog(q);
	CHECK(text(log.entries[0].subnqn) == own);
	auto known = discover(server);
	CHECK(readLog(known).content() == log.content());
	REQUIRE(known.run(command(op_identify, cns_ctrl)) == st_ok);
	CHECK(std::string(reinterpret_cast<const char *>(&known.data()[at::subnqn])) == own);
}
