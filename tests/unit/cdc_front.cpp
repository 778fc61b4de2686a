// SPDX-License-Identifier: LGPL-2.1-or-later
// Hosts of a few lines against workers, over TCP on this machine.
#include <catch2/catch.hpp>

#include <condition_variable>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cdc_sample.h"
#include "listening.h"
#include "worker.h"

using namespace cdc;
using namespace nofctl::wire;
using namespace std::chrono_literals;

namespace {

std::uint16_t portOf(int socket)
{
	sockaddr_in address{};
	socklen_t length = sizeof(address);
	::getsockname(socket, reinterpret_cast<sockaddr *>(&address), &length);
	return ntohs(address.sin_port);
}

// A listening socket on a free port
int anySocket(std::uint16_t &port)
{
	const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	sockaddr_in address{};
	address.sin_family = AF_INET;
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	REQUIRE(::bind(socket, reinterpret_cast<sockaddr *>(&address), sizeof(address)) == 0);
	REQUIRE(::listen(socket, 128) == 0);
	port = portOf(socket);
	return socket;
}

struct Front {
	explicit Front(int targets = 3, const FrontRules &rules = {})
		: sample(targets), hall({self_id, "nqn.self", "serial", "0"}, rules)
	{
		hall.registration = [this](Worker &its, RegistrationRequest request) {
			registrations++;
			its.registered(request.connection, request.cid, st_ok);
		};
		worker = std::make_unique<Worker>(hall, std::vector<int>{anySocket(port)}, sample.views);
	}
	void change(int target)
	{
		sample.tell({putOf(someTarget(target))});
		worker->publish(sample.views);
	}

	Sample sample;
	Hall hall;
	std::uint16_t port = 0;
	std::atomic<int> registrations{0};
	std::unique_ptr<Worker> worker;
};

class Client {
public:
	explicit Client(const Front &front) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0))
	{
		sockaddr_in to{};
		to.sin_family = AF_INET;
		to.sin_port = htons(front.port);
		to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		const timeval limit{10, 0};
		::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
		REQUIRE(::connect(socket_, reinterpret_cast<sockaddr *>(&to), sizeof(to)) == 0);
	}
	~Client() { ::close(socket_); }

	Client &hello(std::uint8_t digests = 0, std::uint8_t alignment = 0)
	{
		auto request = make<IcReq>();
		request.digest = digests;
		request.hpda = alignment;
		send(request);
		REQUIRE(next());
		REQUIRE(pdu.type() == pdu_ic_resp);
		CHECK(pdu.as<IcResp>().digest == digests);
		format = {bool(digests & 1), bool(digests & 2), 0};
		return *this;
	}
	// Its status
	int connect(const std::string &hostnqn = "nqn.host", std::uint8_t attributes = 0)
	{
		Connect connect;
		connect.subsysnqn = discovery_nqn;
		connect.hostnqn = hostnqn;
		connect.attributes = attributes;
		return run(connect.command(), encode(connect.data()));
	}
	Client &enable()
	{
		REQUIRE(connect() == st_ok);
		REQUIRE(run(propertySet(prop_cc, 1)) == st_ok);
		return *this;
	}
	void command(Command cmd, std::span<const std::uint8_t> payload = {})
	{
		auto out = make<CommandPdu>();
		cmd.cid = ++cid;
		if (!payload.empty()) {
			cmd.sgl.type = sgl_in_capsule;
			cmd.sgl.length = static_cast<std::uint32_t>(payload.size());
		}
		out.cmd = cmd;
		send(out, payload);
	}
	// Its status; its data are in @data. -1: the connection has ended
	int run(const Command &cmd, std::span<const std::uint8_t> payload = {})
	{
		data.clear();
		command(cmd, payload);
		return completion();
	}
	int completion()
	{
		while (next()) {
			if (pdu.type() == pdu_c2h_data) {
				append(data, pdu.data);
				if (pdu.as<DataPdu>().h.flags & f_success)
					return st_ok;
			}
			if (pdu.type() == pdu_response) {
				cqe = pdu.as<ResponsePdu>().cqe;
				return cqe.status >> 1;
			}
			if (pdu.type() == pdu_c2h_term)
				fes = pdu.as<TermPdu>().fes;
			if (pdu.type() == pdu_r2t)
				return -2;
		}
		return -1;
	}
	int readLog(std::uint32_t bytes)
	{
		Command cmd = getLog(log_discovery, 0, bytes);
		cmd.sgl.type = sgl_transport;
		cmd.sgl.length = bytes;
		return run(cmd);
	}
	template <Layout T> void send(const T &out, std::span<const std::uint8_t> payload = {})
	{
		Bytes bytes;
		write(bytes, out, format, payload);
		raw(bytes);
	}
	void raw(std::span<const std::uint8_t> bytes)
	{
		(void)!::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL); // that it has ended shows elsewhere
	}
	// The next PDU; false: the connection has ended
	bool next()
	{
		stream_.erase(stream_.begin(), stream_.begin() + static_cast<std::ptrdiff_t>(pdu.length));
		pdu = {};
		for (;;) {
			pdu = cut(stream_, format, 4 << 20);
			REQUIRE_FALSE(pdu.fault);
			REQUIRE_FALSE(pdu.damaged);
			if (pdu.length)
				return true;
			std::array<std::uint8_t, 65536> room;
			const auto n = ::recv(socket_, room.data(), room.size(), 0);
			if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
				FAIL("nothing came");
			if (n <= 0)
				return false;
			append(stream_, std::span(room).first(static_cast<std::size_t>(n)));
		}
	}
	bool ended()
	{
		while (next())
			if (pdu.type() == pdu_c2h_term)
				fes = pdu.as<TermPdu>().fes;
		return true;
	}

	PduFormat format;
	Pdu pdu;
	Completion cqe{};
	Bytes data;
	std::uint16_t cid = 0, fes = 0;

private:
	int socket_;
	Bytes stream_;
};

Registration someRegistration(std::size_t interfaces)
{
	Registration host{dim_host, "nqn.host", {}, "node", "Linux", {}};
	for (std::size_t i = 0; i < interfaces; i++)
		host.interfaces.push_back(makeInterface(tr_tcp, host.nqn, "10.0.0." + std::to_string(i)));
	return host;
}

Command dim(std::size_t length)
{
	Command cmd{};
	cmd.opcode = op_dim;
	cmd.sgl.type = sgl_transport;
	cmd.sgl.length = static_cast<std::uint32_t>(length);
	return cmd;
}

DataPdu h2cData(const Client &client, std::uint32_t offset, std::size_t length, bool last)
{
	auto out = make<DataPdu>(pdu_h2c_data);
	out.cid = client.cid;
	out.ttag = client.pdu.as<R2tPdu>().ttag;
	out.offset = offset;
	out.length = static_cast<std::uint32_t>(length);
	out.h.flags = last ? f_last : 0;
	return out;
}

} // namespace

TEST_CASE("a host reads its log, with any digests and alignment", "[front]")
{
	Front front(5);
	const std::uint32_t size = 6 * discovery_block;
	Bytes plain;
	for (std::uint8_t digests = 0; digests < 4; digests++)
		for (std::uint8_t alignment : {0, 31}) {
			Client client(front);
			client.hello(digests, alignment).enable();
			CHECK(client.readLog(size) == st_ok);
			REQUIRE(client.data.size() == size);
			if (plain.empty())
				plain = client.data;
			CHECK(client.data == plain);
			CHECK(client.cqe.sqhd == 3);
			CHECK(client.readLog(size + 20) == st_ok); // zeros behind it
			CHECK(client.data.size() == size + 20);
		}
	Client quick(front); // without SQ flow control
	quick.hello();
	REQUIRE(quick.connect("nqn.host", ca_sqflow_off) == st_ok);
	CHECK(quick.cqe.sqhd == 0xffff);
	CHECK(quick.cqe.result != 0);
	REQUIRE(quick.run(propertySet(prop_cc, 1)) == st_ok);
	CHECK(quick.readLog(size) == st_ok);
	CHECK(quick.data == plain);
	CHECK(front.hall.counters.logReads == 17);
}

TEST_CASE("a change is told to who waits for it", "[front]")
{
	Front front;
	Client client(front);
	client.hello().enable();
	Command feature{};
	feature.opcode = op_set_features;
	feature.cdw10 = feat_async_event;
	feature.cdw11 = 1u << 31;
	CHECK(client.run(feature) == st_ok);
	CHECK(client.readLog(1024) == st_ok);
	Command request{};
	request.opcode = op_async_event;
	client.command(request);
	front.change(9);
	CHECK(client.completion() == st_ok);
	CHECK(client.cqe.result == 0x70f002);
	CHECK(client.readLog(1024) == st_ok);
	CHECK(get<std::uint64_t>(client.data, 8) == 4);
	CHECK(front.hall.counters.events == 1);
}

TEST_CASE("commands that come in bits, and many at once", "[front]")
{
	Front front;
	Client client(front);
	client.hello().enable();
	Bytes bytes;
	auto get = make<CommandPdu>();
	get.cmd = propertyGet(prop_csts);
	for (int i = 0; i < 20; i++)
		write(bytes, get, client.format);
	for (std::size_t i = 0; i < 3 * sizeof(CommandPdu); i++) // one byte each
		client.raw(std::span(bytes).subspan(i, 1));
	client.raw(std::span(bytes).subspan(3 * sizeof(CommandPdu)));
	for (int i = 0; i < 20; i++)
		CHECK(client.completion() == st_ok);
}

TEST_CASE("what hosts do not send ends the connection, with the reason", "[front]")
{
	Front front;
	auto term = [&](auto prepare, auto send) {
		Client client(front);
		prepare(client);
		send(client);
		CHECK(client.ended());
		return client.fes;
	};
	auto nothing = [](Client &) {};
	auto hello = [](Client &client) { client.hello(); };
	auto live = [](Client &client) { client.hello().enable(); };
	CHECK(term(nothing, [](Client &c) { c.send(make<CommandPdu>()); }) == fes_sequence);
	CHECK(term(nothing, [](Client &c) { c.raw(Bytes{pdu_command, 0, 72, 0, 200, 0, 0, 0}); }) == fes_header);
	CHECK(term(hello, [](Client &c) { c.send(make<IcReq>()); }) == fes_sequence);
	CHECK(term(hello, [](Client &c) { c.command(propertyGet(prop_cap)); }) == fes_sequence);
	CHECK(term(hello, [](Client &c) { c.command(Connect().command(), Bytes(4096)); }) == fes_header); // too long
	CHECK(term(nothing, [](Client &c) { c.raw(Bytes(64, 0xee)); }) == fes_header);
	CHECK(term(nothing, [](Client &c) {
		      auto request = make<IcReq>();
		      request.pfv = 1;
		      c.send(request);
	      }) == fes_parameter);
	CHECK(term(nothing, [](Client &c) {
		      auto request = make<IcReq>();
		      request.hpda = 32;
		      c.send(request);
	      }) == fes_parameter);
	CHECK(term(live, [](Client &c) {
		      auto data = make<DataPdu>(pdu_h2c_data);
		      data.length = 8;
		      c.send(data, Bytes(8));
	      }) == fes_sequence);
	CHECK(term(live, [](Client &c) { c.send(make<ResponsePdu>()); }) == fes_header);
	CHECK(term(live, [](Client &c) { c.command(propertyGet(prop_cap), Bytes(65536)); }) == fes_header);
	CHECK(term(live, [](Client &c) { c.send(make<TermPdu>(pdu_h2c_term)); }) == 0); // ends without an answer
	Client good(front);
	good.hello().enable();
	CHECK(good.readLog(1024) == st_ok);
}

TEST_CASE("a registration of any size, asked for in one piece and sent in several", "[front]")
{
	Front front;
	Client client(front);
	client.hello().enable();
	const Bytes small = encodeRegistration(someRegistration(1));
	CHECK(client.run(dim(0), small) == st_ok); // in the capsule
	const Bytes data = encodeRegistration(someRegistration(40));
	REQUIRE(data.size() > 32768);
	CHECK(client.run(dim(data.size())) == -2);
	CHECK(client.pdu.as<R2tPdu>().length == data.size());
	for (std::size_t at = 0; at < data.size(); at += 16384) {
		const auto part = std::span(data).subspan(at, std::min<std::size_t>(16384, data.size() - at));
		client.send(
			h2cData(client, static_cast<std::uint32_t>(at), part.size(), at + part.size() == data.size()),
			part);
	}
	CHECK(client.completion() == st_ok);
	CHECK(front.registrations == 2);
	CHECK(client.run(dim((1 << 20) + 4)) == (0x00f | st_dnr)); // more than is taken
	CHECK(client.run(dim(0)) == (0x00f | st_dnr));
	Bytes bad = small;
	bad[8] = 200; // entries that are not there
	CHECK(client.run(dim(0), bad) == (st_invalid_field | st_dnr));
}

TEST_CASE("data that were not asked for end the connection", "[front]")
{
	Front front;
	auto send = [&](std::uint32_t offset, std::size_t length, bool last, int cid = 0) {
		Client client(front);
		client.hello().enable();
		REQUIRE(client.run(dim(4096)) == -2);
		DataPdu out = h2cData(client, offset, length, last);
		out.cid = static_cast<std::uint16_t>(out.cid + cid);
		client.send(out, Bytes(length));
		CHECK(client.ended());
		return client.fes;
	};
	CHECK(send(4, 4092, true) == fes_range);
	CHECK(send(0, 4100, true) == fes_range);
	CHECK(send(0, 4096, false) == fes_parameter);
	CHECK(send(0, 1024, true) == fes_parameter);
	CHECK(send(0, 4096, true, 1) == fes_parameter);
}

TEST_CASE("who does not go on is left, at every step", "[front]")
{
	FrontRules rules;
	rules.stepMs = 100;
	rules.idleMs = 600;
	Front front(3, rules);
	Client silent(front), halfway(front), before(front), unfinished(front), idle(front);
	halfway.raw(Bytes(5));
	before.hello();
	unfinished.hello().enable();
	unfinished.raw(Bytes{4, 0});
	idle.hello().enable();
	for (Client *client : {&silent, &halfway, &before, &unfinished, &idle})
		CHECK(client->ended());
	CHECK(front.hall.counters.late == 5);
	Client again(front);
	again.hello().enable();
	CHECK(again.readLog(1024) == st_ok);
}

TEST_CASE("as many connections as may be from an address", "[front]")
{
	FrontRules rules;
	rules.connections.each = 3;
	Front front(3, rules);
	std::vector<std::unique_ptr<Client>> clients;
	for (int i = 0; i < 3; i++) {
		clients.push_back(std::make_unique<Client>(front));
		clients.back()->hello().enable();
	}
	CHECK(Client(front).ended());
	CHECK(front.hall.counters.tooMany == 1);
	clients.pop_back();
	while (front.hall.counters.open > 2)
		std::this_thread::sleep_for(1ms);
	Client(front).hello().enable();
}

TEST_CASE("a host waits until there is room, and is told when there is none to wait", "[front]")
{
	FrontRules rules;
	rules.admission = {1, 1};
	Front front(3, rules);
	Client first(front), second(front), third(front);
	first.hello().enable();
	second.hello();
	Connect connect;
	connect.subsysnqn = discovery_nqn;
	connect.hostnqn = "nqn.second";
	second.command(connect.command(), encode(connect.data()));
	while (front.hall.counters.waited == 0)
		std::this_thread::sleep_for(1ms);
	third.hello();
	CHECK(third.connect("nqn.third") == (st_connect_busy | 1 << 11));
	CHECK(first.readLog(4096) == st_ok); // all of it: has been served
	CHECK(second.completion() == st_ok);
	Command cmd = getLog(log_discovery, 0, 4096);
	cmd.sgl.type = sgl_transport;
	cmd.sgl.length = 4096;
	REQUIRE(second.run(propertySet(prop_cc, 1)) == st_ok);
	CHECK(second.run(cmd) == st_ok);
	CHECK(third.connect("nqn.third") == st_ok);
}

TEST_CASE("who takes nothing costs no more than the reference of a page", "[front]")
{
	Front front(400);
	Client slow(front);
	slow.hello().enable();
	Command cmd = getLog(log_discovery, 0, 401 * discovery_block);
	cmd.sgl.type = sgl_transport;
	cmd.sgl.length = 401 * discovery_block;
	for (int i = 0; i < 100; i++)
		slow.command(cmd); // 40 MB
	Client other(front);
	other.hello().enable();
	CHECK(other.readLog(1024) == st_ok);
	front.change(7);
	const auto reads = front.hall.counters.logReads.load();
	CHECK(reads < 50);
	for (int i = 0; i < 100; i++)
		REQUIRE(slow.completion() == st_ok);
	CHECK(front.hall.counters.logReads == 101);
}

TEST_CASE("a worker that is to leave lets its hosts go within the time", "[front]")
{
	Front front;
	std::vector<std::unique_ptr<Client>> clients;
	for (int i = 0; i < 20; i++) {
		clients.push_back(std::make_unique<Client>(front));
		clients.back()->hello().enable();
	}
	std::mutex mutex;
	std::condition_variable changed;
	bool gone = false;
	front.worker->drain(100, [&] {
		std::lock_guard lock(mutex);
		gone = true;
		changed.notify_all();
	});
	for (auto &client : clients)
		CHECK(client->ended());
	std::unique_lock lock(mutex);
	CHECK(changed.wait_for(lock, 10s, [&] { return gone; }));
}
