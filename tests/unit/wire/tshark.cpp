// SPDX-License-Identifier: LGPL-2.1-or-later
// Encoded PDUs as Wireshark's NVMe/TCP dissectors decode them, an independent implementation of the specification. The
// tests fail without tshark (4.0 in Debian 12).
#include <catch2/catch.hpp>

#include <cstdio>
#include <map>
#include <memory>

#include <nlohmann/json.hpp>

#include "tests/unit/scratch.h"
#include "libctl/wire/discovery_log.h"
#include "libctl/wire/fabrics.h"
#include "libctl/wire/identify.h"
#include "libctl/wire/pdu.h"
#include "literal.h"

using namespace nofctl::wire;
using Json = nlohmann::json;

namespace {

constexpr std::uint16_t hostPort = 50000, targetPort = 4420;
constexpr std::uint64_t digestGood = 1;

void appendBig(Bytes &to, std::uint32_t value, unsigned bytes)
{
	while (bytes-- > 0)
		to.push_back(static_cast<std::uint8_t>(value >> bytes * 8));
}

// The TCP connection of a queue in a capture file: IPv4 without a link layer, one segment for each PDU.
class Capture {
public:
	Capture() : packets_(encode(Le32(0xa1b2c3d4)))
	{
		constexpr std::uint32_t version = 2 | 4 << 16, longest = 65535, rawIp = 101;
		for (std::uint32_t field : {version, 0u, 0u, longest, rawIp})
			append(packets_, bytesOf(Le32(field)));
	}

	template <class T>
	void host(const T &pdu, const PduFormat &format = {}, std::span<const std::uint8_t> data = {})
	{
		Bytes out;
		write(out, pdu, format, data);
		segment(0, out);
	}
	template <class T>
	void target(const T &pdu, const PduFormat &format = {}, std::span<const std::uint8_t> data = {})
	{
		Bytes out;
		write(out, pdu, format, data);
		segment(1, out);
	}
	void hello(const IcReq &req, const IcResp &resp) { host(req), target(resp); }
	// @from: 0 is the host.
	void segment(int from, const Bytes &payload)
	{
		const auto length = static_cast<std::uint32_t>(40 + payload.size());
		Bytes p;
		for (std::uint32_t field : {0x45000000 | length, 0u, 0x40060000u, from ? 0x7f000002u : 0x7f000001u,
					    from ? 0x7f000001u : 0x7f000002u})
			appendBig(p, field, 4);
		appendBig(p, from ? targetPort : hostPort, 2);
		appendBig(p, from ? hostPort : targetPort, 2);
		appendBig(p, sent_[from], 4);
		appendBig(p, sent_[1 - from], 4);
		for (std::uint32_t field : {0x5018ffffu, 0u}) // ACK, PSH
			appendBig(p, field, 4);
		append(p, payload);
		sent_[from] += static_cast<std::uint32_t>(payload.size());
		for (std::uint32_t field : {++packetCount_, 0u, length, length}) // one second apart
			append(packets_, bytesOf(Le32(field)));
		append(packets_, p);
	}

	const Bytes &bytes() const { return packets_; }

private:
	Bytes packets_;
	std::uint32_t packetCount_ = 0, sent_[2] = {1, 1};
};

// Fields by name; equal names are in the order of the PDU.
using Fields = std::multimap<std::string, std::string>;

void collect(const Json &node, Fields &fields)
{
	for (auto &[name, value] : node.items()) {
		if (value.is_string())
			fields.emplace(name, value.get<std::string>());
		else if (value.is_object())
			collect(value, fields);
		else if (value.is_array())
			for (auto &each : value)
				each.is_string() ? void(fields.emplace(name, each.get<std::string>()))
						 : collect(each, fields);
	}
}

class Dissected {
public:
	explicit Dissected(const Json &packet) { collect(packet["_source"]["layers"], fields_); }

	// The field has decimal or hexadecimal digits.
	std::uint64_t number(const std::string &field) const
	{
		auto value = text(field);
		return std::stoull(value, nullptr, 0);
	}
	std::string text(const std::string &field) const
	{
		INFO(field << " of\n" << all());
		auto at = fields_.find(field);
		REQUIRE(at != fields_.end());
		CHECK(fields_.count(field) == 1);
		return at->second;
	}
	std::vector<std::string> texts(const std::string &field) const
	{
		std::vector<std::string> list;
		for (auto [at, end] = fields_.equal_range(field); at != end; ++at)
			list.push_back(at->second);
		return list;
	}
	bool has(const std::string &field) const { return fields_.contains(field); }
	std::string all() const
	{
		std::string text;
		for (auto &[name, value] : fields_)
			text += name + " = " + value.substr(0, 80) + "\n";
		return text;
	}

private:
	Fields fields_;
};

std::vector<Dissected> dissect(const Capture &capture)
{
	Scratch folder;
	folder.write("capture", {capture.bytes().begin(), capture.bytes().end()});
	const std::string command = "tshark -r " + folder.path().string() +
				    "/capture"
				    " -d tcp.port==4420,nvme-tcp -o nvme-tcp.check_hdgst:TRUE"
				    " -o nvme-tcp.check_ddgst:TRUE -T json --no-duplicate-keys 2>&-";
	std::string out;
	std::unique_ptr<FILE, int (*)(FILE *)> pipe(::popen(command.c_str(), "r"), ::pclose);
	char buffer[65536];
	for (std::size_t n; (n = std::fread(buffer, 1, sizeof(buffer), pipe.get())) > 0;)
		out.append(buffer, n);
	INFO(command << ": is tshark installed?");
	REQUIRE(::pclose(pipe.release()) == 0);
	std::vector<Dissected> list;
	for (auto &packet : Json::parse(out))
		list.emplace_back(packet);
	return list;
}

CommandPdu commandPdu(const Command &cmd, std::uint16_t cid)
{
	auto pdu = make<CommandPdu>();
	pdu.cmd = cmd;
	pdu.cmd.cid = cid;
	return pdu;
}

ResponsePdu responsePdu(std::uint16_t cid, std::uint64_t result = 0, std::uint16_t status = 0, std::uint16_t sqhd = 0)
{
	auto pdu = make<ResponsePdu>();
	pdu.cqe.cid = cid;
	pdu.cqe.result = result;
	pdu.cqe.status = static_cast<std::uint16_t>(status << 1);
	pdu.cqe.sqhd = sqhd;
	return pdu;
}

void connect(Capture &capture, std::uint16_t qid, const PduFormat &format = {})
{
	Connect c;
	c.qid = qid;
	c.entries = 128;
	c.kato = 5000;
	c.attributes = ca_sqflow_off;
	c.cntlid = qid ? 0x0102 : anyCntlid;
	for (std::size_t i = 0; i < 16; i++)
		c.hostid[i] = static_cast<std::uint8_t>(0xa0 + i);
	c.subsysnqn = "nqn.2024-01.io.nvmeof:a";
	c.hostnqn = "nqn.2014-08.org.nvmexpress:uuid:x";
	auto cmd = c.command();
	cmd.sgl.type = sgl_in_capsule;
	cmd.sgl.length = sizeof(ConnectData);
	capture.host(commandPdu(cmd, 1), format, bytesOf(c.data()));
	capture.target(responsePdu(1, 0x0102), format);
}

} // namespace

TEST_CASE("tshark reads the handshake, and fabrics commands with digests", "[tshark]")
{
	Capture capture;
	const PduFormat format{true, true};
	auto req = make<IcReq>();
	req.hpda = 3;
	req.digest = 3;
	req.maxr2t = 15;
	auto resp = make<IcResp>();
	resp.cpda = 1;
	resp.digest = 3;
	resp.maxh2cdata = 131072;
	capture.hello(req, resp);
	connect(capture, 0, format);
	capture.host(commandPdu(propertyGet(prop_cap), 2), format);
	capture.target(responsePdu(2, 0x200f01007f), format);
	capture.host(commandPdu(propertySet(prop_cc, 0x00460001), 3), format);
	capture.target(responsePdu(3, 0, st_invalid_field | st_dnr, 7), format);
	auto seen = dissect(capture);
	REQUIRE(seen.size() == 8);

	auto &hello = seen[0], &answer = seen[1];
	CHECK(hello.number("nvme-tcp.type") == 0);
	CHECK(hello.number("nvme-tcp.hlen") == 128);
	CHECK(hello.number("nvme-tcp.plen") == 128);
	CHECK(hello.number("nvme-tcp.icreq.pfv") == 0);
	CHECK(hello.number("nvme-tcp.icreq.hpda") == 3);
	CHECK(hello.number("nvme-tcp.icreq.digest") == 3);
	CHECK(hello.number("nvme-tcp.icreq.maxr2t") == 15);
	CHECK(answer.number("nvme-tcp.icresp.cpda") == 1);
	CHECK(answer.number("nvme-tcp.icresp.digest") == 3);
	CHECK(answer.number("nvme-tcp.icresp.maxdata") == 131072);

	auto &c = seen[2];
	CHECK(c.number("nvme-tcp.type") == 4);
	CHECK(c.number("nvme-tcp.pdo") == 76);
	CHECK(c.number("nvme-tcp.plen") == 72 + 4 + 1024 + 4);
	CHECK(c.number("nvme-tcp.hdgst.status") == digestGood);
	CHECK(c.number("nvme-tcp.ddgst.status") == digestGood);
	CHECK(c.number("nvme.fabrics.cmd.fctype") == 1);
	CHECK(c.number("nvme.fabrics.cmd.cid") == 1);
	CHECK(c.number("nvme.fabrics.cmd.connect.qid") == 0);
	CHECK(c.number("nvme.fabrics.cmd.connect.sqsize") == 127);
	CHECK(c.number("nvme.fabrics.cmd.connect.cattr.dfc") == 1);
	CHECK(c.number("nvme.fabrics.cmd.connect.kato") == 5000);
	CHECK(c.number("nvme.fabrics.cmd.connect.data.cntrlid") == 0xffff);
	CHECK(c.text("nvme.fabrics.cmd.connect.data.hostid") == "a0:a1:a2:a3:a4:a5:a6:a7:a8:a9:aa:ab:ac:ad:ae:af");
	CHECK(c.text("nvme.fabrics.cmd.connect.data.subnqn") == "nqn.2024-01.io.nvmeof:a");
	CHECK(c.text("nvme.fabrics.cmd.connect.data.hostnqn") == "nqn.2014-08.org.nvmexpress:uuid:x");
	CHECK(c.number("nvme.cmd.sgl1.len") == 1024);
	CHECK(seen[3].number("nvme.cqe.cid") == 1);
	CHECK(seen[3].number("nvme.fabrics.cqe.connect.cntrlid") == 0x0102);

	CHECK(seen[4].number("nvme.fabrics.cmd.fctype") == 4);
	CHECK(seen[4].number("nvme.fabrics.cmd.prop_get_set.attrib.size") == 1);
	CHECK(seen[4].number("nvme.fabrics.cmd.prop_get_set.offset") == 0);
	CHECK(seen[5].number("nvme.fabrics.prop_get.ccap") == 0x200f01007f);
	CHECK(seen[5].number("nvme.fabrics.prop_get.ccap.mqes") == 127);
	CHECK(seen[6].number("nvme.fabrics.cmd.prop_get_set.offset") == 0x14);
	CHECK(seen[6].number("nvme.fabrics.prop_get_set.cc") == 0x00460001);
	CHECK(seen[7].number("nvme.cqe.sqhd") == 7);
	CHECK(seen[7].number("nvme.cqe.status.sc") == 2);
	CHECK(seen[7].number("nvme.cqe.status.sct") == 0);
	CHECK(seen[7].number("nvme.cqe.status.dnr") == 1);
	CHECK(seen[7].number("nvme-tcp.hdgst.status") == digestGood);
}

// tshark shows TSAS as bytes. It decodes bit 1 of TREQ as SQ flow control, which is bit 2 in the specification.
TEST_CASE("tshark reads a discovery log", "[tshark]")
{
	DiscoveryEntry entries[2] = {makeEntry(sub_nvm, "nqn.2024-01.io.nvmeof:a", "192.0.2.1", 4420),
				     makeEntry(sub_referral, wellKnownDiscoveryNqn, "2001:db8::1", 8009)};
	entries[0].portid = 7;
	entries[0].treq = treq_required | treq_sqflow_off;
	entries[0].tsas[0] = sec_tls13;
	entries[1].trtype = tr_rdma;
	entries[1].cntlid = 0x0203;
	entries[1].setRdma({qp_connected, pr_roce_v2, cms_rdma_cm, {}, 0x8001, {}});
	Bytes log = encode(DiscoveryHeader{0x100000005, 2, 0, {}});
	for (auto &e : entries)
		append(log, bytesOf(e));

	Capture capture;
	capture.hello(make<IcReq>(), make<IcResp>());
	connect(capture, 0);
	capture.host(commandPdu(getLog(log_discovery, 0, 3072, true), 4));
	auto data = make<DataPdu>(pdu_c2h_data);
	data.h.flags = f_last | f_success;
	data.cid = 4;
	data.length = 3072;
	capture.target(data, {}, log);
	auto seen = dissect(capture);
	REQUIRE(seen.size() == 6);

	auto &read = seen[4], &told = seen[5];
	CHECK(read.number("nvme.cmd.opc") == 2);
	CHECK(read.number("nvme.cmd.psdt") == 1);
	CHECK(read.number("nvme.cmd.get_logpage.dword10.id") == 0x70);
	CHECK(read.number("nvme.cmd.get_logpage.dword10.rae") == 1);
	CHECK(read.number("nvme.cmd.get_logpage.numd") == 3072 / 4 - 1);
	CHECK(read.number("nvme.cmd.sgl.type") == 5);
	CHECK(read.number("nvme.cmd.sgl.subtype") == 0xa);
	CHECK(told.number("nvme-tcp.data.length") == 3072);
	const std::string log_page = "nvme.cmd.get_logpage.identify.", entry = log_page + "rcrd.";
	CHECK(told.number(log_page + "genctr") == 0x100000005);
	CHECK(told.number(log_page + "numrec") == 2);
	auto each = [&](const char *field) { return told.texts(entry + field); };
	using Texts = std::vector<std::string>;
	CHECK(each("trtype") == Texts{"0x03", "0x01"});
	CHECK(each("adrfam") == Texts{"0x01", "0x02"});
	CHECK(each("subtype") == Texts{"0x02", "0x01"});
	CHECK(each("treq") == Texts{"0x05", "0x02"});
	CHECK(each("portid") == Texts{"0x0007", "0x0000"});
	CHECK(each("cntlid") == Texts{"0xffff", "0x0203"});
	CHECK(each("asqsz") == Texts{"32", "32"});
	CHECK(each("trsvcid") == Texts{literal::padded("4420", 32, ' '), literal::padded("8009", 32, ' ')});
	CHECK(each("subnqn") == Texts{"nqn.2024-01.io.nvmeof:a", wellKnownDiscoveryNqn});
	CHECK(each("traddr") ==
	      Texts{literal::padded("192.0.2.1", 256, ' '), literal::padded("2001:db8::1", 256, ' ')});
	auto tsas = each("tsas");
	REQUIRE(tsas.size() == 2);
	CHECK(tsas[0].substr(0, 8) == "02:00:00");
	CHECK(tsas[1].substr(0, 32) == "01:04:01:00:00:00:00:00:01:80:00");
}

TEST_CASE("tshark reads Identify Controller", "[tshark]")
{
	Bytes id(identifySize);
	put(id, at::vid, 0x1af4);
	put(id, at::serial, "TARGET0001", ' ');
	put(id, at::model, "a model", ' ');
	put(id, at::firmware, "1.0", ' ');
	put(id, at::mdts, 8);
	put(id, at::cntlid, 0x0102);
	put(id, at::kas, 10);
	put(id, at::nn, 1024);
	put(id, at::subnqn, "nqn.2024-01.io.nvmeof:a", 0);
	put(id, at::ioccsz, 516);
	put(id, at::iorcsz, 1);
	put(id, at::icdoff, 3);
	put(id, at::msdbd, 1);
	Capture capture;
	capture.hello(make<IcReq>(), make<IcResp>());
	connect(capture, 0);
	Command cmd{};
	cmd.opcode = op_identify;
	cmd.cdw10 = cns_ctrl;
	cmd.sgl.type = sgl_transport;
	cmd.sgl.length = identifySize;
	capture.host(commandPdu(cmd, 4));
	auto data = make<DataPdu>(pdu_c2h_data);
	data.cid = 4;
	data.length = identifySize;
	capture.target(data, {}, id);
	auto seen = dissect(capture);
	REQUIRE(seen.size() == 6);
	CHECK(seen[4].number("nvme.cmd.identify.dword10.cns") == 1);
	const std::string ctrl = "nvme.cmd.identify.ctrl.";
	auto number = [&](const char *field) { return seen[5].number(ctrl + field); };
	CHECK(number("vid") == 0x1af4);
	CHECK(seen[5].text(ctrl + "sn") == literal::padded("TARGET0001", 20, ' '));
	CHECK(seen[5].text(ctrl + "mn") == literal::padded("a model", 40, ' '));
	CHECK(seen[5].text(ctrl + "fr") == "31:2e:30:20:20:20:20:20");
	CHECK(number("mdts") == 8);
	CHECK(number("cntlid") == 0x0102);
	CHECK(number("kas") == 10);
	CHECK(number("nn") == 1024);
	CHECK(seen[5].text(ctrl + "subnqn") == "nqn.2024-01.io.nvmeof:a");
	CHECK(number("nvmeof.ioccsz") == 516);
	CHECK(number("nvmeof.iorcsz") == 1);
	CHECK(number("nvmeof.icdoff") == 3);
	CHECK(number("nvmeof.msdbd") == 1);
}

TEST_CASE("tshark reads the PDUs of an I/O queue", "[tshark]")
{
	const PduFormat format{false, true}; // tshark 4.0 ignores PDO, so the data are right behind their header
	auto resp = make<IcResp>();
	resp.digest = 2;
	auto req = make<IcReq>();
	req.digest = 2;
	Capture capture;
	capture.hello(req, resp);
	connect(capture, 3, format);
	Command cmd{};
	cmd.opcode = op_write;
	cmd.flags = use_sgl;
	cmd.nsid = 0x01020304;
	cmd.sgl.type = sgl_transport;
	cmd.sgl.length = 512;
	cmd.cdw10 = 0x05060708;
	cmd.cdw11 = 0x01;
	cmd.cdw12 = 0;
	capture.host(commandPdu(cmd, 0x1001), format);
	auto r2t = make<R2tPdu>();
	r2t.cid = 0x1001;
	r2t.ttag = 0xabcd;
	r2t.offset = 256;
	r2t.length = 128;
	capture.target(r2t, format);
	auto data = make<DataPdu>(pdu_h2c_data);
	data.h.flags = f_last;
	data.cid = 0x1001;
	data.ttag = 0xabcd;
	data.offset = 256;
	data.length = 128;
	capture.host(data, format, Bytes(128, 0x5a));
	capture.target(responsePdu(0x1001, 0, st_ana_transition, 9), format);
	auto term = make<TermPdu>(pdu_c2h_term);
	term.fes = fes_header;
	term.fei = 16;
	capture.target(term, format, bytesOf(data));
	auto seen = dissect(capture);
	REQUIRE(seen.size() == 9);

	CHECK(seen[2].number("nvme.fabrics.cmd.connect.qid") == 3);
	CHECK(seen[4].number("nvme.cmd.opc") == 1);
	CHECK(seen[4].number("nvme.cmd.cid") == 0x1001);
	CHECK(seen[4].number("nvme.cmd.nsid") == 0x01020304);
	CHECK(seen[4].number("nvme.cmd.slba") == 0x0105060708);
	CHECK(seen[5].number("nvme-tcp.type") == 9);
	CHECK(seen[5].number("nvme-tcp.cmd.qid") == 3);
	CHECK(seen[5].number("nvme-tcp.ttag") == 0xabcd);
	CHECK(seen[5].number("nvme-tcp.r2t.offset") == 256);
	CHECK(seen[5].number("nvme-tcp.r2t.length") == 128);
	CHECK(seen[6].number("nvme-tcp.type") == 6);
	CHECK(seen[6].number("nvme-tcp.pdo") == 24);
	CHECK(seen[6].number("nvme-tcp.flags.pdu.data_last") == 1);
	CHECK(seen[6].number("nvme-tcp.ttag") == 0xabcd);
	CHECK(seen[6].number("nvme-tcp.data.offset") == 256);
	CHECK(seen[6].number("nvme-tcp.data.length") == 128);
	CHECK(seen[6].number("nvme-tcp.ddgst.status") == digestGood);
	CHECK_FALSE(seen[6].has("nvme-tcp.hdgst"));
	CHECK(seen[7].number("nvme.cqe.status.sct") == 3);
	CHECK(seen[7].number("nvme.cqe.status.sc") == 3);
	CHECK(seen[7].number("nvme.cqe.status.dnr") == 0);
	CHECK(seen[7].number("nvme.cqe.sqhd") == 9);
	CHECK(seen[8].number("nvme-tcp.c2htermreq.fes") == 1);
	CHECK(seen[8].number("nvme-tcp.c2htermreq.phfo") == 16);
}

TEST_CASE("tshark reports a wrong digest", "[tshark]")
{
	Capture capture;
	auto req = make<IcReq>();
	auto resp = make<IcResp>();
	req.digest = resp.digest = 3;
	capture.hello(req, resp);
	Bytes bytes;
	write(bytes, responsePdu(1), {true, false});
	bytes.back() ^= 1;
	capture.segment(1, bytes);
	auto seen = dissect(capture);
	REQUIRE(seen.size() == 3);
	CHECK(seen[2].number("nvme-tcp.hdgst.status") == 0);
}
