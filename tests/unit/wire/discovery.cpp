// SPDX-License-Identifier: LGPL-2.1-or-later
// The discovery log of NVMe Base 2.0, figures 263 and 264; TSAS of the transport specifications
#include <catch2/catch.hpp>

#include "libctl/wire/discovery_log.h"
#include "literal.h"

using namespace nofctl::wire;
using namespace literal;

TEST_CASE("the header of a discovery log is encoded and decoded", "[wire]")
{
	const Bytes bytes = hex("05 00 00 00 01 00 00 00  03 00 00 00 00 00 00 00  00 00", 1024);
	CHECK(encode(DiscoveryHeader{0x100000005, 3, 0, {}}) == bytes);
	auto read = *decode<DiscoveryHeader>(bytes);
	CHECK(read.genctr == 0x100000005);
	CHECK(read.numrec == 3);
	CHECK(read.recfmt == 0);
}

TEST_CASE("an entry of TCP is encoded and decoded", "[wire]")
{
	const Bytes bytes = laid(1024, {{0, x("03 01 02 05  07 00  ff ff  20 00  02 00")},
					{32, padded("4420", 32, ' ')},
					{256, "nqn.2024-01.io.nvmeof:a"},
					{512, padded("192.0.2.1", 256, ' ')},
					{768, x("02")}});
	auto entry = makeEntry(sub_nvm, "nqn.2024-01.io.nvmeof:a", "192.0.2.1", 4420);
	entry.portid = 7;
	entry.treq = treq_required | treq_sqflow_off;
	entry.eflags = ef_persistent;
	entry.tsas[0] = sec_tls13;
	CHECK(encode(entry) == bytes);

	auto read = *decode<DiscoveryEntry>(bytes);
	CHECK(read.trtype == tr_tcp);
	CHECK(read.adrfam == fam_ipv4);
	CHECK(read.subtype == sub_nvm);
	CHECK(read.treq == 5);
	CHECK(read.portid == 7);
	CHECK(read.cntlid == 0xffff);
	CHECK(read.asqsz == 32);
	CHECK(read.eflags == 2);
	CHECK(text(read.trsvcid) == "4420");
	CHECK(text(read.subnqn) == "nqn.2024-01.io.nvmeof:a");
	CHECK(text(read.traddr) == "192.0.2.1");
	CHECK(read.sectype() == sec_tls13);
}

TEST_CASE("an entry of RDMA is encoded and decoded", "[wire]")
{
	const Bytes bytes = laid(1024, {{0, x("01 02 01 02  01 00  ff ff  20 00")},
					{32, padded("8009", 32, ' ')},
					{256, "nqn.2014-08.org.nvmexpress.discovery"},
					{512, padded("2001:db8::1", 256, ' ')},
					{768, x("01 04 01 00 00 00 00 00  01 80")}});
	auto entry = makeEntry(sub_referral, "nqn.2014-08.org.nvmexpress.discovery", "2001:db8::1", 8009);
	entry.trtype = tr_rdma;
	entry.portid = 1;
	entry.setRdma({qp_connected, pr_roce_v2, cms_rdma_cm, {}, 0x8001, {}});
	CHECK(encode(entry) == bytes);

	auto read = *decode<DiscoveryEntry>(bytes);
	CHECK(read.trtype == tr_rdma);
	CHECK(read.adrfam == fam_ipv6);
	CHECK(read.subtype == sub_referral);
	CHECK(text(read.traddr) == "2001:db8::1");
	CHECK(read.rdma().qptype == qp_connected);
	CHECK(read.rdma().prtype == pr_roce_v2);
	CHECK(read.rdma().cms == cms_rdma_cm);
	CHECK(read.rdma().pkey == 0x8001);
}

TEST_CASE("texts are cut to the length of their fields", "[wire]")
{
	auto entry = makeEntry(sub_nvm, std::string(300, 'n'), std::string(300, '1'), 65535);
	const Bytes bytes = encode(entry);
	CHECK(bytes[255] == 0);
	CHECK(bytes[256] == 'n');
	CHECK(bytes[511] == 'n');
	CHECK(bytes[767] == '1');
	CHECK(bytes[768] == 0);
	CHECK(text(entry.subnqn) == std::string(256, 'n'));
	CHECK(text(entry.trsvcid) == "65535");
	setText(entry.traddr, "", ' ');
	CHECK(text(entry.traddr).empty());
}
