// SPDX-License-Identifier: LGPL-2.1-or-later
#include <catch2/catch.hpp>

#include <cstring>
#include <string>

extern "C" {
#include "tcp/pdu.h"
}

namespace {

struct Digests {
	bool header, data;
};

const Digests allDigests[] = {{false, false}, {true, false}, {false, true}, {true, true}};

nof_pdu_conf conf(Digests d, bool connected = true)
{
	return {d.header, d.data, connected};
}

template <typename T> T common(u8 type, u8 flags, u8 pdo, u32 plen)
{
	T pdu;

	memset(&pdu, 0, sizeof(pdu));
	pdu.hdr.type = type;
	pdu.hdr.flags = flags;
	pdu.hdr.hlen = sizeof(pdu);
	pdu.hdr.pdo = pdo;
	pdu.hdr.plen = htole32(plen);
	return pdu;
}

nvme_tcp_icresp_pdu icresp(Digests d = {})
{
	auto pdu = common<nvme_tcp_icresp_pdu>(nvme_tcp_icresp, 0, 0, sizeof(nvme_tcp_icresp_pdu));

	pdu.maxdata = htole32(131072);
	pdu.digest = (d.header ? NVME_TCP_HDR_DIGEST_ENABLE : 0) | (d.data ? NVME_TCP_DATA_DIGEST_ENABLE : 0);
	return pdu;
}

nvme_tcp_data_pdu c2hData(Digests d, u32 offset, u32 len, u8 flags = 0)
{
	const u32 start = sizeof(nvme_tcp_data_pdu) + (d.header ? 4 : 0);
	auto pdu = common<nvme_tcp_data_pdu>(
		nvme_tcp_c2h_data, flags | (d.header ? NVME_TCP_F_HDGST : 0) | (d.data ? NVME_TCP_F_DDGST : 0), start,
		start + len + (d.data ? 4 : 0));

	pdu.data_offset = htole32(offset);
	pdu.data_length = htole32(len);
	return pdu;
}

nvme_tcp_r2t_pdu r2t(Digests d, u32 offset, u32 len)
{
	auto pdu = common<nvme_tcp_r2t_pdu>(nvme_tcp_r2t, d.header ? NVME_TCP_F_HDGST : 0, 0,
					    sizeof(nvme_tcp_r2t_pdu) + (d.header ? 4 : 0));

	pdu.r2t_offset = htole32(offset);
	pdu.r2t_length = htole32(len);
	return pdu;
}

nvme_tcp_rsp_pdu rsp(Digests d)
{
	return common<nvme_tcp_rsp_pdu>(nvme_tcp_rsp, d.header ? NVME_TCP_F_HDGST : 0, 0,
					sizeof(nvme_tcp_rsp_pdu) + (d.header ? 4 : 0));
}

template <typename F> std::string fault(F &&check)
{
	nof_pdu_fault f = {};

	if (check(&f))
		return "";
	REQUIRE(f.why);
	return f.why;
}

std::string header(const nvme_tcp_hdr &hdr, const nof_pdu_conf &c)
{
	return fault([&](nof_pdu_fault *f) { return nof_pdu_check_header(&hdr, &c, f); });
}

std::string xfer(const nvme_tcp_data_pdu &pdu, u32 len, u32 next, bool write = false, bool last = false)
{
	const nof_pdu_xfer x = {len, next, write, last};
	return fault([&](nof_pdu_fault *f) { return nof_pdu_check_c2h_xfer(&pdu, &x, f); });
}

std::string ask(const nvme_tcp_r2t_pdu &pdu, u32 len, u32 next, bool write = true)
{
	const nof_pdu_xfer x = {len, next, write, false};
	return fault([&](nof_pdu_fault *f) { return nof_pdu_check_r2t(&pdu, &x, f); });
}

} // namespace

TEST_CASE("PDU header: valid headers are accepted with every combination of digests")
{
	for (Digests d : allDigests) {
		CAPTURE(d.header, d.data);
		CHECK(header(rsp(d).hdr, conf(d)).empty());
		CHECK(header(r2t(d, 0, 512).hdr, conf(d)).empty());
		CHECK(header(c2hData(d, 0, 1).hdr, conf(d)).empty());
		CHECK(header(c2hData(d, 0, 0xfffffff0 - 64).hdr, conf(d)).empty());
		CHECK(header(icresp(d).hdr, conf(d, false)).empty());
		const nof_pdu_conf c = conf(d);
		const auto pdu = rsp(d);
		CHECK(nof_pdu_header_len(&pdu.hdr, &c) == (d.header ? 28u : 24u));
	}
}

TEST_CASE("PDU header: an alert of TLS instead of ICResp is recognized")
{
	// alert, TLS 1.2 as in all records, 2 bytes: fatal, unexpected_message; and the beginning of what follows
	const nvme_tcp_hdr alert = {.type = 21, .flags = 3, .hlen = 3, .pdo = 0, .plen = 0x0a0202};
	CHECK(header(alert, conf({}, false)) == "target expects TLS: connect with a TLS key");
	CHECK(header(alert, conf({}, true)) == "unexpected PDU type");
}

TEST_CASE("PDU header: only PDUs of a target are accepted, and only in the right state")
{
	for (unsigned int type = 0; type < 256; ++type) {
		for (bool connected : {false, true}) {
			CAPTURE(type, connected);
			auto pdu = rsp({});
			pdu.hdr.type = type;
			// The lengths are those of a response, an R2T and the shortest C2HTermReq.
			const bool legal = ((type == nvme_tcp_rsp || type == nvme_tcp_r2t) && connected) ||
					   type == nvme_tcp_c2h_term;
			CHECK(header(pdu.hdr, conf({}, connected)).empty() == legal);
		}
	}
	CHECK_FALSE(header(icresp().hdr, conf({}, true)).empty());
	CHECK_FALSE(header(rsp({}).hdr, conf({}, false)).empty());
	CHECK_FALSE(header(c2hData({}, 0, 4).hdr, conf({}, false)).empty());
	CHECK_FALSE(header(r2t({}, 0, 4).hdr, conf({}, false)).empty());
	// PDUs of a host are refused with every length.
	for (u8 type : {nvme_tcp_icreq, nvme_tcp_h2c_term, nvme_tcp_cmd, nvme_tcp_h2c_data}) {
		auto pdu = rsp({});
		pdu.hdr.type = type;
		for (unsigned int hlen = 0; hlen < 256; ++hlen) {
			pdu.hdr.hlen = hlen;
			pdu.hdr.plen = htole32(hlen);
			CHECK_FALSE(header(pdu.hdr, conf({})).empty());
		}
	}
}

TEST_CASE("PDU header: a wrong HLEN is refused")
{
	for (unsigned int hlen = 0; hlen < 256; ++hlen) {
		CAPTURE(hlen);
		auto a = rsp({}).hdr, b = r2t({}, 0, 8).hdr, c = c2hData({}, 0, 8).hdr, d = icresp().hdr;
		a.hlen = b.hlen = c.hlen = d.hlen = hlen;
		CHECK(header(a, conf({})).empty() == (hlen == sizeof(nvme_tcp_rsp_pdu)));
		CHECK(header(b, conf({})).empty() == (hlen == sizeof(nvme_tcp_r2t_pdu)));
		CHECK(header(c, conf({})).empty() == (hlen == sizeof(nvme_tcp_data_pdu)));
		CHECK(header(d, conf({}, false)).empty() == (hlen == sizeof(nvme_tcp_icresp_pdu)));
	}
}

TEST_CASE("PDU header: digest flags have to be the negotiated ones")
{
	for (Digests agreed : allDigests) {
		for (Digests sent : allDigests) {
			CAPTURE(agreed.header, agreed.data, sent.header, sent.data);
			const bool same = agreed.header == sent.header && agreed.data == sent.data;
			CHECK(header(c2hData(sent, 0, 512).hdr, conf(agreed)).empty() == same);
			CHECK(header(rsp(sent).hdr, conf(agreed)).empty() == (agreed.header == sent.header));
		}
	}
}

TEST_CASE("PDU header: a wrong PLEN is refused")
{
	for (Digests d : allDigests) {
		const u32 right = le32toh(rsp(d).hdr.plen);
		for (u32 plen : {0u, 1u, 7u, 8u, 23u, 24u, 25u, 27u, 28u, 29u, 0x7fffffffu, 0x80000000u, 0xffffffffu}) {
			CAPTURE(d.header, d.data, plen);
			auto pdu = rsp(d);
			pdu.hdr.plen = htole32(plen);
			CHECK(header(pdu.hdr, conf(d)).empty() == (plen == right));
			auto data = c2hData(d, 0, 4096);
			data.hdr.plen = htole32(plen);
			const u32 empty = data.hdr.pdo + (d.data ? 4 : 0);
			CHECK(header(data.hdr, conf(d)).empty() == (plen > empty));
		}
	}
}

TEST_CASE("C2HData header: data begin behind the header, at a multiple of four")
{
	for (Digests d : allDigests) {
		for (unsigned int pdo = 0; pdo < 256; ++pdo) {
			CAPTURE(d.header, pdo);
			auto pdu = c2hData(d, 0, 4096);
			pdu.hdr.pdo = pdo;
			CHECK(header(pdu.hdr, conf(d)).empty() == (pdo >= (d.header ? 28 : 24) && pdo % 4 == 0));
		}
	}
}

TEST_CASE("C2HTermReq: valid in every state, with a bounded length")
{
	for (bool connected : {false, true}) {
		for (Digests d : allDigests) {
			for (u32 plen : {0u, 8u, 23u, 24u, 25u, 100u, 151u, 152u, 153u, 0xffffffffu}) {
				CAPTURE(connected, plen);
				const auto pdu = common<nvme_tcp_term_pdu>(nvme_tcp_c2h_term, 0, 0, plen);
				const bool good =
					plen >= NVME_TCP_MIN_C2HTERM_PLEN && plen <= NVME_TCP_MAX_C2HTERM_PLEN;
				CHECK(header(pdu.hdr, conf(d, connected)).empty() == good);
			}
		}
	}
}

TEST_CASE("ICResp is validated")
{
	auto check = [](nvme_tcp_icresp_pdu pdu, Digests asked, nof_pdu_params &params) {
		const nof_pdu_conf c = conf(asked, false);
		return fault([&](nof_pdu_fault *f) { return nof_pdu_check_icresp(&pdu, &c, &params, f); });
	};
	nof_pdu_params params = {};

	for (Digests asked : allDigests) {
		for (Digests got : allDigests) {
			const bool same = asked.header == got.header && asked.data == got.data;
			CHECK(check(icresp(got), asked, params).empty() == same);
		}
	}
	REQUIRE(check(icresp(), {}, params).empty());
	CHECK(params.align == 4);
	CHECK(params.maxh2cdata == 131072);

	for (unsigned int cpda = 0; cpda < 256; ++cpda) {
		CAPTURE(cpda);
		auto pdu = icresp();
		pdu.cpda = cpda;
		const bool good = check(pdu, {}, params).empty();
		CHECK(good == (cpda < 32));
		if (good)
			CHECK(params.align == (cpda + 1) * 4);
	}
	for (u32 max : {0u, 1u, 4092u, 4095u, 4097u, 4098u, 0xffffffffu}) {
		CAPTURE(max);
		auto pdu = icresp();
		pdu.maxdata = htole32(max);
		CHECK_FALSE(check(pdu, {}, params).empty());
	}
	for (u32 max : {4096u, 4100u, 0x40000000u, 0x40000004u, 0xfffffffcu}) {
		CAPTURE(max);
		auto pdu = icresp();
		pdu.maxdata = htole32(max);
		REQUIRE(check(pdu, {}, params).empty());
		CHECK(params.maxh2cdata == std::min(max, NOF_PDU_MAX_H2C_DATA));
	}
	for (u16 pfv : {1, 2, 0x100, 0xffff}) {
		auto pdu = icresp();
		pdu.pfv = htole16(pfv);
		CHECK_FALSE(check(pdu, {}, params).empty());
	}
}

TEST_CASE("C2HData: the lengths have to match")
{
	auto check = [](const nvme_tcp_data_pdu &pdu, Digests d) {
		const nof_pdu_conf c = conf(d);
		return fault([&](nof_pdu_fault *f) { return nof_pdu_check_c2h_data(&pdu, &c, f); });
	};

	for (Digests d : allDigests) {
		CAPTURE(d.header, d.data);
		CHECK(check(c2hData(d, 0, 4096), d).empty());
		CHECK_FALSE(check(c2hData(d, 0, 0), d).empty());
		auto pdu = c2hData(d, 0, 4096);
		for (u32 len : {1u, 4092u, 4095u, 4097u, 0x80001000u, 0xffffffffu, 0xfffffff8u}) {
			CAPTURE(len);
			pdu.data_length = htole32(len);
			CHECK_FALSE(check(pdu, d).empty());
		}
		// The sum must not wrap: 24 + 0xfffffff8 is 16 in 32 bits.
		pdu.data_length = htole32(0xfffffff8);
		pdu.hdr.plen = htole32(u32(pdu.hdr.pdo + (d.data ? 4 : 0) + 0xfffffff8));
		CHECK_FALSE(check(pdu, d).empty());
	}
	CHECK_FALSE(check(c2hData({}, 0, 512, NVME_TCP_F_DATA_SUCCESS), {}).empty());
	CHECK(check(c2hData({}, 0, 512, NVME_TCP_F_DATA_SUCCESS | NVME_TCP_F_DATA_LAST), {}).empty());
}

TEST_CASE("C2HData is validated against its command")
{
	CHECK(xfer(c2hData({}, 0, 4096), 4096, 0).empty());
	CHECK(xfer(c2hData({}, 1024, 1024), 4096, 1024).empty());
	CHECK(xfer(c2hData({}, 3072, 1024, NVME_TCP_F_DATA_LAST), 4096, 3072).empty());

	CHECK_FALSE(xfer(c2hData({}, 0, 4096), 4096, 0, true).empty()); // for a write
	CHECK_FALSE(xfer(c2hData({}, 0, 4), 0, 0).empty());             // for a command without data
	for (u32 offset : {0u, 1u, 1023u, 1025u, 2048u, 4096u, 0x80000400u, 0xffffffffu, 0xfffffc00u})
		CHECK_FALSE(xfer(c2hData({}, offset, 1024), 4096, 1024).empty()); // not the next byte
	for (u32 len : {3073u, 4096u, 0x80000000u, 0xfffffc00u, 0xffffffffu})
		CHECK_FALSE(xfer(c2hData({}, 1024, len), 4096, 1024).empty()); // past the end, also by a wrapped sum
	CHECK_FALSE(xfer(c2hData({}, 4096, 4), 4096, 4096).empty());           // all data have arrived
	// fewer data than requested: the command fails at its completion, see nof_pdu_rsp_status()
	CHECK(xfer(c2hData({}, 0, 1024, NVME_TCP_F_DATA_LAST), 4096, 0).empty());
	CHECK_FALSE(xfer(c2hData({}, 1024, 1024), 4096, 1024, false, true).empty()); // after the last data
}

TEST_CASE("R2T is validated against its command")
{
	CHECK(ask(r2t({}, 0, 4096), 4096, 0).empty());
	CHECK(ask(r2t({}, 1024, 3072), 4096, 1024).empty());

	CHECK_FALSE(ask(r2t({}, 0, 4096), 4096, 0, false).empty()); // for a read
	CHECK_FALSE(ask(r2t({}, 0, 4), 0, 0).empty());              // for a command without data
	CHECK_FALSE(ask(r2t({}, 0, 0), 4096, 0).empty());           // empty
	for (u32 offset : {0u, 1023u, 1025u, 0x80000400u, 0xffffffffu})
		CHECK_FALSE(ask(r2t({}, offset, 1024), 4096, 1024).empty()); // repeated, or with a gap
	for (u32 len : {3073u, 4096u, 0x80000000u, 0xfffffc00u, 0xffffffffu})
		CHECK_FALSE(ask(r2t({}, 1024, len), 4096, 1024).empty()); // past the end, also by a wrapped sum
	CHECK_FALSE(ask(r2t({}, 4096, 4), 4096, 4096).empty());
}

TEST_CASE("response: success with missing or damaged data is an error")
{
	const nof_pdu_xfer whole = {4096, 4096, false, true}, part = {4096, 4095, false, true},
			   none = {0, 0, false, false};

	CHECK(nof_pdu_rsp_status(0, &whole, false) == 0);
	CHECK(nof_pdu_rsp_status(0, &none, false) == 0);
	CHECK(nof_pdu_rsp_status(0, &part, false) == NVME_SC_DATA_XFER_ERROR);
	CHECK(nof_pdu_rsp_status(NVME_SC_HOST_ABORTED_CMD | NVME_STATUS_DNR, &whole, false) ==
	      (NVME_SC_HOST_PATH_ERROR | NVME_STATUS_DNR));
	CHECK(nof_pdu_rsp_status(0, &whole, true) == NVME_SC_DATA_XFER_ERROR);
	CHECK(nof_pdu_rsp_status(NVME_SC_READ_ERROR | NVME_STATUS_DNR, &part, true) ==
	      (NVME_SC_READ_ERROR | NVME_STATUS_DNR));

	const nof_pdu_xfer sent = {4096, 4096, true, false}, unsent = {4096, 512, true, false};
	nof_pdu_fault f;
	CHECK(nof_pdu_rsp_status(0, &sent, false) == 0);
	CHECK(nof_pdu_check_rsp(0, &sent, &f));
	CHECK_FALSE(nof_pdu_check_rsp(0, &unsent, &f));
	CHECK(nof_pdu_check_rsp(NVME_SC_WRITE_FAULT, &unsent, &f)); // a write may fail before all data were requested
}

TEST_CASE("fatal error status: each has a text")
{
	for (unsigned int fes = 0; fes < 0x10000; fes += fes < 32 ? 1 : 97)
		REQUIRE(nof_pdu_fes_text(fes));
}
