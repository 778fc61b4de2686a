// SPDX-License-Identifier: LGPL-2.1-or-later
// Commands, Identify data and log pages of NVMe Base 2.0
#include <catch2/catch.hpp>

#include "libctl/wire/fabrics.h"
#include "libctl/wire/identify.h"
#include "libctl/wire/log_page.h"
#include "literal.h"

using namespace nofctl::wire;
using namespace literal;

namespace {

Connect connectOfIoQueue()
{
	Connect c;
	c.qid = 3;
	c.entries = 128;
	c.kato = 5000;
	c.attributes = ca_sqflow_off;
	for (std::size_t i = 0; i < 16; i++)
		c.hostid[i] = static_cast<std::uint8_t>(0xa0 + i);
	c.cntlid = 0x1234;
	c.subsysnqn = "nqn.2024-01.io.nvmeof:a";
	c.hostnqn = "nqn.2014-08.org.nvmexpress:uuid:x";
	return c;
}

const char *const sixteen = "a0 a1 a2 a3 a4 a5 a6 a7 a8 a9 aa ab ac ad ae af";

} // namespace

TEST_CASE("Connect is encoded and decoded", "[wire]")
{
	// OPC 7Fh, SGL, FCTYPE 1; RECFMT, QID; SQSIZE, CATTR, KATO
	const Bytes command =
		laid(64, {{0, x("7f 40")}, {4, x("01")}, {40, x("00 00 03 00  7f 00 04 00  88 13 00 00")}});
	const Bytes data = laid(1024, {{0, x(sixteen)},
				       {16, x("34 12")},
				       {256, "nqn.2024-01.io.nvmeof:a"},
				       {512, "nqn.2014-08.org.nvmexpress:uuid:x"}});
	auto c = connectOfIoQueue();
	CHECK(encode(c.command()) == command);
	CHECK(encode(c.data()) == data);
	auto read = Connect::decode(*decode<Command>(command), data);
	REQUIRE(read);
	CHECK(read->qid == 3);
	CHECK(read->entries == 128);
	CHECK(read->kato == 5000);
	CHECK(read->attributes == ca_sqflow_off);
	CHECK(read->hostid == c.hostid);
	CHECK(read->cntlid == 0x1234);
	CHECK(read->subsysnqn == "nqn.2024-01.io.nvmeof:a");
	CHECK(read->hostnqn == "nqn.2014-08.org.nvmexpress:uuid:x");

	for (std::size_t size : {0, 512, 1023, 1025})
		CHECK_FALSE(Connect::decode(c.command(), Bytes(size)));
	// names without a terminating NUL
	const Bytes endless = laid(1024, {{256, std::string(256, 'x')}, {512, std::string(512, 'y')}});
	CHECK(Connect::decode(c.command(), endless)->subsysnqn == std::string(256, 'x'));
	CHECK(Connect::decode(c.command(), endless)->hostnqn == std::string(256, 'y'));
	c.entries = 65536;
	CHECK((c.command().cdw11 & 0xffff) == 0xffff);
}

TEST_CASE("property commands are encoded", "[wire]")
{
	CHECK(encode(propertyGet(prop_cap)) == laid(64, {{0, x("7f 40")}, {4, x("04")}, {40, x("01 00 00 00")}}));
	CHECK(encode(propertyGet(prop_csts)) ==
	      laid(64, {{0, x("7f 40")}, {4, x("04")}, {40, x("00 00 00 00  1c 00 00 00")}}));
	CHECK(encode(propertySet(prop_cc, 0x00460001)) ==
	      laid(64, {{0, x("7f 40")}, {40, x("00 00 00 00  14 00 00 00  01 00 46 00")}}));
	CHECK(propertySet(prop_cc, 1).fctype() == fc_property_set);
	CHECK_FALSE(propertyGet(prop_cap).hostToController());
}

TEST_CASE("Get Log Page is encoded and decoded", "[wire]")
{
	// LID, RAE and NUMDL; NUMDU; LPO
	const Bytes bytes = laid(64, {{0, x("02 40")},
				      {32, x("04 00 04 00")},
				      {39, x("5a")},
				      {40, x("70 80 00 00  01 00 00 00  00 04 00 00  07 00 00 00")}});
	CHECK(encode(getLog(log_discovery, 0x700000400, 0x40004, true)) == bytes);
	auto read = *decode<Command>(bytes);
	CHECK((read.cdw10 & 0xff) == log_discovery);
	CHECK(read.logRetain());
	CHECK(read.logBytes() == 0x40004);
	CHECK(read.logOffset() == 0x700000400);
	CHECK_FALSE(read.hostToController());
	CHECK_FALSE(getLog(log_ana, 0, 16).logRetain());
}

TEST_CASE("fields of Identify data are at their offsets", "[wire]")
{
	Bytes id(identifySize);
	put(id, at::vid, 0x0102);
	put(id, at::serial, "S", ' ');
	put(id, at::model, "M", ' ');
	put(id, at::firmware, "firmware that is too long", ' ');
	put(id, at::cntlid, 0x0304);
	put(id, at::ver, 0x00020100);
	put(id, at::oaes, 0x80000100);
	put(id, at::cntrltype, 2);
	put(id, at::cirn, 0x1122334455667788);
	put(id, at::lpa, 4);
	put(id, at::kas, 10);
	put(id, at::nanagrpid, 128);
	put(id, at::cqt, 0x0506);
	put(id, at::sqes, 0x66);
	put(id, at::maxcmd, 256);
	put(id, at::nn, 1024);
	put(id, at::oncs, 0x0c);
	put(id, at::vwc, 1);
	put(id, at::sgls, 0x00100001);
	put(id, at::mnan, 1024);
	put(id, at::subnqn, "nqn.a:b", 0);
	put(id, at::ioccsz, 516);
	put(id, at::icdoff, 0x0708);
	put(id, at::msdbd, 1);
	put(id, at::ccrl, 9);
	// Base 2.0, figure 275; CIRN, CQT and CCRL: Base 2.1 to 2.3
	const Bytes wanted = laid(4096, {{0, x("02 01")},
					 {4, padded("S", 20, ' ')},
					 {24, padded("M", 40, ' ')},
					 {64, "firmware"},
					 {78, x("04 03  00 01 02 00")},
					 {92, x("00 01 00 80")},
					 {111, x("02")},
					 {136, x("88 77 66 55 44 33 22 11")},
					 {261, x("04")},
					 {320, x("0a 00")},
					 {348, x("80 00 00 00")},
					 {386, x("06 05")},
					 {512, x("66 00  00 01  00 04 00 00  0c 00")},
					 {525, x("01")},
					 {536, x("01 00 10 00  00 04 00 00")},
					 {768, "nqn.a:b"},
					 {1792, x("04 02 00 00")},
					 {1800, x("08 07 00 01")},
					 {1807, x("09")}});
	CHECK(id == wanted);
	CHECK(get<std::uint64_t>(wanted, at::cirn) == 0x1122334455667788);
	CHECK(get(std::span<const std::uint8_t>(wanted), at::sgls) == 0x00100001);

	Bytes ns(identifySize);
	put(ns, at::nsze, 0x0102030405060708);
	put(ns, at::ncap, 2);
	put(ns, at::nuse, 3);
	put(ns, at::flbas, 4);
	put(ns, at::nmic, 1);
	put(ns, at::dlfeat, 9);
	put(ns, at::anagrpid, 0x0a0b0c0d);
	put(ns, at::lbaf0_ms, 8);
	put(ns, at::lbaf0_ds, 12);
	put(ns, at::lbaf1_ds, 9);
	// NVM Command Set 1.0, figure 97
	CHECK(ns == laid(4096, {{0, x("08 07 06 05 04 03 02 01  02 00 00 00 00 00 00 00  03")},
				{26, x("04")},
				{30, x("01")},
				{33, x("09")},
				{92, x("0d 0c 0b 0a")},
				{128, x("08 00 0c 00  00 00 09 00")}}));
	CHECK(at::nguid == 104);
	CHECK(at::eui64 == 120);
}

TEST_CASE("lists of namespaces and of their identifiers are encoded", "[wire]")
{
	CHECK(activeList(std::array<std::uint32_t, 2>{1, 0x00010203}) == hex("01 00 00 00  03 02 01 00", identifySize));
	std::vector<std::uint32_t> many(2000, 7);
	auto full = activeList(many);
	CHECK(full.size() == identifySize);
	CHECK(full[4092] == 7);

	Id16 id{};
	for (std::size_t i = 0; i < 16; i++)
		id[i] = static_cast<std::uint8_t>(0xa0 + i);
	// NIDT, NIDL; Base 2.0, figure 277
	CHECK(descriptorList(id, id) ==
	      hex("02 10 00 00" + std::string(sixteen) + "03 10 00 00" + sixteen, identifySize));
	CHECK(descriptorList({}, id) == hex("03 10 00 00" + std::string(sixteen), identifySize));
}

TEST_CASE("log pages are encoded", "[wire]")
{
	// Base 2.0, figures 218 and 219: change count, groups; ID, NSIDs, change count, state
	CHECK(makeAnaLog(0x0102, 2, {{1, ana_optimized, {5, 6}, 2}, {3, ana_change, {}, 0}}) ==
	      hex("02 01 00 00 00 00 00 00  02 00  00 00 00 00 00 00"
		  "01 00 00 00  02 00 00 00  02 01 00 00 00 00 00 00  01 000000000000000000000000000000"
		  "05 00 00 00  06 00 00 00"
		  "03 00 00 00  00 00 00 00  02 01 00 00 00 00 00 00  0f 000000000000000000000000000000"));
	// Base 2.3, figure 305
	const CcrRecord record{0x0102, 7, 0x0304, ccr_success, ccr_validated | ccr_initiated};
	CHECK(makeCcrLog(std::span(&record, 1)) == hex("01 00 00 00 00 00 00 00  02 01 07 00 04 03 01 03"));
	CHECK(smartLog(300, 100) == laid(512, {{1, x("2c 01 64")}}));
	// type, information, log page; Base 2.0, figure 145
	CHECK(event_discovery_changed.result() == 0x70f002);
	CHECK(event_ana_changed.result() == 0x0c0302);
	CHECK(event_ns_changed.result() == 0x040002);
}

TEST_CASE("data that are too short are not decoded", "[wire]")
{
	Bytes bytes(63);
	CHECK_FALSE(decode<Command>(bytes));
	bytes.resize(64);
	CHECK(decode<Command>(bytes));
	CHECK_FALSE(decode<Le64>({}));
}

TEST_CASE("status names do not depend on the bits above the status code", "[wire]")
{
	CHECK(statusName(0x184) == std::string("Connect Invalid Host"));
	CHECK(statusName(0x4184) == std::string("Connect Invalid Host"));
	CHECK(statusName(0x303) == std::string("Asymmetric Access Transition"));
	CHECK(statusName(0) == nullptr);
	CHECK(statusName(0x7ff) == nullptr);
}

TEST_CASE("an ANA log is decoded within its lengths", "[wire]")
{
	const Bytes log = hex(
		"05 00 00 00 00 00 00 00  02 00 00 00 00 00 00 00"
		"01 00 00 00 02 00 00 00  04 00 00 00 00 00 00 00  01 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00"
		"01 00 00 00 07 00 00 00"
		"04 00 00 00 00 00 00 00  05 00 00 00 00 00 00 00  ff 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00");
	const auto read = parseAnaLog(log);
	REQUIRE(read);
	CHECK(read->change == 5);
	REQUIRE(read->groups.size() == 2);
	CHECK(read->groups[0].id == 1);
	CHECK(read->groups[0].state == ana_optimized);
	CHECK((read->groups[0].nsids == std::vector<std::uint32_t>{1, 7}));
	CHECK(read->groups[1].id == 4);
	CHECK(read->groups[1].state == ana_change);
	CHECK(read->groups[1].nsids.empty());
	for (std::size_t cut = 0; cut < log.size(); cut++)
		CHECK_FALSE(parseAnaLog(std::span(log).first(cut)));
	const auto changed = [&](std::size_t at, std::uint8_t to) {
		Bytes other = log;
		other[at] = to;
		return parseAnaLog(other).has_value();
	};
	CHECK_FALSE(changed(8, 3));     // number of groups
	CHECK(changed(8, 1));           //
	CHECK_FALSE(changed(16, 0));    // no such group
	CHECK_FALSE(changed(20, 14));   // number of namespaces
	CHECK_FALSE(changed(23, 0x80)); //
	CHECK_FALSE(changed(32, 0));    // no such state
	CHECK_FALSE(changed(32, 5));
	CHECK(changed(32, 0xf4)); // reserved bits
}
