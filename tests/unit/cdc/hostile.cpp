// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Input of a hostile client to nvmeof-cdc, one line for each kind: the answer of the service. Afterwards the service
 * still serves a host, has caught no exception, and keeps neither a connection nor memory for the client.
 */
#include <thread>

#include "client.h"
#include "libctl/runtime/loop.h"

using namespace cdc;
using namespace nofctl::wire;
using namespace std::chrono_literals;

namespace {

// State of the connection when the client misbehaves
enum class ConnectionStage { opened, greeted, connected, enabled };

constexpr int ends = -1;      // the connection ends without an answer
constexpr int term = 0x10000; // a C2HTermReq; the FES is added

struct Line {
	const char *name;
	ConnectionStage stage;
	std::function<void(Client &)> send;
	int outcome; // status of the next completion, or one of the constants above
};

template <typename Pdu, typename Change> auto pdu(Change change)
{
	return [change](Client &client) {
		auto out = make<Pdu>();
		change(out);
		client.send(out);
	};
}

auto raw(Bytes bytes)
{
	return [bytes](Client &client) { client.raw(bytes); };
}

// A PDU with an arbitrary header and no content
auto header(std::uint8_t type, std::uint8_t flags, std::uint8_t hlen, std::uint8_t pdo, std::uint32_t plen)
{
	PduHeader head{type, flags, hlen, pdo, plen};
	const auto bytes = bytesOf(head);
	return raw(Bytes(bytes.begin(), bytes.end()));
}

auto command(Command cmd, std::size_t payload = 0)
{
	return [cmd, payload](Client &client) { client.command(cmd, Bytes(payload)); };
}

template <typename Change> auto connectWith(Change change)
{
	return [change](Client &client) {
		Connect connect;
		connect.subsysnqn = wellKnownDiscoveryNqn;
		connect.hostnqn = "nqn.host";
		Command cmd = connect.command();
		ConnectData data = connect.data();
		change(cmd, data);
		client.command(cmd, encode(data));
	};
}

Command hostileCommand(std::uint8_t opcode, std::uint32_t cdw10 = 0, std::uint32_t cdw11 = 0, std::uint32_t cdw12 = 0)
{
	Command cmd{};
	cmd.opcode = opcode;
	cmd.cdw10 = cdw10;
	cmd.cdw11 = cdw11;
	cmd.cdw12 = cdw12;
	cmd.sgl.type = sgl_transport;
	cmd.sgl.length = 4096;
	return cmd;
}

Command fabrics(std::uint8_t type)
{
	Command cmd{};
	cmd.opcode = op_fabrics;
	cmd.nsid = type;
	return cmd;
}

Command logAt(std::uint8_t page, std::uint64_t offset, std::uint32_t bytes)
{
	Command cmd = getLog(page, offset, bytes);
	cmd.sgl.type = sgl_transport;
	cmd.sgl.length = bytes;
	return cmd;
}

Command hugeLog(std::uint8_t page)
{
	Command cmd = logAt(page, 0, 4096);
	cmd.cdw10 = cmd.cdw10 | 0xffff0000u;
	cmd.cdw11 = 0xffff;
	cmd.sgl.length = UINT32_MAX;
	return cmd;
}

template <typename Change> auto registration(Change change)
{
	return [change](Client &client) {
		Bytes data = encodeRegistration(someRegistration(1));
		change(data);
		client.command(dim(0), data);
	};
}

auto registrationOf(std::function<void(Registration &)> change)
{
	return [change](Client &client) {
		Registration host = someRegistration(1);
		change(host);
		client.command(dim(0), encodeRegistration(host));
	};
}

auto bytesAt(std::size_t at, Bytes bytes)
{
	return registration(
		[at, bytes](Bytes &data) { std::ranges::copy(bytes, data.begin() + static_cast<std::ptrdiff_t>(at)); });
}

// Begins a transfer, and sends its data after @change has altered them.
template <typename Change> auto transfer(std::size_t length, Change change)
{
	return [length, change](Client &client) {
		if (client.run(dim(length)) == -2)
			change(client);
	};
}

constexpr std::uint16_t dnr(std::uint16_t status)
{
	return status | st_dnr;
}

const std::vector<Line> &table()
{
	constexpr std::uint16_t badField = dnr(st_invalid_field), length = dnr(0x00f), format = dnr(st_connect_format),
				param = dnr(st_connect_param);
	auto set = [](auto member, auto value) {
		return connectWith([=](Command &cmd, ConnectData &) { cmd.*member = value; });
	};
	static const std::vector<Line> lines{
		// PDUs
		{"zeros", ConnectionStage::opened, raw(Bytes(64)), term + fes_header},
		{"ones", ConnectionStage::opened, raw(Bytes(64, 0xff)), term + fes_header},
		{"HTTP", ConnectionStage::opened,
		 raw(Bytes{'G', 'E', 'T', ' ', '/', ' ', 'H', 'T', 'T', 'P', '/', '1', '.', '1'}), term + fes_header},
		{"a TLS hello", ConnectionStage::opened, raw(Bytes{22, 3, 1, 2, 0, 1, 0, 1, 252, 3, 3}),
		 term + fes_header},
		{"a command before ICReq", ConnectionStage::opened, command(propertyGet(prop_cap)),
		 term + fes_sequence},
		{"data before ICReq", ConnectionStage::opened, header(pdu_h2c_data, 0, 24, 0, 24), term + fes_header},
		{"ICReq of another format", ConnectionStage::opened, pdu<IcReq>([](IcReq &out) { out.pfv = 7; }),
		 term + fes_parameter},
		{"ICReq with HPDA beyond 31", ConnectionStage::opened, pdu<IcReq>([](IcReq &out) { out.hpda = 255; }),
		 term + fes_parameter},
		{"ICReq that says it is longer", ConnectionStage::opened, header(pdu_ic_req, 0, 128, 0, 1 << 20),
		 term + fes_header},
		{"ICReq that says it is shorter", ConnectionStage::opened, header(pdu_ic_req, 0, 128, 0, 8),
		 term + fes_header},
		{"ICReq with another header length", ConnectionStage::opened, header(pdu_ic_req, 0, 8, 0, 128),
		 term + fes_header},
		{"ICReq with digest flags", ConnectionStage::opened, header(pdu_ic_req, 3, 128, 0, 136),
		 term + fes_header},
		{"a second ICReq", ConnectionStage::greeted, pdu<IcReq>([](IcReq &) {}), term + fes_sequence},
		{"a PDU of 4 GiB", ConnectionStage::greeted, header(pdu_command, 0, 72, 0, UINT32_MAX),
		 term + fes_header},
		{"a PDU of nothing", ConnectionStage::greeted, header(pdu_command, 0, 72, 0, 0), term + fes_header},
		{"data offset beyond the PDU", ConnectionStage::enabled, header(pdu_command, 0, 72, 255, 80),
		 term + fes_header},
		{"data offset in the header", ConnectionStage::enabled, header(pdu_command, 0, 72, 4, 80),
		 term + fes_header},
		{"a PDU type that there is not", ConnectionStage::enabled, header(0x42, 0, 8, 0, 8), term + fes_header},
		{"a response", ConnectionStage::enabled, pdu<ResponsePdu>([](ResponsePdu &) {}), term + fes_header},
		{"an R2T", ConnectionStage::enabled, pdu<R2tPdu>([](R2tPdu &) {}), term + fes_header},
		{"an ICResp", ConnectionStage::greeted, pdu<IcResp>([](IcResp &) {}), term + fes_header},
		{"the end, said in order", ConnectionStage::enabled,
		 [](Client &c) { c.send(make<TermPdu>(pdu_h2c_term)); }, ends},
		// Connect
		{"a command before Connect", ConnectionStage::greeted, command(propertyGet(prop_cap)),
		 term + fes_sequence},
		{"a registration before Connect", ConnectionStage::greeted, [](Client &c) { c.command(dim(4096)); },
		 term + fes_sequence},
		{"Connect without data", ConnectionStage::greeted, command(Connect().command()), format},
		{"Connect with half its data", ConnectionStage::greeted, command(Connect().command(), 512), format},
		{"Connect with more data", ConnectionStage::greeted, command(Connect().command(), 4096),
		 term + fes_header},
		{"Connect of another record format", ConnectionStage::greeted, set(&Command::cdw10, 1), format},
		{"Connect for an I/O queue", ConnectionStage::greeted, set(&Command::cdw10, 1 << 16), param},
		{"Connect with a queue of one entry", ConnectionStage::greeted, set(&Command::cdw11, 0), param},
		{"Connect with a KATO of 49 days", ConnectionStage::greeted, set(&Command::cdw12, UINT32_MAX),
		 dnr(st_keep_alive)},
		{"Connect to a controller by number", ConnectionStage::greeted,
		 connectWith([](Command &, ConnectData &data) { data.cntlid = 1; }), param},
		{"Connect to another subsystem", ConnectionStage::greeted,
		 connectWith([](Command &, ConnectData &data) { data.subsysnqn[0] = 'x'; }), param},
		{"Connect without a host NQN", ConnectionStage::greeted,
		 connectWith([](Command &, ConnectData &data) { data.hostnqn[0] = 0; }), param},
		{"Connect with a host NQN that does not end", ConnectionStage::greeted,
		 connectWith([](Command &, ConnectData &data) { std::ranges::fill(data.hostnqn, 'a'); }), param},
		{"Connect with a host NQN that is no UTF-8", ConnectionStage::greeted,
		 connectWith([](Command &, ConnectData &data) { data.hostnqn[3] = '\xff'; }), param},
		{"Connect with an escape sequence as host NQN", ConnectionStage::greeted,
		 connectWith([](Command &, ConnectData &data) { data.hostnqn[3] = '\x1b'; }), param},
		{"a second Connect", ConnectionStage::connected, connectWith([](Command &, ConnectData &) {}),
		 dnr(st_sequence)},
		// commands
		{"Identify before it is enabled", ConnectionStage::connected,
		 command(hostileCommand(op_identify, cns_ctrl)), dnr(st_sequence)},
		{"a registration before it is enabled", ConnectionStage::connected, registration([](Bytes &) {}),
		 dnr(st_sequence)},
		{"Property Get of nothing", ConnectionStage::connected, command(propertyGet(Property(0xffff))),
		 badField},
		{"Property Set of CAP", ConnectionStage::connected, command(propertySet(prop_cap, 1)), badField},
		{"Authentication Send", ConnectionStage::enabled, command(fabrics(0x05)), dnr(st_invalid_opcode)},
		{"Disconnect", ConnectionStage::enabled, command(fabrics(0x08)), dnr(st_invalid_opcode)},
		{"an I/O command", ConnectionStage::enabled, command(hostileCommand(op_write)), dnr(st_invalid_opcode)},
		{"Format NVM", ConnectionStage::enabled, command(hostileCommand(0x80)), dnr(st_invalid_opcode)},
		{"Identify of namespaces", ConnectionStage::enabled, command(hostileCommand(op_identify, 0)), badField},
		{"Identify into no room", ConnectionStage::enabled,
		 [](Client &c) {
			 Command cmd = hostileCommand(op_identify, cns_ctrl);
			 cmd.sgl.length = 16;
			 c.command(cmd);
		 },
		 length},
		{"a log that there is not", ConnectionStage::enabled, command(logAt(0x55, 0, 4096)),
		 dnr(st_invalid_log)},
		{"the log from an odd offset", ConnectionStage::enabled, command(logAt(log_discovery, 3, 4096)),
		 badField},
		{"the log from behind its end", ConnectionStage::enabled,
		 command(logAt(log_discovery, 1ull << 63, 4096)), badField},
		{"16 GiB of the log", ConnectionStage::enabled, command(hugeLog(log_discovery)), badField},
		{"16 GiB of the error log", ConnectionStage::enabled, command(hugeLog(log_error)), badField},
		{"a KATO of 49 days by Set Features", ConnectionStage::enabled,
		 command(hostileCommand(op_set_features, feat_keep_alive, UINT32_MAX)), dnr(st_keep_alive)},
		{"a feature that there is not", ConnectionStage::enabled,
		 command(hostileCommand(op_set_features, 0x7f)), badField},
		{"a feature that is to be saved", ConnectionStage::enabled,
		 command(hostileCommand(op_set_features, feat_async_event | 1u << 31)), badField},
		{"Get Features of defaults", ConnectionStage::enabled,
		 command(hostileCommand(op_get_features, feat_keep_alive | 1u << 8)), badField},
		{"Keep Alive without KATO", ConnectionStage::enabled, command(hostileCommand(op_keep_alive)), badField},
		{"more event requests than there may be", ConnectionStage::enabled,
		 [](Client &c) {
			 for (int i = 0; i < 5; i++)
				 c.command(hostileCommand(op_async_event));
		 },
		 dnr(st_async_limit)},
		{"Abort of what is not there", ConnectionStage::enabled,
		 command(hostileCommand(op_abort, 0x1234u << 16)), st_ok},
		// registrations
		{"a registration of nothing", ConnectionStage::enabled, command(dim(0)), length},
		{"a registration of 4 GiB", ConnectionStage::enabled, command(dim(UINT32_MAX)), length},
		{"a registration of one byte", ConnectionStage::enabled, [](Client &c) { c.command(dim(0), Bytes(1)); },
		 badField},
		{"a registration of zeros", ConnectionStage::enabled, [](Client &c) { c.command(dim(0), Bytes(4096)); },
		 badField},
		{"a registration that says it is longer", ConnectionStage::enabled,
		 bytesAt(0, {0xff, 0xff, 0xff, 0xff}), badField},
		{"a registration that says it is shorter", ConnectionStage::enabled, bytesAt(0, {8, 0, 0, 0}),
		 badField},
		{"2^64-1 entries", ConnectionStage::enabled, bytesAt(8, Bytes(8, 0xff)), badField},
		{"another entry format", ConnectionStage::enabled, bytesAt(16, {9, 0}), badField},
		{"another entity", ConnectionStage::enabled, bytesAt(18, {3, 0}), badField},
		{"an entry of no length", ConnectionStage::enabled,
		 bytesAt(sizeof(DimHeader) + sizeof(DiscoveryEntry), Bytes(4)), badField},
		{"an entry of 4 GiB", ConnectionStage::enabled,
		 bytesAt(sizeof(DimHeader) + sizeof(DiscoveryEntry), Bytes(4, 0xff)), badField},
		{"65535 attributes", ConnectionStage::enabled,
		 bytesAt(sizeof(DimHeader) + sizeof(DiscoveryEntry) + 4, {0xff, 0xff}), badField},
		{"a task that there is not", ConnectionStage::enabled,
		 [](Client &c) {
			 Command cmd = dim(0);
			 cmd.cdw10 = 3;
			 c.command(cmd, encodeRegistration(someRegistration(1)));
		 },
		 badField},
		{"another host's registration", ConnectionStage::enabled,
		 registrationOf([](Registration &host) { host.nqn = "nqn.other"; }), badField},
		{"a second registration while one is on its way", ConnectionStage::enabled,
		 transfer(4096, [](Client &c) { c.command(dim(0), encodeRegistration(someRegistration(1))); }),
		 st_interrupted | st_crd1},
		{"data of another command", ConnectionStage::enabled,
		 transfer(4096,
			  [](Client &c) {
				  DataPdu out = h2cData(c, 0, 4096, true);
				  out.cid = static_cast<std::uint16_t>(out.cid + 7);
				  c.send(out, Bytes(4096));
			  }),
		 term + fes_parameter},
		{"data of another transfer tag", ConnectionStage::enabled,
		 transfer(4096,
			  [](Client &c) {
				  DataPdu out = h2cData(c, 0, 4096, true);
				  out.ttag = 99;
				  c.send(out, Bytes(4096));
			  }),
		 term + fes_parameter},
		{"data from elsewhere", ConnectionStage::enabled,
		 transfer(4096, [](Client &c) { c.send(h2cData(c, 4, 4092, true), Bytes(4092)); }), term + fes_range},
		{"more data than was asked for", ConnectionStage::enabled,
		 transfer(4096, [](Client &c) { c.send(h2cData(c, 0, 8192, true), Bytes(8192)); }), term + fes_range},
		{"data that say they are longer", ConnectionStage::enabled,
		 transfer(4096, [](Client &c) { c.send(h2cData(c, 0, 4096, true), Bytes(100)); }), term + fes_header},
		{"data without an end", ConnectionStage::enabled,
		 transfer(4096, [](Client &c) { c.send(h2cData(c, 0, 4096, false), Bytes(4096)); }),
		 term + fes_parameter},
	};
	return lines;
}

void bring(Client &client, ConnectionStage stage)
{
	if (stage >= ConnectionStage::greeted)
		client.hello();
	if (stage >= ConnectionStage::connected)
		REQUIRE(client.connect() == st_ok);
	if (stage >= ConnectionStage::enabled)
		REQUIRE(client.run(propertySet(prop_cc, 1)) == st_ok);
}

int outcomeOf(Client &client)
{
	const int status = client.completion();
	return status == -1 && client.fes ? term + client.fes : status;
}

} // namespace

TEST_CASE("no hostile client keeps the discovery service from serving hosts", "[hostile]")
{
	Front front(3);
	const auto caught = runtime::caughtExceptions();
	CHECK(table().size() >= 60);
	for (const Line &line : table()) {
		INFO(line.name);
		{
			Client hostile(front);
			bring(hostile, line.stage);
			line.send(hostile);
			CHECK(outcomeOf(hostile) == line.outcome);
		}
		Client good(front);
		good.hello().enable();
		CHECK(good.readLog(4096) == st_ok);
		CHECK(runtime::caughtExceptions() == caught);
	}
	for (int i = 0; i < 10000 && front.context.counters.open > 0; i++)
		std::this_thread::sleep_for(1ms);
	CHECK(front.context.counters.open == 0);
	CHECK(front.context.reserved() == 0);
}
