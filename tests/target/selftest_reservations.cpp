// SPDX-License-Identifier: LGPL-2.1-or-later
// Reservations and protection information of the target, and misbehaviours about them
#include "client.h"
#include "identify.h"
#include "misbehaviour.h"
#include "server.h"

#include <catch2/catch.hpp>

#include <optional>

using namespace target;

namespace {

const HostId one{1}, two{2}, three{3};

struct ReservationHost {
	Server server;
	Queue admin;
	std::optional<Queue> io;

	explicit ReservationHost(const Config &config)
		: server(config), admin((server.stores().add(1, 1 << 20), server))
	{
		REQUIRE(admin.run(propertySet(prop_cc, 1)) == st_ok);
		io.emplace(server, admin.cntlid());
	}

	static Config reserving()
	{
		Config config;
		config.reservations = true;
		return config;
	}

	int registerKey(std::uint64_t key)
	{
		Bytes data(16);
		put<std::uint64_t>(data, 8, key);
		return io->run(of(command(op_resv_register)), data);
	}
	int report(std::uint32_t bytes, bool extended = true)
	{
		auto cmd = of(command(op_resv_report, bytes / 4 - 1));
		cmd.cdw11 = extended;
		cmd.sgl.length = bytes;
		return io->run(cmd);
	}
	static Command of(Command cmd)
	{
		cmd.nsid = 1;
		return cmd;
	}
	Bytes identify(std::uint8_t cns)
	{
		REQUIRE(admin.run(of(command(op_identify, cns))) == st_ok);
		return admin.data();
	}
};

} // namespace

TEST_CASE("reservations: registrants, types and conflicts work as hosts in the field use them")
{
	Reservations r;
	Reservations::Notices told;
	constexpr std::uint16_t conflict = st_resv_conflict | st_dnr, invalid = st_invalid_field | st_dnr;
	CHECK(r.registerKey(one, 0, false, 0, 0, told) == invalid);
	CHECK(r.registerKey(one, 0, false, 0, 0xa, told) == st_ok);
	CHECK(r.registerKey(one, 0, false, 0, 0xa, told) == st_ok);
	CHECK(r.registerKey(one, 0, false, 0, 0xb, told) == conflict);
	CHECK(r.registerKey(two, 0, false, 0, 0xb, told) == st_ok);
	CHECK(r.registerKey(two, 2, false, 0x1, 0xbb, told) == conflict);
	CHECK(r.registerKey(two, 2, true, 0x1, 0xbb, told) == st_ok);
	CHECK(r.keyOf(two) == 0xbb);

	CHECK(r.acquire(three, 0, 1, 0, 0, told) == conflict);
	CHECK(r.acquire(one, 0, 0, 0xa, 0, told) == invalid);
	CHECK(r.acquire(one, 0, 7, 0xa, 0, told) == invalid);
	CHECK(r.acquire(one, 0, resv_write_exclusive_registrants, 0xa, 0, told) == st_ok);
	CHECK(r.acquire(two, 0, resv_write_exclusive, 0xbb, 0, told) == conflict);
	CHECK(r.allows(three, op_read, false));
	CHECK_FALSE(r.allows(three, op_write, true));
	CHECK(r.allows(two, op_write, true));
	CHECK(r.release(two, 0, resv_write_exclusive_registrants, 0xbb, told) == st_ok); // not the holder: no effect
	CHECK(r.holds(one));
	CHECK(r.release(one, 0, resv_write_exclusive, 0xa, told) == invalid);
	CHECK(told.empty());
	CHECK(r.acquire(two, 1, resv_exclusive_access, 0xbb, 0xa, told) == st_ok);
	CHECK(r.holds(two));
	CHECK(r.registrants() == 1);
	REQUIRE(told.size() == 1);
	CHECK(told[0].host == one);
	CHECK(told[0].kind == ReservationNotice::registration_preempted);
	CHECK_FALSE(r.allows(one, op_read, false));
	auto report = r.report(4096);
	CHECK(report[4] == resv_exclusive_access);
	CHECK(get<std::uint16_t>(report, 5) == 1);
	CHECK(get<std::uint64_t>(report, 64 + 8) == 0xbb);
	CHECK(report[64 + 16] == 2);
	CHECK(r.registerKey(two, 1, false, 0xbb, 0, told) == st_ok);
	CHECK(r.type() == resv_none);
	CHECK(r.registrants() == 0);

	// all registrants hold it, until the last one is gone
	CHECK(r.registerKey(one, 0, false, 0, 0xa, told) == st_ok);
	CHECK(r.registerKey(two, 0, false, 0, 0xb, told) == st_ok);
	CHECK(r.acquire(one, 0, resv_exclusive_access_all, 0xa, 0, told) == st_ok);
	CHECK(r.holds(two));
	CHECK(r.registerKey(one, 1, false, 0xa, 0, told) == st_ok);
	CHECK(r.type() == resv_exclusive_access_all);
	CHECK(r.release(two, 1, 0, 0xb, told) == st_ok);
	CHECK(r.type() == resv_none);
}

TEST_CASE("reservations: over the wire, and only if configured")
{
	ReservationHost p(ReservationHost::reserving());
	CHECK(p.identify(cns_ns)[at::rescap.offset] == 0x7f);
	CHECK(p.report(128, false) == (st_host_id_format | st_dnr));
	CHECK(p.registerKey(0xa) == st_ok);
	CHECK(p.report(128) == st_ok);
	CHECK(get<std::uint16_t>(p.io->data(), 5) == 1);
	ReservationHost none{Config{}};
	CHECK(none.registerKey(0xa) == (st_invalid_opcode | st_dnr));
}

TEST_CASE("protection information is generated and checked, and corruption is detected")
{
	ReservationHost p{Config{}};
	p.server.stores().find(1)->makeProtected({});
	auto write = ReservationHost::of(command(op_write, 5)), read = ReservationHost::of(command(op_read, 5));
	write.cdw12 = 1u << 29;
	write.cdw14 = read.cdw14 = 5;
	read.cdw12 = 1u << 29 | 1u << 28 | 1u << 26;
	read.sgl.length = 512;
	auto without = write, wrong = write;
	without.cdw12 = 0;
	wrong.cdw14 = 4;
	CHECK(p.io->run(without, Bytes(512, 1)) == (st_invalid_pi | st_dnr));
	CHECK(p.io->run(wrong, Bytes(512, 1)) == (st_invalid_pi | st_dnr));
	CHECK(p.io->run(write, Bytes(512, 1)) == st_ok);
	CHECK(p.io->run(read) == st_ok);
	CHECK(p.io->data() == Bytes(512, 1));
	auto *pi = p.server.stores().find(1)->protection();
	CHECK(pi->checked() == 1);
	CHECK(pi->tagged() == 1);
	pi->spoilGuard(5);
	CHECK(p.io->run(read) == (st_guard_check | st_dnr));
	pi->spoilGuard(5);
	pi->spoilTag(5);
	CHECK(p.io->run(read) == (st_reftag_check | st_dnr));
	auto id = p.identify(cns_ns);
	CHECK(id[at::dps.offset] == 1);
	CHECK(get<std::uint16_t>(id, at::lbaf0_ms.offset) == 8);
}

TEST_CASE("protection information is transferred with the blocks")
{
	Config config;
	config.extendedFormats = true;
	ReservationHost p{config};
	p.server.stores().find(1)->makeProtected({.guard = 64, .inData = true});
	auto write = ReservationHost::of(command(op_write, 5)), read = ReservationHost::of(command(op_read, 5));
	write.cdw14 = read.cdw14 = 5;
	write.cdw12 = read.cdw12 = 1u << 28 | 1u << 26;
	read.sgl.length = 512 + 16;
	Bytes block(512 + 16);
	CHECK(p.io->run(write, block) == (st_invalid_ns | st_dnr)); // the host has not enabled LBAFEE
	Command behavior = command(op_set_features, feat_host_behavior);
	REQUIRE(p.admin.run(ReservationHost::of(behavior), Bytes{0, 0, 1}) == st_ok);
	CHECK(p.io->run(write, block) == (st_guard_check | st_dnr));
	auto pract = write;
	pract.cdw12 = 1u << 29;
	CHECK(p.io->run(pract, Bytes(512, 1)) == st_ok);
	REQUIRE(p.io->run(read) == st_ok);
	block = p.io->data();
	REQUIRE(block.size() == 512 + 16);
	CHECK(block[512 + 15] == 5);
	CHECK(p.io->run(write, block) == st_ok);
	block[512 + 15] = 6;
	CHECK(p.io->run(write, block) == (st_reftag_check | st_dnr));
	auto *pi = p.server.stores().find(1)->protection();
	CHECK(pi->received() == 1);
	CHECK(pi->sent() == 1);
	CHECK(p.identify(cns_ns)[at::flbas.offset] == 1 << 4);
}

TEST_CASE("a refused write changes neither protection information nor the write pointer")
{
	constexpr std::uint32_t pract = 1u << 29, checks = 1u << 28 | 1u << 26, last = 2047;
	Config config;
	config.writeZeroes = 1; // 8 KiB
	const auto at = [](std::uint8_t opcode, std::uint32_t block, std::uint32_t cdw12) {
		auto cmd = ReservationHost::of(command(opcode, block));
		cmd.cdw12 = cdw12;
		cmd.cdw14 = block;
		if (opcode == op_read)
			cmd.sgl.length = 512;
		return cmd;
	};
	SECTION("beyond the end, and more zeroes than one command may write")
	{
		ReservationHost p{config};
		p.server.stores().find(1)->makeProtected({});
		for (std::uint32_t block : {5u, last})
			REQUIRE(p.io->run(at(op_write, block, pract), Bytes(512, 1)) == st_ok);
		CHECK(p.io->run(at(op_write, last, pract | 1), Bytes(1024, 2)) == (st_lba_range | st_dnr));
		CHECK(p.io->run(at(op_write_zeroes, last, pract | 1)) == (st_lba_range | st_dnr));
		CHECK(p.io->run(at(op_write_zeroes, 5, pract | 63)) == (st_invalid_field | st_dnr));
		for (std::uint32_t block : {5u, last}) {
			CHECK(p.io->run(at(op_read, block, pract | checks)) == st_ok);
			CHECK(p.io->data() == Bytes(512, 1));
		}
	}
	SECTION("without protection information, in a zone")
	{
		config.zoned = true;
		ReservationHost p{config};
		auto store = p.server.stores().find(1);
		store->makeZoned({});
		store->makeProtected({});
		CHECK(p.io->run(at(op_write, 0, 0), Bytes(512, 1)) == (st_invalid_pi | st_dnr));
		CHECK(store->zones()->wp(0) == 0);
		CHECK(p.io->run(at(op_write, 0, pract), Bytes(512, 1)) == st_ok);
		CHECK(store->zones()->wp(0) == 1);
	}
}

TEST_CASE("a namespace that has grown has protection information and zones for the new blocks")
{
	ReservationHost p{Config{}};
	auto store = p.server.stores().find(1);
	store->makeProtected({});
	store->makeZoned({});
	store->resize(2 << 20);
	auto read = ReservationHost::of(command(op_read, 3000));
	read.cdw12 = 1u << 29;
	read.cdw14 = 3000;
	read.sgl.length = 512;
	CHECK(p.io->run(read) == st_ok);
	CHECK(p.io->data().size() == 512);
	REQUIRE_NOTHROW(store->zones()->state(1));
	CHECK(store->zones()->state(1) == zone_empty);
}

TEST_CASE("Verify counts as a read")
{
	ReservationHost p(ReservationHost::reserving());
	auto store = p.server.stores().find(1);
	const auto verify = ReservationHost::of(command(0x0c)), write = ReservationHost::of(command(op_write));
	Reservations::Notices told;
	REQUIRE(store->reservations().registerKey(two, 0, false, 0, 0xb, told) == st_ok);
	REQUIRE(store->reservations().acquire(two, 0, resv_write_exclusive, 0xb, 0, told) == st_ok);
	CHECK(p.io->run(write, Bytes(512, 1)) == (st_resv_conflict | st_dnr));
	CHECK(p.io->run(verify) == st_ok);
	REQUIRE(store->reservations().release(two, 0, resv_write_exclusive, 0xb, told) == st_ok);
	store->writeProtect(true);
	CHECK(p.io->run(write, Bytes(512, 1)) == (st_write_protected | st_dnr));
	CHECK(p.io->run(verify) == st_ok);
}

TEST_CASE("Retrieve tells the length of the value")
{
	Config config;
	config.keyValue = true;
	ReservationHost p{config};
	p.server.stores().find(1)->makeKeyValue();
	REQUIRE(p.io->run(ReservationHost::of(command(op_kv_store, 20)), Bytes(20, 1)) == st_ok);
	auto retrieve = ReservationHost::of(command(op_kv_retrieve));
	retrieve.sgl.length = 8;
	CHECK(p.io->run(retrieve) == st_ok);
	CHECK(p.io->data() == Bytes(8, 1));
	CHECK(p.io->result() == 20);
}

TEST_CASE("the writes of a new controller are no ghost writes after the controller IDs began again")
{
	Associations associations;
	Store store(1, 1 << 20);
	const auto first = associations.create();
	CHECK(store.write(0, Bytes(512, 1), first->serial));
	associations.remove(*first);
	std::shared_ptr<Association> newer;
	do { // FFEFh is the last controller ID
		newer = associations.create();
		CHECK(store.write(0, Bytes(512, 2), newer->serial));
		associations.remove(*newer);
	} while (newer->cntlid != 1);
	CHECK(store.lateWrites() == 0);
	CHECK(store.write(0, Bytes(512, 3), first->serial));
	CHECK(store.lateWrites() == 1);
}

TEST_CASE("each misbehaviour of reports and formats changes what it says")
{
	for (auto table : {reservationMisbehaviours(), otherReservationMisbehaviours(), formatMisbehaviours()})
		for (auto &m : table) {
			INFO(m.name);
			CHECK(m.expect != Expect::judgedByTest);
			CHECK(findMisbehaviour(m.name) == &m);
			ReservationHost p(ReservationHost::reserving());
			Bytes ctrl = p.identify(cns_ctrl), ns = p.identify(cns_ns);
			REQUIRE(p.registerKey(0xa) == st_ok);
			REQUIRE(p.report(4096) == st_ok);
			Bytes report = p.io->data();
			p.server.script().arm(m, Script::forever);
			bool changed = false;
			switch (m.hook) {
			case Hook::report:
				REQUIRE(p.report(4096) == st_ok);
				changed = p.io->data() != report;
				break;
			case Hook::adminData:
				changed = p.identify(cns_ctrl) != ctrl || p.identify(cns_ns) != ns;
				break;
			default: { // the completion or the effect of a command differs
				Bytes keys(16);
				put<std::uint64_t>(keys, 0, 0xa);
				put<std::uint64_t>(keys, 8, 0xb);
				auto replace = ReservationHost::of(command(op_resv_register, 2)),
				     acquire = ReservationHost::of(command(op_resv_acquire, 1 << 8));
				int a = p.report(4096),
				    b = p.io->run(ReservationHost::of(command(op_write)), Bytes(512)),
				    c = p.io->run(acquire, keys), d = p.io->run(replace, keys);
				changed =
					a || b || c || d || p.server.stores().find(1)->reservations().keyOf({}) == 0xa;
			}
			}
			CHECK(changed);
			CHECK(p.server.script().strikes() > 0);
		}
}
