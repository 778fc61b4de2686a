// SPDX-License-Identifier: LGPL-2.1-or-later
// Input: a connection as the host sees it: negotiated parameters, one command, then headers of PDUs. No data follow,
// because only their lengths are checked.
#include "input.h"

extern "C" {
#include "tcp/pdu.h"
}

namespace {

constexpr u32 digest = 4;

class Connection {
public:
	explicit Connection(Input &in) : in_(in)
	{
		const u8 flags = in.take<u8>();
		conf_ = {bool(flags & 1), bool(flags & 2), bool(flags & 4)};
		xfer_ = {in.take<u32>(), 0, bool(flags & 8)};
	}

	void run()
	{
		while (!in_.empty() && one())
			expect(xfer_.next <= xfer_.len, "no more data than the command has");
	}

private:
	bool one();
	bool refused() const;
	void checkHeader(const nvme_tcp_hdr &header) const;
	bool icresp(const nvme_tcp_icresp_pdu &pdu);
	bool data(const nvme_tcp_data_pdu &pdu);
	bool r2t(const nvme_tcp_r2t_pdu &pdu);
	bool response(const nvme_tcp_rsp_pdu &pdu);

	Input &in_;
	nof_pdu_conf conf_;
	nof_pdu_xfer xfer_;
	nof_pdu_fault fault_ = {nullptr, 0xffff, 0xffffffff};
};

// The connection ends here, and the target gets the reason.
bool Connection::refused() const
{
	expect(fault_.why && *fault_.why, "a refusal has a reason");
	expect(std::string_view(nof_pdu_fes_text(fault_.fes)) != "reserved status", "its status is one that there is");
	expect(fault_.fei < sizeof(nvme_tcp_icresp_pdu), "it points into the header");
	return false;
}

u32 sizeOf(u8 type)
{
	switch (type) {
	case nvme_tcp_icresp:
		return 128;
	case nvme_tcp_c2h_term:
	case nvme_tcp_rsp:
	case nvme_tcp_c2h_data:
	case nvme_tcp_r2t:
		return 24;
	default:
		expect(false, "only what a target may send is accepted");
		return 0;
	}
}

void Connection::checkHeader(const nvme_tcp_hdr &header) const
{
	const bool bare = header.type == nvme_tcp_icresp || header.type == nvme_tcp_c2h_term;
	const u32 length = sizeOf(header.type) + (conf_.hdr_digest && !bare ? digest : 0);
	expect(header.hlen == sizeOf(header.type), "HLEN is that of the type");
	expect(nof_pdu_header_len(&header, &conf_) == length, "so much is waited for");
	expect(header.plen >= length, "the header lies within the PDU");
	expect(header.type == nvme_tcp_c2h_data || header.type == nvme_tcp_c2h_term || header.plen == length,
	       "only data and the reason for an end may follow a header");
	expect(header.type != nvme_tcp_c2h_term || header.plen <= 152, "that reason is short");
	expect(header.type == nvme_tcp_c2h_term || (header.type == nvme_tcp_icresp) != conf_.connected,
	       "ICResp first, and once");
}

bool Connection::icresp(const nvme_tcp_icresp_pdu &pdu)
{
	nof_pdu_params params;
	if (!nof_pdu_check_icresp(&pdu, &conf_, &params, &fault_))
		return refused();
	expect(params.align % 4 == 0 && params.align >= 4 && params.align <= 128, "data alignment in range");
	expect(params.maxh2cdata % 4 == 0 && params.maxh2cdata >= 4096 && params.maxh2cdata <= 1u << 30,
	       "MAXH2CDATA in range");
	expect(params.maxh2cdata <= pdu.maxdata, "the target is never sent more than it takes");
	expect((pdu.digest & 3) == (conf_.hdr_digest | conf_.data_digest << 1), "the digests asked for, and no others");
	conf_.connected = true;
	return true;
}

bool Connection::data(const nvme_tcp_data_pdu &pdu)
{
	if (!nof_pdu_check_c2h_data(&pdu, &conf_, &fault_))
		return refused();
	const u64 after = conf_.data_digest ? digest : 0;
	expect(pdu.hdr.pdo >= 24 + (conf_.hdr_digest ? digest : 0) && pdu.hdr.pdo % 4 == 0, "data behind the header");
	expect(pdu.hdr.pdo + pdu.data_length + after == pdu.hdr.plen, "the length adds up");
	if (!nof_pdu_check_c2h_xfer(&pdu, &xfer_, &fault_))
		return refused();
	expect(!xfer_.write && pdu.data_length, "data for a command that reads");
	expect(pdu.data_offset == xfer_.next && pdu.data_length <= xfer_.len - xfer_.next, "the next bytes");
	xfer_.next += pdu.data_length;
	expect(!xfer_.last, "nothing comes after the last");
	xfer_.last = pdu.hdr.flags & NVME_TCP_F_DATA_LAST;
	expect(!(pdu.hdr.flags & NVME_TCP_F_DATA_SUCCESS) || xfer_.next == xfer_.len ||
		       nof_pdu_rsp_status(0, &xfer_, false),
	       "SUCCESS is of all data, or none");
	return true;
}

bool Connection::r2t(const nvme_tcp_r2t_pdu &pdu)
{
	if (!nof_pdu_check_r2t(&pdu, &xfer_, &fault_))
		return refused();
	expect(xfer_.write && pdu.r2t_length, "data of a command that writes");
	expect(pdu.r2t_offset == xfer_.next && pdu.r2t_length <= xfer_.len - xfer_.next, "the next bytes");
	xfer_.next += pdu.r2t_length;
	return true;
}

bool Connection::response(const nvme_tcp_rsp_pdu &pdu)
{
	const u16 told = le16toh(pdu.cqe.status) >> 1;
	const bool good = !(told & 0x7ff), whole = xfer_.next == xfer_.len, damaged = pdu.cqe.status & 1;
	if (!nof_pdu_check_rsp(told, &xfer_, &fault_)) {
		expect(good && xfer_.write && !whole, "only success before its time is refused");
		return refused();
	}
	const u16 status = nof_pdu_rsp_status(told, &xfer_, damaged);
	expect((status & 0x7ff) != NVME_SC_HOST_ABORTED_CMD, "no target says what the host marks lost connections by");
	expect(good || (told & 0x7ff) == NVME_SC_HOST_ABORTED_CMD || status == told, "an error stays that error");
	expect(good || status & 0x7ff, "and is no success");
	if (!(status & 0x7ff))
		expect(whole && (xfer_.write || !damaged), "success only of all data, undamaged");
	xfer_.next = 0; // the next command is alike
	return true;
}

bool Connection::one()
{
	nvme_tcp_hdr header{};
	Bytes start = in_.rest().first(std::min(in_.rest().size(), sizeof(header)));
	std::memcpy(&header, start.data(), start.size());
	if (!nof_pdu_check_header(&header, &conf_, &fault_))
		return refused();
	checkHeader(header);
	switch (header.type) {
	case nvme_tcp_icresp:
		return icresp(in_.take<nvme_tcp_icresp_pdu>());
	case nvme_tcp_c2h_data:
		return data(in_.take<nvme_tcp_data_pdu>());
	case nvme_tcp_r2t:
		return r2t(in_.take<nvme_tcp_r2t_pdu>());
	case nvme_tcp_rsp:
		return response(in_.take<nvme_tcp_rsp_pdu>());
	default:
		expect(nof_pdu_fes_text(in_.take<nvme_tcp_term_pdu>().fes), "every end has a name");
		return false;
	}
}

} // namespace

void fuzz(Input in)
{
	Connection(in).run();
}
