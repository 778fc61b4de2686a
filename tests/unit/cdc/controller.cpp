// SPDX-License-Identifier: LGPL-2.1-or-later
#include <catch2/catch.hpp>

#include "sample.h"
#include "controller.h"

using namespace cdc;
using namespace nofctl::wire;

namespace {

const Identity identity{selfId, "nqn.2014-08.org.nvmexpress:uuid:self", "11111111222243338444", "0.1.0"};

Connect someConnect()
{
	Connect connect;
	connect.subsysnqn = nvmeof::discoveryNqn;
	connect.hostnqn = "nqn.2024-01.io.nvmeof:host";
	connect.kato = 5001;
	return connect;
}

Command admin(std::uint8_t opcode, std::uint32_t cdw10 = 0, std::uint32_t cdw11 = 0)
{
	Command cmd{};
	cmd.opcode = opcode;
	cmd.cdw10 = cdw10;
	cmd.cdw11 = cdw11;
	return cmd;
}

std::uint16_t checked(const Connect &connect, std::uint64_t &result)
{
	Connect read;
	const Bytes data = encode(connect.data());
	return Controller::check(connect.command(), data, identity, read, result);
}

class Fixture {
public:
	explicit Fixture(int targets = 3) : sample(targets), controller(identity, 7, someConnect(), sample.views)
	{
		run(propertySet(prop_cc, 1));
	}

	Answer run(const Command &cmd)
	{
		auto outcome = controller.handle(cmd);
		REQUIRE(outcome);
		return *std::move(outcome);
	}
	static Bytes dataOf(const Answer &answer)
	{
		Bytes data = answer.data;
		std::vector<std::span<const std::uint8_t>> pieces;
		if (answer.page)
			answer.page->slice(answer.offset, answer.length, pieces);
		for (auto piece : pieces)
			append(data, piece);
		data.resize(data.size() + answer.zeros);
		return data;
	}
	Bytes log(std::uint64_t offset, std::uint32_t bytes, bool retain = false)
	{
		Answer answer = run(getLog(log_discovery, offset, bytes, retain));
		CHECK(answer.status == st_ok);
		Bytes data = dataOf(answer);
		CHECK(data.size() == bytes);
		return data;
	}
	void wantEvents(std::uint16_t cid)
	{
		CHECK(run(admin(op_set_features, feat_async_event, 1u << 31)).status == st_ok);
		Command cmd = admin(op_async_event);
		cmd.cid = cid;
		CHECK_FALSE(controller.handle(cmd));
	}
	void change(int target) { sample.tell({putOf(someTarget(target))}), controller.tell(sample.views); }

	Sample sample;
	Controller controller;
};

std::uint64_t generationOf(const Bytes &log)
{
	return get<std::uint64_t>(log, 0);
}
std::uint64_t countOf(const Bytes &log)
{
	return get<std::uint64_t>(log, 8);
}

} // namespace

TEST_CASE("an invalid Connect is refused with the offset of the invalid field", "[controller]")
{
	std::uint64_t result = 0;
	CHECK(checked(someConnect(), result) == st_ok);
	CHECK(result == 0);
	Connect connect = someConnect();
	connect.subsysnqn = identity.nqn;
	CHECK(checked(connect, result) == st_ok);

	connect.subsysnqn = "nqn.2024-01.com.example:other";
	CHECK(checked(connect, result) == (st_connect_param | st_dnr));
	CHECK(result == (1 << 16 | 256));
	connect = someConnect();
	connect.hostnqn = "";
	CHECK(checked(connect, result) == (st_connect_param | st_dnr));
	CHECK(result == (1 << 16 | 512));
	connect.hostnqn = std::string(256, 'x'); // not terminated
	CHECK(checked(connect, result) == (st_connect_param | st_dnr));
	connect = someConnect();
	connect.cntlid = 1;
	CHECK(checked(connect, result) == (st_connect_param | st_dnr));
	CHECK(result == (1 << 16 | 16));
	connect = someConnect();
	connect.qid = 1;
	CHECK(checked(connect, result) == (st_connect_param | st_dnr));
	CHECK(result == 42);
	connect = someConnect();
	connect.entries = 1;
	CHECK(checked(connect, result) == (st_connect_param | st_dnr));
	CHECK(result == 44);

	Connect read;
	const Bytes data = encode(someConnect().data());
	CHECK(Controller::check(someConnect().command(), std::span(data).first(1023), identity, read, result) ==
	      (st_connect_format | st_dnr));
	Command later = someConnect().command();
	later.cdw10 = 1; // RECFMT
	CHECK(Controller::check(later, data, identity, read, result) == (st_connect_format | st_dnr));
}

TEST_CASE("properties are accessible before the controller is ready, commands are not", "[controller]")
{
	Sample sample(1);
	Controller controller(identity, 7, someConnect(), sample.views);
	auto run = [&](const Command &cmd) { return *controller.handle(cmd); };
	CHECK(run(admin(op_identify, cns_ctrl)).status == (st_sequence | st_dnr));
	CHECK((run(propertyGet(prop_cap)).result & 0xffff) == 127);
	CHECK(run(propertyGet(prop_vs)).result == 0x20000);
	CHECK(run(propertyGet(prop_csts)).result == 0);
	CHECK(run(propertyGet(Property(0x28))).status == (st_invalid_field | st_dnr));
	CHECK(run(propertySet(prop_csts, 0)).status == (st_invalid_field | st_dnr));
	CHECK(run(propertySet(prop_cc, 0x460001)).status == st_ok);
	CHECK(run(propertyGet(prop_cc)).result == 0x460001);
	CHECK(run(propertyGet(prop_csts)).result == 1);
	CHECK(run(propertySet(prop_cc, 0x464001)).status == st_ok); // SHN
	CHECK(run(propertyGet(prop_csts)).result == (1 | 2 << 2));
	CHECK(run(someConnect().command()).status == (st_sequence | st_dnr));
}

TEST_CASE("Identify Controller describes a discovery controller", "[controller]")
{
	Fixture fixture;
	Answer answer = fixture.run(admin(op_identify, cns_ctrl));
	REQUIRE(answer.data.size() == identifySize);
	CHECK(get<std::uint16_t>(answer.data, at::cntlid) == 7);
	CHECK(get<std::uint8_t>(answer.data, at::cntrltype) == 2);
	CHECK(get<std::uint8_t>(answer.data, at::dctype) == dc_centralized);
	CHECK(get<std::uint32_t>(answer.data, at::oaes) == 1u << 31);
	CHECK(get<std::uint16_t>(answer.data, at::kas) == 1);
	CHECK(std::string(reinterpret_cast<const char *>(answer.data.data()) + at::subnqn) == nvmeof::discoveryNqn);
	CHECK(fixture.run(admin(op_identify, cns_active)).status == (st_invalid_field | st_dnr));
	CHECK(fixture.run(admin(op_identify + 1)).status == (st_invalid_opcode | st_dnr));
}

TEST_CASE("a log that is read in pieces of any size is complete", "[controller]")
{
	Fixture fixture(5);
	const std::size_t size = 6 * discoveryBlock;
	const Bytes whole = fixture.log(0, size);
	CHECK(generationOf(whole) == fixture.sample.views->generation());
	CHECK(countOf(whole) == 5);
	CHECK(std::string(reinterpret_cast<const char *>(whole.data()) + 1024 + 256) == "nqn.2024-01.com.example:s0");
	for (std::uint32_t piece : {4u, 20u, 1020u, 1024u, 1028u, 4096u}) {
		Bytes pieces;
		while (pieces.size() < size)
			append(pieces, fixture.log(pieces.size(),
						   std::min<std::uint32_t>(
							   piece, static_cast<std::uint32_t>(size - pieces.size()))));
		CHECK(pieces == whole);
	}
	const Bytes more = fixture.log(0, static_cast<std::uint32_t>(size) + 4096);
	CHECK(std::equal(whole.begin(), whole.end(), more.begin()));
	CHECK(std::all_of(more.begin() + size, more.end(), [](std::uint8_t byte) { return byte == 0; }));

	CHECK(fixture.log(size, 4) == Bytes(4)); // the end of the log
	CHECK(fixture.run(getLog(log_discovery, size + 4, 4)).status == (st_invalid_field | st_dnr));
	CHECK(fixture.run(getLog(log_discovery, 2, 4)).status == (st_invalid_field | st_dnr));
	CHECK(fixture.run(getLog(log_discovery, 0, 1u << 30)).status == (st_invalid_field | st_dnr));
	CHECK(fixture.run(getLog(log_smart, 0, 512)).status == (st_invalid_log | st_dnr));
}

TEST_CASE("a log read in pieces keeps its version, and a new read has a greater generation", "[controller]")
{
	Fixture fixture(2);
	const Bytes first = fixture.log(0, 2 * discoveryBlock);
	fixture.change(0x10);
	const Bytes second = fixture.log(2 * discoveryBlock, discoveryBlock);
	CHECK(std::string(reinterpret_cast<const char *>(second.data()) + 256) == "nqn.2024-01.com.example:s1");
	const Bytes again = fixture.log(0, discoveryBlock);
	CHECK(generationOf(again) > generationOf(first));
	CHECK(countOf(again) == 3);
}

TEST_CASE("the log of supported pages and the error log have their contents", "[controller]")
{
	Fixture fixture;
	const Bytes supported = Fixture::dataOf(fixture.run(getLog(0, 0, 1024)));
	for (std::size_t log = 0; log < 256; log++)
		CHECK(get<std::uint32_t>(supported, log * 4) == (log == 0 || log == 1 || log == 0x70));
	Command bad = admin(0x77);
	bad.cid = 42;
	fixture.controller.failed(bad, st_invalid_opcode | st_dnr);
	for (int i = 0; i < 9; i++)
		fixture.controller.failed(admin(0x78), st_invalid_opcode);
	const Bytes errors = Fixture::dataOf(fixture.run(getLog(log_error, 0, 5 * 64)));
	CHECK(get<std::uint64_t>(errors, 0) == 10);
	CHECK(get<std::uint64_t>(errors, 3 * 64) == 7);
	CHECK(get<std::uint64_t>(errors, 4 * 64) == 0); // beyond the last entry
}

TEST_CASE("supported features work, others are refused", "[controller]")
{
	Fixture fixture;
	CHECK(fixture.controller.kato() == 5100); // KAS counts in units of 100 ms
	CHECK(fixture.run(admin(op_get_features, feat_keep_alive)).result == 5100);
	CHECK(fixture.run(admin(op_set_features, feat_keep_alive, 30000)).status == st_ok);
	CHECK(fixture.controller.kato() == 30000);
	CHECK(fixture.run(admin(op_keep_alive)).status == st_ok);
	CHECK(fixture.run(admin(op_set_features, feat_keep_alive, 0)).status == st_ok);
	CHECK(fixture.run(admin(op_keep_alive)).status == (st_invalid_field | st_dnr));
	CHECK(fixture.run(admin(op_get_features, feat_async_event)).result == 0);
	CHECK(fixture.run(admin(op_set_features, feat_async_event | 1u << 31, 1)).status ==
	      (st_invalid_field | st_dnr));
	CHECK(fixture.run(admin(op_set_features, feat_queues, 1)).status == (st_invalid_field | st_dnr));
	CHECK(fixture.run(admin(op_get_features, feat_keep_alive | 1 << 8)).status == (st_invalid_field | st_dnr));
}

TEST_CASE("each change of the view raises one event until the log is read", "[controller]")
{
	Fixture fixture(2);
	fixture.change(20);
	fixture.log(0, 1024);
	fixture.wantEvents(1);
	CHECK_FALSE(fixture.controller.event()); // the change was read before the request
	fixture.change(21);
	auto event = fixture.controller.event();
	REQUIRE(event);
	CHECK(event->cid == 1);
	CHECK(event->result == 0x70f002);
	fixture.wantEvents(2);
	fixture.change(22);
	CHECK_FALSE(fixture.controller.event()); // the log has not been read since the last event
	fixture.log(0, 1024, true);
	CHECK_FALSE(fixture.controller.event()); // read with Retain Asynchronous Event
	fixture.change(23);
	fixture.log(0, 1024);
	CHECK_FALSE(fixture.controller.event());
	fixture.change(24);
	CHECK(fixture.controller.event()->cid == 2);
	fixture.change(25);
	CHECK_FALSE(fixture.controller.event()); // no request is outstanding
	fixture.log(0, 1024);
	fixture.change(26);
	fixture.wantEvents(3); // the request arrives after the change
	CHECK(fixture.controller.event()->cid == 3);
}

TEST_CASE("a change outside a host's view raises no event for it", "[controller]")
{
	Fixture fixture(2);
	fixture.sample.tell({putOf(someZone("z", {"nqn.2024-01.io.nvmeof:host"}, {"nqn.2024-01.com.example:s1"}))});
	fixture.controller.tell(fixture.sample.views);
	CHECK(countOf(fixture.log(0, 1024)) == 1);
	fixture.wantEvents(1);
	fixture.change(2);
	CHECK_FALSE(fixture.controller.event());
	fixture.sample.tell({putOf(someZone("z", {"*:host"}, {"*:s1", "*:s2"}))});
	fixture.controller.tell(fixture.sample.views);
	CHECK(fixture.controller.event());
	CHECK(countOf(fixture.log(0, 1024)) == 2);
}

TEST_CASE("asynchronous event requests are limited, can be aborted and end with a reset", "[controller]")
{
	Fixture fixture;
	for (std::uint16_t cid = 1; cid <= 4; cid++)
		fixture.wantEvents(cid);
	CHECK(fixture.run(admin(op_async_event)).status == (st_async_limit | st_dnr));
	CHECK(fixture.run(admin(op_abort, 9 << 16)).result == 1);
	CHECK(fixture.run(admin(op_abort, 2 << 16)).result == 0);
	auto aborted = fixture.controller.event();
	REQUIRE(aborted);
	CHECK(aborted->cid == 2);
	CHECK(aborted->status == st_abort_requested);
	fixture.change(20);
	CHECK(fixture.controller.event()->cid == 1);
	fixture.run(propertySet(prop_cc, 0)); // a controller reset discards them
	fixture.run(propertySet(prop_cc, 1));
	fixture.log(0, 1024);
	fixture.change(21);
	CHECK_FALSE(fixture.controller.event());
}

TEST_CASE("a host may register only its own NQN, and malformed registrations are refused", "[controller]")
{
	Fixture fixture;
	Registration host{dim_host, "nqn.2024-01.io.nvmeof:host", {}, "node", "Linux", {}};
	Command cmd = admin(op_dim, dim_register);
	std::uint16_t status = 0;
	CHECK(fixture.controller.registration(cmd, encodeRegistration(host), status));
	host.nqn = "nqn.2024-01.io.nvmeof:somebody-else";
	CHECK_FALSE(fixture.controller.registration(cmd, encodeRegistration(host), status));
	CHECK(status == (st_invalid_field | st_dnr));
	host.entity = dim_direct;
	CHECK(fixture.controller.registration(cmd, encodeRegistration(host), status));
	cmd.cdw10 = 3;
	CHECK_FALSE(fixture.controller.registration(cmd, encodeRegistration(host), status));
	CHECK_FALSE(fixture.controller.registration(admin(op_dim), Bytes(1024), status));
}
