// SPDX-License-Identifier: LGPL-2.1-or-later
// NVMe/TCP PDUs; figures of NVMe TCP Transport 1.0, section 3.6.2. The expected digests come from another
// implementation.
#include <catch2/catch.hpp>

#include <numeric>

#include "libctl/wire/pdu.h"
#include "literal.h"

using namespace nofctl::wire;
using literal::hex;

namespace {

constexpr std::size_t longest = 1 << 20;

template <class T> Bytes written(const T &pdu, const PduFormat &format = {}, const Bytes &data = {})
{
	Bytes out;
	write(out, pdu, format, data);
	return out;
}

// Decodes bytes that are exactly one PDU.
Pdu taken(const Bytes &bytes, const PduFormat &format = {})
{
	auto pdu = cut(bytes, format, longest);
	if (pdu.fault)
		FAIL(pdu.fault->why);
	CHECK(pdu.length == bytes.size());
	CHECK_FALSE(pdu.damaged);
	for (std::size_t n = 0; n < bytes.size(); n++) { // every truncation is incomplete
		auto part = cut(std::span(bytes).first(n), format, longest);
		REQUIRE_FALSE(part.fault);
		REQUIRE(part.length == 0);
	}
	return pdu;
}

Bytes dataOf(const Pdu &pdu)
{
	return {pdu.data.begin(), pdu.data.end()};
}

} // namespace

TEST_CASE("CRC32C has the values of RFC 3720, B.4", "[pdu]")
{
	Bytes data(32);
	CHECK(crc32c(data) == 0x8a9136aa);
	std::fill(data.begin(), data.end(), 0xff);
	CHECK(crc32c(data) == 0x62a8ab43);
	std::iota(data.begin(), data.end(), 0);
	CHECK(crc32c(data) == 0x46dd794e);
	std::iota(data.rbegin(), data.rend(), 0);
	CHECK(crc32c(data) == 0x113fdb5c);
	CHECK(crc32c({}) == 0);
}

TEST_CASE("ICReq and ICResp are encoded and decoded", "[pdu]")
{
	const Bytes request = hex("00 00 80 00  80 00 00 00   00 00 1f 03  0f 00 00 00", 128);
	auto req = make<IcReq>();
	req.hpda = 31;
	req.digest = 3;
	req.maxr2t = 15;
	CHECK(written(req) == request);
	CHECK(written(req, {true, true, 31}) == request); // digests are not negotiated yet
	auto readReq = taken(request).as<IcReq>();
	CHECK(readReq.pfv == 0);
	CHECK(readReq.hpda == 31);
	CHECK(readReq.digest == 3);
	CHECK(readReq.maxr2t == 15);

	const Bytes response = hex("01 00 80 00  80 00 00 00   00 00 07 02  00 00 02 00", 128);
	auto resp = make<IcResp>();
	resp.cpda = 7;
	resp.digest = 2;
	resp.maxh2cdata = 131072;
	CHECK(written(resp) == response);
	auto readResp = taken(response).as<IcResp>();
	CHECK(readResp.cpda == 7);
	CHECK(readResp.digest == 2);
	CHECK(readResp.maxh2cdata == 131072);
}

TEST_CASE("a command capsule is encoded and decoded", "[pdu]")
{
	const std::string sqe = "01 40 34 12  02 00 00 00  00000000 00000000 0000000000000000" // write, CID, NSID
				"0000000000000000  04 00 00 00  00 00 00 01"                   // data in the capsule
				"08 07 06 05 04 03 02 01  03 00 00 40  00000000 00000000 00000000"; // LBA, FUA
	auto pdu = make<CommandPdu>();
	pdu.cmd.opcode = op_write;
	pdu.cmd.flags = use_sgl;
	pdu.cmd.cid = 0x1234;
	pdu.cmd.nsid = 2;
	pdu.cmd.sgl.length = 4;
	pdu.cmd.sgl.type = sgl_in_capsule;
	pdu.cmd.cdw10 = 0x05060708;
	pdu.cmd.cdw11 = 0x01020304;
	pdu.cmd.cdw12 = 0x40000003;

	auto check = [&](const Bytes &bytes, const PduFormat &format, const Bytes &data) {
		CHECK(written(pdu, format, data) == bytes);
		auto read = taken(bytes, format);
		auto cmd = read.as<CommandPdu>().cmd;
		CHECK(dataOf(read) == data);
		CHECK(cmd.opcode == op_write);
		CHECK(cmd.cid == 0x1234);
		CHECK(cmd.nsid == 2);
		CHECK(cmd.sgl.length == 4);
		CHECK(cmd.slba() == 0x0102030405060708);
		CHECK(cmd.blocks() == 4);
		CHECK(cmd.hostToController());
	};
	const Bytes data = hex("de ad be ef");
	check(hex("04 00 48 00  48 00 00 00" + sqe), {}, {});
	check(hex("04 00 48 48  4c 00 00 00" + sqe + "de ad be ef"), {}, data);
	check(hex("04 03 48 4c  54 00 00 00" + sqe + "0a b0 a6 27  de ad be ef  8e 77 dc f1"), {true, true}, data);
	// aligned to 128 bytes
	check(hex("04 00 48 80  84 00 00 00" + sqe + std::string(2 * 56, '0') + "de ad be ef"), {false, false, 31},
	      data);
}

TEST_CASE("a response capsule is encoded and decoded", "[pdu]")
{
	const Bytes bytes = hex("05 01 18 00  1c 00 00 00   04 03 02 01 00 00 00 00   07 00  00 00  34 12  04 80"
				"f8 cf c3 33");
	auto pdu = make<ResponsePdu>();
	pdu.cqe.result = 0x01020304;
	pdu.cqe.sqhd = 7;
	pdu.cqe.cid = 0x1234;
	pdu.cqe.status = std::uint16_t((st_invalid_field | st_dnr) << 1);
	CHECK(written(pdu, {true, true}) == bytes);
	auto cqe = taken(bytes, {true, true}).as<ResponsePdu>().cqe;
	CHECK(cqe.result == 0x01020304);
	CHECK(cqe.sqhd == 7);
	CHECK(cqe.sqid == 0);
	CHECK(cqe.cid == 0x1234);
	CHECK(cqe.status >> 1 == 0x4002);
}

TEST_CASE("data PDUs are encoded and decoded", "[pdu]")
{
	const Bytes toHost = hex("07 0f 18 1c  28 00 00 00   34 12  00 00  00 02 00 00  08 00 00 00  00 00 00 00"
				 "ce c0 d0 80   00 01 02 03 04 05 06 07   3b bc 2c 8a");
	auto pdu = make<DataPdu>(pdu_c2h_data);
	pdu.h.flags = f_last | f_success;
	pdu.cid = 0x1234;
	pdu.offset = 512;
	pdu.length = 8;
	CHECK(written(pdu, {true, true}, hex("00 01 02 03 04 05 06 07")) == toHost);
	auto read = taken(toHost, {true, true});
	CHECK(dataOf(read) == hex("00 01 02 03 04 05 06 07"));
	CHECK(read.as<DataPdu>().offset == 512);
	CHECK(read.as<DataPdu>().h.flags == (f_hdgst | f_ddgst | f_last | f_success));

	const Bytes toController =
		hex("06 06 18 40  48 00 00 00   34 12  cd ab  00 10 00 00  04 00 00 00  00 00 00 00" +
		    std::string(2 * 40, '0') + "de ad be ef   8e 77 dc f1");
	pdu = make<DataPdu>(pdu_h2c_data);
	pdu.h.flags = f_last;
	pdu.cid = 0x1234;
	pdu.ttag = 0xabcd;
	pdu.offset = 4096;
	pdu.length = 4;
	CHECK(written(pdu, {false, true, 15}, hex("de ad be ef")) == toController);
	read = taken(toController, {false, true});
	CHECK(dataOf(read) == hex("de ad be ef"));
	CHECK(read.as<DataPdu>().ttag == 0xabcd);
	CHECK(read.as<DataPdu>().offset == 4096);
}

TEST_CASE("R2T is encoded and decoded", "[pdu]")
{
	const Bytes bytes = hex("09 00 18 00  18 00 00 00   34 12  cd ab  00 00 01 00  00 20 00 00  00 00 00 00");
	auto pdu = make<R2tPdu>();
	pdu.cid = 0x1234;
	pdu.ttag = 0xabcd;
	pdu.offset = 65536;
	pdu.length = 8192;
	CHECK(written(pdu) == bytes);
	auto read = taken(bytes).as<R2tPdu>();
	CHECK(read.cid == 0x1234);
	CHECK(read.ttag == 0xabcd);
	CHECK(read.offset == 65536);
	CHECK(read.length == 8192);
}

TEST_CASE("TermReq PDUs have no digests", "[pdu]")
{
	const Bytes bytes = hex("03 00 18 00  20 00 00 00   01 00  04 00 00 00  00000000000000000000"
				"04 00 48 00  48 00 00 01");
	auto pdu = make<TermPdu>(pdu_c2h_term);
	pdu.fes = fes_header;
	pdu.fei = 4;
	CHECK(written(pdu, {true, true, 31}, hex("04 00 48 00  48 00 00 01")) == bytes);
	auto read = taken(bytes, {true, true});
	CHECK(read.as<TermPdu>().fes == fes_header);
	CHECK(read.as<TermPdu>().fei == 4);
	CHECK(dataOf(read) == hex("04 00 48 00  48 00 00 01"));
}

TEST_CASE("PDUs are cut from a stream one after the other", "[pdu]")
{
	Bytes stream;
	write(stream, make<ResponsePdu>(), {true, false});
	const auto first = stream.size();
	write(stream, make<R2tPdu>(), {true, false});
	auto pdu = cut(stream, {true, false}, longest);
	CHECK(pdu.type() == pdu_response);
	REQUIRE(pdu.length == first);
	pdu = cut(std::span(stream).subspan(first), {true, false}, longest);
	CHECK(pdu.type() == pdu_r2t);
	CHECK(pdu.length == stream.size() - first);
}

TEST_CASE("a fault of a PDU has the status and the offset of the field", "[pdu]")
{
	struct Wrong {
		const char *header; // the bytes that show the fault
		PduFormat format;
		FatalStatus fes;
		std::uint32_t fei;
	};
	const Wrong wrong[] = {
		{"08 00 18 00  18 00 00 00", {}, fes_header, 0},            // unknown type
		{"ff 00 18 00  18 00 00 00", {}, fes_header, 0},            //
		{"05 00 17 00  18 00 00 00", {}, fes_header, 2},            // HLEN
		{"05 00 18 00  00 00 00 00", {}, fes_header, 4},            // PLEN smaller than the header
		{"05 00 18 00  1c 00 00 00", {}, fes_header, 4},            // larger than the PDU
		{"05 00 18 00  ff ff ff ff", {}, fes_header, 4},            //
		{"05 00 18 00  1c 00 00 00", {true, false}, fes_header, 1}, // digest is missing
		{"05 01 18 00  1c 00 00 00", {}, fes_header, 1},            // digest is not negotiated
		{"05 01 18 00  18 00 00 00", {true, false}, fes_header, 4}, // no room for the digest
		{"07 00 18 18  18 00 00 00", {}, fes_header, 3},            // no data
		{"07 00 18 14  1c 00 00 00", {}, fes_header, 3},            // data within the header
		{"07 00 18 1a  1c 00 00 00", {}, fes_header, 3},            // not aligned
		{"07 00 18 20  1c 00 00 00", {}, fes_header, 3},            // data behind the end
		{"07 02 18 18  1c 00 00 00", {false, true}, fes_header, 3}, // data digest only
		{"07 00 18 18  20 00 00 00", {false, true}, fes_header, 1}, // digest is missing
		{"07 00 18 18  01 00 10 00", {}, fes_header, 4},            // longer than allowed
		{"04 00 48 00  4c 00 00 00", {}, fes_header, 3},            // data without PDO
		{"03 00 18 00  99 00 00 00", {}, fes_header, 4},            // TermReq is too long
	};
	for (auto &w : wrong) {
		INFO(w.header);
		auto pdu = cut(hex(w.header), w.format, longest);
		REQUIRE(pdu.fault);
		CHECK(pdu.length == 0);
		CHECK(pdu.fault->fes == w.fes);
		CHECK(pdu.fault->fei == w.fei);
	}

	Bytes bytes = hex("07 0f 18 1c  28 00 00 00   34 12  00 00  00 02 00 00  08 00 00 00  00 00 00 00"
			  "ce c0 d0 80   00 01 02 03 04 05 06 07   3b bc 2c 8a");
	SECTION("header digest")
	{
		bytes[8] ^= 1;
		auto pdu = cut(bytes, {true, true}, longest);
		REQUIRE(pdu.fault);
		CHECK(pdu.fault->fes == fes_digest);
		CHECK(pdu.fault->fei == 0x80d0c0ce);
	}
	SECTION("data digest, which fails only its command")
	{
		bytes[30] ^= 1;
		auto pdu = cut(bytes, {true, true}, longest);
		CHECK_FALSE(pdu.fault);
		CHECK(pdu.length == bytes.size());
		CHECK(pdu.damaged);
	}
	SECTION("data length")
	{
		const Bytes alike = hex("07 00 18 18  1c 00 00 00   34 12  00 00  00 00 00 00  05 00 00 00  00 00 00 00"
					"de ad be ef");
		auto pdu = cut(alike, {}, longest);
		REQUIRE(pdu.fault);
		CHECK(pdu.fault->fei == 16);
	}
}
