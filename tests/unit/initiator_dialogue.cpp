// SPDX-License-Identifier: LGPL-2.1-or-later
// PDUs that a controller may or may not send, as literal bytes
#include <catch2/catch.hpp>

#include "initiator/dialogue.h"
#include "wire_literal.h"

using namespace initiator;
using namespace nofctl::wire;
using literal::hex;

namespace {

using News = Dialogue::News;
using Kind = Dialogue::Kind;

const Bytes hello = hex("01 00 80 00 80 00 00 00  00 00 00 00 00 10 00 00", 128); // MAXH2CDATA 4096

// A host after ICReq
struct Talk {
	Dialogue dialogue;
	Bytes out;

	explicit Talk(bool ready = true, Dialogue::Digests digests = {}, Bytes answer = hello)
	{
		dialogue.hello(out, digests);
		out.clear();
		if (ready)
			REQUIRE(hear(answer).kind == Kind::ready);
	}

	// Processes all PDUs in these bytes, and returns the last news.
	News hear(const Bytes &bytes)
	{
		Dialogue::Data left(bytes);
		News last;
		for (;;) {
			const News news = dialogue.next(left, out);
			if (news.kind == Kind::nothing && !news.odd)
				return last;
			if (news.kind == Kind::data)
				append(data, news.data);
			last = news;
			if (news.kind == Kind::fault)
				return last;
		}
	}
	// Sends Get Log Page for so many bytes as the first command. Its CID is 4.
	void ask(std::uint32_t bytes)
	{
		dialogue.command(out, Slot::command, getLog(log_discovery, 0, bytes), {}, bytes);
		out.clear();
	}

	Bytes data;
};

std::string faultOf(const News &news)
{
	return news.kind == Kind::fault ? news.fault.why : "no fault";
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
	Dialogue dialogue;
	Bytes out;
	dialogue.hello(out, {true, true});
	CHECK(out == hex("00 00 80 00 80 00 00 00  00 00 00 03", 128));
	out.clear();
	REQUIRE_FALSE(dialogue.ready());
	Talk talk;
	talk.dialogue.command(talk.out, Slot::event, plain(op_async_event), {}, 0);
	Bytes event = hex("04 00 48 00 48 00 00 00  0c 40 06 00", 72);
	event[8 + 39] = 0x5a;
	CHECK(talk.out == event);
}

TEST_CASE("data may arrive in several PDUs, with SUCCESS or a separate completion, and byte by byte", "[initiator]")
{
	Talk talk;
	talk.ask(16);
	const bool success = GENERATE(true, false);
	const Bytes all =
		joined({c2h("00", "00 00 00 00"), c2h(success ? "0c" : "04", "08 00 00 00", "11 12 13 14 15 16 17 18"),
			success ? Bytes() : response("04 00")});
	const bool apart = GENERATE(true, false);
	News last;
	if (!apart)
		last = talk.hear(all);
	else
		for (std::uint8_t byte : all)
			if (News news = talk.hear({byte}); news.kind != Kind::nothing)
				last = news;
	CHECK(last.kind == Kind::done);
	CHECK(last.slot == Slot::command);
	CHECK(last.completion.status == 0);
	CHECK(last.odd == nullptr);
	CHECK(talk.data == hex("0102030405060708 1112131415161718"));
	CHECK_FALSE(talk.dialogue.open(Slot::command));
	CHECK(talk.out.empty());
}

TEST_CASE("unexpected data are a fault", "[initiator]")
{
	Talk talk;
	const auto bad = [&](const Bytes &bytes) { return faultOf(talk.hear(bytes)); };
	SECTION("without a command")
	{
		CHECK(bad(c2h("00", "00 00 00 00")) == "response for a command that is not outstanding");
	}
	SECTION("for another command")
	{
		talk.ask(16);
		CHECK(bad(c2h("00", "00 00 00 00", "01 02 03 04 05 06 07 08", "08 00")) ==
		      "response for a command that is not outstanding");
	}
	SECTION("for a command without data")
	{
		talk.dialogue.command(talk.out, Slot::command, setFeature(feat_keep_alive, 0), {}, 0);
		talk.out.clear();
		CHECK(bad(c2h("00", "00 00 00 00")) == "data for a command that is not a read");
	}
	SECTION("with a gap")
	{
		talk.ask(16);
		CHECK(bad(c2h("00", "08 00 00 00")) == "data out of order");
	}
	SECTION("more than requested")
	{
		talk.ask(12);
		CHECK(bad(joined({c2h("00", "00 00 00 00"), c2h("04", "08 00 00 00")})) == "more data than requested");
	}
	SECTION("after the last data")
	{
		talk.ask(16);
		CHECK(bad(joined({c2h("04", "00 00 00 00"), c2h("04", "08 00 00 00")})) ==
		      "data after the last data PDU");
	}
	SECTION("SUCCESS before the last data")
	{
		talk.ask(16);
		CHECK(bad(c2h("08", "00 00 00 00")) == "SUCCESS before the last data");
	}
	SECTION("too few with SUCCESS")
	{
		talk.ask(16);
		CHECK(bad(c2h("0c", "00 00 00 00")) == "success with less data than requested");
	}
	SECTION("too few with a completion")
	{
		talk.ask(16);
		CHECK(bad(joined({c2h("04", "00 00 00 00"), response("04 00")})) ==
		      "success with less data than requested");
	}
	SECTION("a PDU longer than any request")
	{
		talk.ask(16);
		CHECK(bad(hex("07 00 18 18 00 00 00 01")) == "PDU length");
	}
	// the controller gets the fault in H2CTermReq
	REQUIRE(talk.out.size() >= 24);
	CHECK(talk.out[0] == pdu_h2c_term);
}

TEST_CASE("an error with incomplete data is a valid answer", "[initiator]")
{
	Talk talk;
	talk.ask(16);
	const News news = talk.hear(joined({c2h("04", "00 00 00 00"), response("04 00", "04 80")}));
	CHECK(news.kind == Kind::done);
	CHECK(news.completion.status >> 1 == (st_invalid_field | st_dnr));
}

TEST_CASE("a completion without a command, or a second one, is a fault", "[initiator]")
{
	Talk talk;
	CHECK(faultOf(talk.hear(response("04 00"))) == "response for a command that is not outstanding");
	Talk other;
	other.dialogue.command(other.out, Slot::event, plain(op_async_event), {}, 0);
	const News told = other.hear(response("06 00"));
	CHECK(told.kind == Kind::done);
	CHECK(told.slot == Slot::event);
	CHECK(faultOf(other.hear(response("06 00"))) == "response for a command that is not outstanding");
	Talk third;
	CHECK(faultOf(third.hear(response("07 00"))) ==
	      "response for a command that is not outstanding"); // a CID of no slot
}

TEST_CASE("ICResp is validated, and valid only once at the beginning", "[initiator]")
{
	const auto answered = [](std::size_t at, const char *bytes, Dialogue::Digests digests = {}) {
		Talk talk(false, digests);
		Bytes answer = hello;
		const std::string changed = literal::x(bytes);
		std::ranges::copy(changed, answer.begin() + static_cast<std::ptrdiff_t>(at));
		return faultOf(talk.hear(answer));
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
	CHECK(faultOf(Talk(false).hear(response("04 00"))) == "a PDU before ICResp");
	CHECK(faultOf(Talk().hear(hello)) == "second ICResp");
	CHECK(faultOf(Talk().hear(hex("06 00 18 18 20 00 00 00", 32))) == "data length");
	CHECK(faultOf(Talk().hear(hex("00 00 80 00 80 00 00 00", 128))) == "a PDU type that controllers do not send");
}

TEST_CASE("data are sent to the controller as its R2T PDUs request", "[initiator]")
{
	Talk talk;
	const Bytes data(10000, 0x5a);
	talk.dialogue.command(talk.out, Slot::command, plain(0x21), data, 0);
	REQUIRE(talk.out.size() == 72); // too large for the capsule
	CHECK(talk.out[8 + 32] == 0x10);
	CHECK(talk.out[8 + 33] == 0x27);
	CHECK(talk.out[8 + 39] == 0x5a);
	talk.out.clear();
	const auto r2t = [](const char *offset, const char *length) {
		return hex(std::string("09 00 18 00 18 00 00 00 04 00 cd ab ") + offset + length + " 00 00 00 00");
	};
	SECTION("all data, in PDUs of at most MAXH2CDATA")
	{
		CHECK(talk.hear(r2t("00 00 00 00", "88 13 00 00")).kind == Kind::nothing); // 5000
		REQUIRE(talk.out.size() == 24 + 4096 + 24 + 904);
		CHECK(std::equal(talk.out.begin(), talk.out.begin() + 24,
				 hex("06 00 18 18 18 10 00 00  04 00 cd ab 00 00 00 00 00 10 00 00", 24).begin()));
		CHECK(std::equal(talk.out.begin() + 4120, talk.out.begin() + 4144,
				 hex("06 04 18 18 a0 03 00 00  04 00 cd ab 00 10 00 00 88 03 00 00", 24).begin()));
		CHECK(talk.hear(r2t("88 13 00 00", "88 13 00 00")).kind == Kind::nothing);
		CHECK(talk.hear(response("04 00")).kind == Kind::done);
	}
	SECTION("an R2T with a gap")
	{
		CHECK(faultOf(talk.hear(r2t("01 00 00 00", "88 13 00 00"))) == "R2T out of order");
	}
	SECTION("an R2T beyond the data")
	{
		CHECK(faultOf(talk.hear(r2t("00 00 00 00", "11 27 00 00"))) == "R2T out of order");
	}
	SECTION("an empty R2T")
	{
		CHECK(faultOf(talk.hear(r2t("00 00 00 00", "00 00 00 00"))) == "R2T out of order");
	}
	SECTION("success before all data were requested")
	{
		CHECK(faultOf(talk.hear(response("04 00"))) == "success before all data were requested");
	}
	SECTION("an R2T for a command without data")
	{
		Talk other;
		other.ask(8);
		CHECK(faultOf(other.hear(r2t("00 00 00 00", "08 00 00 00"))) ==
		      "R2T for a command that is not a write");
	}
}

TEST_CASE("digests are verified", "[initiator]")
{
	Bytes answer = hello;
	answer[11] = 3;
	Talk talk(true, {true, true}, answer);
	talk.ask(8);
	const PduFormat format{true, true, 0};
	auto data = make<DataPdu>(pdu_c2h_data);
	data.h.flags = f_last | f_success;
	data.cid = 4;
	data.length = 8;
	Bytes bytes;
	write(bytes, data, format, hex("01 02 03 04 05 06 07 08"));
	SECTION("valid")
	{
		CHECK(talk.hear(bytes).kind == Kind::done);
	}
	SECTION("wrong header digest")
	{
		bytes[24] ^= 1;
		CHECK(faultOf(talk.hear(bytes)) == "header digest");
	}
	SECTION("wrong data digest")
	{
		bytes.back() ^= 1;
		CHECK(faultOf(talk.hear(bytes)) == "data digest");
	}
	SECTION("missing")
	{
		CHECK(faultOf(talk.hear(c2h("0c", "00 00 00 00"))) == "header digest flag");
	}
}

TEST_CASE("C2HTermReq ends the connection with its status", "[initiator]")
{
	Talk talk(GENERATE(true, false));
	const News news = talk.hear(hex("03 00 18 00 20 00 00 00  04 00 10 00 00 00", 32));
	CHECK(news.kind == Kind::terminated);
	CHECK(news.fault.fes == fes_range);
	CHECK(news.fault.fei == 0x10);
	CHECK(faultOf(Talk().hear(hex("03 00 18 00 99 00 00 00"))) == "PDU length");
}

TEST_CASE("nonzero reserved fields are reported and are no fault", "[initiator]")
{
	Talk talk;
	talk.ask(8);
	SECTION("padding")
	{
		const News news =
			talk.hear(hex("07 0c 18 1c 24 00 00 00  04 00 00 00 00 00 00 00 08 00 00 00 00 00 00 00"
				      "00 01 00 00  01 02 03 04 05 06 07 08"));
		CHECK(news.kind == Kind::done);
		CHECK(std::string(news.odd) == "padding that is not zero");
	}
	SECTION("flags")
	{
		CHECK(std::string(talk.hear(c2h("8c", "00 00 00 00")).odd) == "reserved flags in a PDU");
	}
	SECTION("C2HData")
	{
		Bytes bytes = c2h("0c", "00 00 00 00");
		bytes[GENERATE(10u, 20u, 23u)] = 1;
		CHECK(std::string(talk.hear(bytes).odd) == "reserved bytes in C2HData");
	}
	SECTION("ICResp")
	{
		Talk other(false);
		Bytes answer = hello;
		answer[GENERATE(16u, 127u)] = 1;
		const News news = other.hear(answer);
		CHECK(news.kind == Kind::ready);
		CHECK(std::string(news.odd) == "reserved bytes in ICResp");
	}
}
