// SPDX-License-Identifier: LGPL-2.1-or-later
// Private data of NVMe/RDMA's connection management (NVMe RDMA Transport 1.0, section 3.2) and keyed SGL data blocks
// (NVMe Base 2.0, figure 105)
#include <catch2/catch.hpp>

#include "libctl/wire/rdma.h"
#include "literal.h"

using namespace nofctl::wire;
using namespace literal;

TEST_CASE("private data of a connect request are encoded and decoded", "[wire]")
{
	const Bytes bytes = hex("00 00  02 01  80 00  7f 00  05 03", 32);
	CHECK(encode(RdmaRequest{0, 0x102, 128, 127, 0x305, {}}) == bytes);
	auto read = *decode<RdmaRequest>(bytes);
	CHECK(read.recfmt == 0);
	CHECK(read.qid == 0x102);
	CHECK(read.hrqsize == 128);
	CHECK(read.hsqsize == 127);
	CHECK(read.cntlid == 0x305);
	CHECK(!decode<RdmaRequest>(Bytes(31)));
}

TEST_CASE("private data of accept and reject are encoded and decoded", "[wire]")
{
	CHECK(encode(RdmaAccept{0, 0x120, {}}) == hex("00 00  20 01", 32));
	CHECK(encode(RdmaReject{0, rj_cntlid}) == hex("00 00  09 00"));
	CHECK(decode<RdmaReject>(hex("00 00  06 00"))->status == rj_resources);
}

TEST_CASE("a keyed SGL data block is encoded and decoded", "[wire]")
{
	const Bytes bytes = hex("08 07 06 05 04 03 02 01  00 10 02  dd cc bb aa  4f");
	auto keyed = KeyedSgl::of(*decode<Sgl>(bytes));
	CHECK(keyed.addr == 0x0102030405060708);
	CHECK(keyed.length() == 0x21000);
	CHECK(keyed.key == 0xaabbccdd);
	CHECK(keyed.type == sgl_keyed_invalidate);
	CHECK(encode(keyed) == bytes);
}
