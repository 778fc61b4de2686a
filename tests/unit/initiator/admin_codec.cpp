// SPDX-License-Identifier: LGPL-2.1-or-later
// PDUs that a controller may or may not send, as literal bytes
#include <catch2/catch.hpp>

#include "libctl/initiator/admin_codec.h"
#include "tests/unit/wire/literal.h"

using namespace initiator;
using namespace nofctl::wire;
using literal::hex;

namespace {

using Received = AdminCodec::Received;
using Kind = AdminCodec::Kind;

const Bytes hello = hex("01 00 80 00 80 00 00 00  00 00 00 00 00 10 00 00", 128); // MAXH2CDATA 4096

// A host after ICReq
struct HostFixture {
	AdminCodec codec;
	Bytes out;

	explicit HostFixture(bool ready = true, AdminCodec::Digests digests = {}, const Bytes &answer = hello)
	{
		codec.hello(out, digests);
		out.clear();
		if (ready)
			REQUIRE(hear(answer).kind == Kind::ready);
	}

	// Processes all PDUs in these bytes, and returns the last news.
	Received hear(const Bytes &bytes)
	{
		AdminCodec::Data left(bytes);
		Received last;
		for (;;) {
			const Received received = codec.next(left, out);
			if (received.kind == Kind::nothing && !received.violation)
				return last;
			if (received.kind == Kind::data)
				append(data, received.data);
			last = received;
			if (received.kind == Kind::fault)
				return last;
		}
	}
	// Sends Get Log Page for so many bytes as the first command. Its CID is 4.
	void ask(std::uint32_t bytes)
	{
		codec.command(out, Slot::command, getLog(log_discovery, 0, bytes), {}, bytes);
		out.clear();
	}

	Bytes data;
};

std::string faultOf(const Received &received)
{
	return received.kind == Kind::fault ? received.fault.why : "no fault";
}

Bytes c2h(const char *flags, const char *offset, const char *data = "01 02 03 04 05 06 07 08",
	  const char *cid = "04 00")
{
	return hex(std::string("07 ") + flags + " 18 18 20 00 00 00 " + cid + " 00 00 " + offset +
		   " 08 00 00 00 00 00 00 00 " + data);
}

Bytes response(const char *cid, const char *status = "00 00")
{
	return hex(std::string("05 00 18 00 18 00 00 00  00 00 00 00 00 00 00 00  01 00 00 00 ") + cid + " " + status);
}

Bytes joined(std::initializer_list<Bytes> all)
{
	Bytes bytes;
	for (const Bytes &one : all)
		append(bytes, one);
	return bytes;
}

} // namespace

TEST_CASE("ICReq and commands are encoded", "[initiator]")
{
	AdminCodec codec;
	Bytes out;
	codec.hello(out, {true, true});
	CHECK(out == hex("00 00 80 00 80 00 00 00  00 00 00 03", 128));
	out.clear();
	REQUIRE_FALSE(codec.ready());
	HostFixture host;
	host.codec.command(host.out, Slot::event, plain(op_async_event), {}, 0);
	Bytes event = hex("04 00 48 00 48 00 00 00  0c 40 06 00", 72);
	event[8 + 39] = 0x5a;
	CHECK(host.out == event);
}

TEST_CASE("data may arrive in several PDUs, with SUCCESS or a separate completion, and byte by byte", "[initiator]")
{
	HostFixture host;
	host.ask(16);
	const bool success = GENERATE(true, false);
	const Bytes all =
		joined({c2h("00", "00 00 00 00"), c2h(success ? "0c" : "04", "08 00 00 00", "11 12 13 14 15 16 17 18"),
			success ? Bytes() : response("04 00")});
	const bool apart = GENERATE(true, false);
	Received last;
	if (!apart)
		last = host.hear(all);
	else
		for (std::uint8_t byte : all)
			if (Received received = host.hear({byte}); received.kind != Kind::nothing)
				last = received;
	CHECK(last.kind == Kind::done);
	CHECK(last.slot == Slot::command);
	CHECK(last.completion.status == 0);
	CHECK(last.violation == nullptr);
	CHECK(host.data == hex("0102030405060708 1112131415161718"));
	CHECK_FALSE(host.codec.open(Slot::command));
	CHECK(host.out.empty());
}

TEST_CASE("unexpected data are a fault", "[initiator]")
{
	HostFixture host;
	const auto bad = [&](const Bytes &bytes) { return faultOf(host.hear(bytes)); };
	SECTION("without a command")
	{
		CHECK(bad(c2h("00", "00 00 00 00")) == "response for a command that is not outstanding");
	}
	SECTION("for another command")
	{
		host.ask(16);
		CHECK(bad(c2h("00", "00 00 00 00", "01 02 03 04 05 06 07 08", "08 00")) ==
		      "response for a command that is not outstanding");
	}
	SECTION("for a command without data")
	{
		host.codec.command(host.out, Slot::command, setFeature(feat_keep_alive, 0), {}, 0);
		host.out.clear();
		CHECK(bad(c2h("00", "00 00 00 00")) == "data for a command that is not a read");
	}
	SECTION("with a gap")
	{
		host.ask(16);
		CHECK(bad(c2h("00", "08 00 00 00")) == "data out of order");
	}
	SECTION("more than requested")
	{
		host.ask(12);
		CHECK(bad(joined({c2h("00", "00 00 00 00"), c2h("04", "08 00 00 00")})) == "more data than requested");
	}
	SECTION("after the last data")
	{
		host.ask(16);
		CHECK(bad(joined({c2h("04", "00 00 00 00"), c2h("04", "08 00 00 00")})) ==
		      "data after the last data PDU");
	}
	SECTION("SUCCESS before the last data")
	{
		host.ask(16);
		CHECK(bad(c2h("08", "00 00 00 00")) == "SUCCESS before the last data");
	}
	SECTION("too few with SUCCESS")
	{
		host.ask(16);
		CHECK(bad(c2h("0c", "00 00 00 00")) == "success with less data than requested");
	}
	SECTION("too few with a completion")
	{
		host.ask(16);
		CHECK(bad(joined({c2h("04", "00 00 00 00"), response("04 00")})) ==
		      "success with less data than requested");
	}
	SECTION("a PDU longer than any request")
	{
		host.ask(16);
		CHECK(bad(hex("07 00 18 18 00 00 00 01")) == "PDU length");
	}
	// the controller gets the fault in H2CTermReq
	REQUIRE(host.out.size() >= 24);
	CHECK(host.out[0] == pdu_h2c_term);
}

TEST_CASE("an error with incomplete data is a valid answer", "[initiator]")
{
	HostFixture host;
	host.ask(16);
	const Received received = host.hear(joined({c2h("04", "00 00 00 00"), response("04 00", "04 80")}));
	CHECK(received.kind == Kind::done);
	CHECK(received.completion.status >> 1 == (st_invalid_field | st_dnr));
}

TEST_CASE("a completion without a command, or a second one, is a fault", "[initiator]")
{
	HostFixture host;
	CHECK(faultOf(host.hear(response("04 00"))) == "response for a command that is not outstanding");
	HostFixture other;
	other.codec.command(other.out, Slot::event, plain(op_async_event), {}, 0);
	const Received told = other.hear(response("06 00"));
	CHECK(told.kind == Kind::done);
	CHECK(told.slot == Slot::event);
	CHECK(faultOf(other.hear(response("06 00"))) == "response for a command that is not outstanding");
	HostFixture third;
	CHECK(faultOf(third.hear(response("07 00"))) ==
	      "response for a command that is not outstanding"); // a CID of no slot
}

TEST_CASE("ICResp is validated, and valid only once at the beginning", "[initiator]")
{
	const auto answered = [](std::size_t at, const char *bytes, AdminCodec::Digests digests = {}) {
		HostFixture host(false, digests);
		Bytes answer = hello;
		const std::string changed = literal::x(bytes);
		std::ranges::copy(changed, answer.begin() + static_cast<std::ptrdiff_t>(at));
		return faultOf(host.hear(answer));
	};
	CHECK(answered(8, "01") == "the version of the PDU format");
	CHECK(answered(10, "20") == "the alignment of data");
	CHECK(answered(11, "01") == "digests other than requested");
	CHECK(answered(11, "01", {true, true}) == "digests other than requested");
	CHECK(answered(12, "ff 0f 00 00") == "MAXH2CDATA");
	CHECK(answered(12, "02 10 00 00") == "MAXH2CDATA");
	CHECK(answered(2, "18") == "header length");
	CHECK(answered(4, "81") == "data where there are none");
	CHECK(answered(0, "05") == "header length");
	CHECK(answered(0, "0a") == "unknown PDU type");
	CHECK(faultOf(HostFixture(false).hear(response("04 00"))) == "a PDU before ICResp");
	CHECK(faultOf(HostFixture().hear(hello)) == "second ICResp");
	CHECK(faultOf(HostFixture().hear(hex("06 00 18 18 20 00 00 00", 32))) == "data length");
	CHECK(faultOf(HostFixture().hear(hex("00 00 80 00 80 00 00 00", 128))) ==
	      "a PDU type that controllers do not send");
}

TEST_CASE("data are sent to the controller as its R2T PDUs request", "[initiator]")
{
	HostFixture host;
	const Bytes data(10000, 0x5a);
	host.codec.command(host.out, Slot::command, plain(0x21), data, 0);
	REQUIRE(host.out.size() == 72); // too large for the capsule
	CHECK(host.out[8 + 32] == 0x10);
	CHECK(host.out[8 + 33] == 0x27);
	CHECK(host.out[8 + 39] == 0x5a);
	host.out.clear();
	const auto r2t = [](const char *offset, const char *length) {
		return hex(std::string("09 00 18 00 18 00 00 00 04 00 cd ab ") + offset + length + " 00 00 00 00");
	};
	SECTION("all data, in PDUs of at most MAXH2CDATA")
	{
		CHECK(host.hear(r2t("00 00 00 00", "88 13 00 00")).kind == Kind::nothing); // 5000
		REQUIRE(host.out.size() == 24 + 4096 + 24 + 904);
		CHECK(std::equal(host.out.begin(), host.out.begin() + 24,
				 hex("06 00 18 18 18 10 00 00  04 00 cd ab 00 00 00 00 00 10 00 00", 24).begin()));
		CHECK(std::equal(host.out.begin() + 4120, host.out.begin() + 4144,
				 hex("06 04 18 18 a0 03 00 00  04 00 cd ab 00 10 00 00 88 03 00 00", 24).begin()));
		CHECK(host.hear(r2t("88 13 00 00", "88 13 00 00")).kind == Kind::nothing);
		CHECK(host.hear(response("04 00")).kind == Kind::done);
	}
	SECTION("an R2T with a gap")
	{
		CHECK(faultOf(host.hear(r2t("01 00 00 00", "88 13 00 00"))) == "R2T out of order");
	}
	SECTION("an R2T beyond the data")
	{
		CHECK(faultOf(host.hear(r2t("00 00 00 00", "11 27 00 00"))) == "R2T out of order");
	}
	SECTION("an empty R2T")
	{
		CHECK(faultOf(host.hear(r2t("00 00 00 00", "00 00 00 00"))) == "R2T out of order");
	}
	SECTION("success before all data were requested")
	{
		CHECK(faultOf(host.hear(response("04 00"))) == "success before all data were requested");
	}
	SECTION("an R2T for a command without data")
	{
		HostFixture other;
		other.ask(8);
		CHECK(faultOf(other.hear(r2t("00 00 00 00", "08 00 00 00"))) ==
		      "R2T for a command that is not a write");
	}
}

TEST_CASE("digests are verified", "[initiator]")
{
	Bytes answer = hello;
	answer[11] = 3;
	HostFixture host(true, {true, true}, answer);
	host.ask(8);
	const PduFormat format{true, true, 0};
	auto data = make<DataPdu>(pdu_c2h_data);
	data.h.flags = f_last | f_success;
	data.cid = 4;
	data.length = 8;
	Bytes bytes;
	write(bytes, data, format, hex("01 02 03 04 05 06 07 08"));
	SECTION("valid")
	{
		CHECK(host.hear(bytes).kind == Kind::done);
	}
	SECTION("wrong header digest")
	{
		bytes[24] ^= 1;
		CHECK(faultOf(host.hear(bytes)) == "header digest");
	}
	SECTION("wrong data digest")
	{
		bytes.back() ^= 1;
		CHECK(faultOf(host.hear(bytes)) == "data digest");
	}
	SECTION("missing")
	{
		CHECK(faultOf(host.hear(c2h("0c", "00 00 00 00"))) == "header digest flag");
	}
}

TEST_CASE("C2HTermReq ends the connection with its status", "[initiator]")
{
	HostFixture host(GENERATE(true, false));
	const Received received = host.hear(hex("03 00 18 00 20 00 00 00  04 00 10 00 00 00", 32));
	CHECK(received.kind == Kind::terminated);
	CHECK(received.fault.fes == fes_range);
	CHECK(received.fault.fei == 0x10);
	CHECK(faultOf(HostFixture().hear(hex("03 00 18 00 99 00 00 00"))) == "PDU length");
}

TEST_CASE("nonzero reserved fields are reported and are no fault", "[initiator]")
{
	HostFixture host;
	host.ask(8);
	SECTION("padding")
	{
		const Received received =
			host.hear(hex("07 0c 18 1c 24 00 00 00  04 00 00 00 00 00 00 00 08 00 00 00 00 00 00 00"
				      "00 01 00 00  01 02 03 04 05 06 07 08"));
		CHECK(received.kind == Kind::done);
		CHECK(std::string(received.violation) == "padding that is not zero");
	}
	SECTION("flags")
	{
		CHECK(std::string(host.hear(c2h("8c", "00 00 00 00")).violation) == "reserved flags in a PDU");
	}
	SECTION("C2HData")
	{
		Bytes bytes = c2h("0c", "00 00 00 00");
		bytes[GENERATE(10u, 20u, 23u)] = 1;
		CHECK(std::string(host.hear(bytes).violation) == "reserved bytes in C2HData");
	}
	SECTION("ICResp")
	{
		HostFixture other(false);
		Bytes answer = hello;
		answer[GENERATE(16u, 127u)] = 1;
		const Received received = other.hear(answer);
		CHECK(received.kind == Kind::ready);
		CHECK(std::string(received.violation) == "reserved bytes in ICResp");
	}
}
