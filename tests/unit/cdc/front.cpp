// SPDX-License-Identifier: LGPL-2.1-or-later
// Minimal hosts connect to workers over TCP on this machine.
#include <catch2/catch.hpp>

#include <condition_variable>
#include <future>
#include <thread>

#include "client.h"
#include "service.h"
#include "peer_limits.h"

using namespace cdc;
using namespace nofctl::wire;
using namespace std::chrono_literals;

TEST_CASE("only addresses that hosts elsewhere may reach are advertised by default", "[front]")
{
	for (const char *address : {"192.168.10.5", "10.0.0.1", "fd00:10::5", "2001:db8::1"})
		CHECK(isAdvertisable({"eth0", address}, {}));
	for (const char *address : {"127.0.0.1", "127.8.0.1", "169.254.3.4", "::1", "fe80::1", "fe80::1%eth0",
				    "fec0::5", "feff::1", "no address"})
		CHECK_FALSE(isAdvertisable({"eth0", address}, {}));
	for (const char *interface :
	     {"docker0", "virbr0", "cni0", "veth12ab", "kube-ipvs0", "cali0", "br-0123456789ab"})
		CHECK_FALSE(isAdvertisable({interface, "10.0.0.1"}, {}));
	CHECK(isAdvertisable({"br-storage", "10.0.0.1"}, {}));
	const std::vector<Prefix> storage{*Prefix::of("192.168.10.0/24"), *Prefix::of("fd00:10::/64")};
	CHECK(isAdvertisable({"eth0", "192.168.10.5"}, storage));
	CHECK(isAdvertisable({"br-storage", "fd00:10::5"}, storage));
	CHECK_FALSE(isAdvertisable({"eth1", "10.0.0.1"}, storage));
	CHECK_FALSE(isAdvertisable({"lo", "192.168.10.5", true}, {}));
	CHECK(isAdvertisable({"lo", "192.168.10.5", true}, storage)); // of a routing daemon
	CHECK_FALSE(isAdvertisable({"lo", "127.0.0.1", true}, storage));
	const auto all = interfaceAddresses();
	REQUIRE(all);
	for (const InterfaceAddress &own : advertisableAddresses(*all, {}))
		CHECK_FALSE(own.address.starts_with("127."));
}

TEST_CASE("interfaces for containers are advertised only where no other has an address", "[front]")
{
	auto advertised = [](const std::vector<InterfaceAddress> &all, const std::vector<Prefix> &networks) {
		std::string text;
		for (const InterfaceAddress &one : advertisableAddresses(all, networks))
			text += one.interface + " ";
		return text;
	};
	std::vector<InterfaceAddress> all{
		{"lo", "127.0.0.1", true}, {"lo", "10.9.9.9", true}, {"veth0", "10.0.0.1"}, {"veth0", "fe80::1"}};
	CHECK(advertised(all, {}) == "veth0 ");
	CHECK(advertised(all, {*Prefix::of("192.168.10.0/24")}) == "");
	CHECK(advertised(all, {*Prefix::of("10.9.0.0/16")}) == "lo ");
	all.push_back({"eth0", "10.0.0.2"});
	CHECK(advertised(all, {}) == "eth0 ");
}

TEST_CASE("a host reads its log with any digests and alignment", "[front]")
{
	Front front(5);
	const std::uint32_t size = 6 * discoveryBlock;
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
			CHECK(client.readLog(size + 20) == st_ok); // the bytes behind the log are zero
			CHECK(client.data.size() == size + 20);
		}
	Client quick(front); // SQ flow control disabled
	quick.hello();
	REQUIRE(quick.connect("nqn.host", ca_sqflow_off) == st_ok);
	CHECK(quick.cqe.sqhd == 0xffff);
	CHECK(quick.cqe.result != 0);
	REQUIRE(quick.run(propertySet(prop_cc, 1)) == st_ok);
	CHECK(quick.readLog(size) == st_ok);
	CHECK(quick.data == plain);
	CHECK(front.context.counters.logReads == 17);
}

TEST_CASE("a latency is counted in the bucket that the histogram reports for it", "[latency]")
{
	for (std::size_t i = 0; i < nvmeof::histogramBuckets; i++) {
		Latency latency;
		latency.add(nvmeof::bucketBegin(i));
		latency.add(nvmeof::bucketEnd(i) - 1ns);
		const Latency::Reading reading = latency.read();
		CHECK(reading.histogram[i] == (i + 1 < nvmeof::histogramBuckets ? 2 : 1));
		CHECK(reading.sum == nvmeof::bucketBegin(i) + nvmeof::bucketEnd(i) - 1ns);
	}
	Latency latency;
	latency.add(-1ns);
	latency.add(1h);
	CHECK(latency.read().histogram[0] == 1);
	CHECK(latency.read().histogram[nvmeof::histogramBuckets - 1] == 1);
}

TEST_CASE("each command is counted with its duration once its answer was sent", "[front]")
{
	Front front(5);
	auto counted = [&](Served command) {
		return nvmeof::countOf(front.context.latencies.of(command).read().histogram);
	};
	// the client may get the answer before the command is counted
	auto becomes = [&](Served command, std::uint64_t count) {
		for (int i = 0; i < 1000 && counted(command) != count; i++)
			std::this_thread::sleep_for(10ms);
		return counted(command) == count;
	};
	Client client(front);
	client.hello();
	CHECK(client.connect("") != st_ok);
	client.enable();
	CHECK(client.readLog(1024) == st_ok);
	CHECK(client.run(dim(0), encodeRegistration(someRegistration(1))) == st_ok);
	Command request{};
	request.opcode = op_async_event; // completes with an event only
	client.command(request);
	CHECK(client.run(propertyGet(prop_csts)) == st_ok);
	CHECK(becomes(Served::connect, 2));
	CHECK(becomes(Served::getLogPage, 1));
	CHECK(becomes(Served::registration, 1));
	CHECK(becomes(Served::other, 2));
	// An answer that the client does not read does not count yet. The answers exceed the socket buffers.
	constexpr int many = 10;
	Command log = getLog(log_discovery, 0, 3 << 20);
	log.sgl.type = sgl_transport;
	log.sgl.length = 3 << 20;
	for (int i = 0; i < many; i++)
		client.command(log);
	std::this_thread::sleep_for(300ms);
	CHECK(counted(Served::getLogPage) < 1 + many);
	for (int i = 0; i < many; i++)
		CHECK(client.completion() == st_ok);
	CHECK(becomes(Served::getLogPage, 1 + many));
	CHECK(front.context.latencies.of(Served::getLogPage).read().sum > 300ms);
}

TEST_CASE("reads of logs are counted by zone", "[front]")
{
	Front front(4);
	front.sample.tell({putOf(someZone("one", {"nqn.a"}, {"*"})), putOf(someZone("both", {"nqn.*"}, {"*"}))});
	front.worker->publish(front.sample.views);
	Client a(front), b(front);
	a.hello();
	REQUIRE(a.connect("nqn.a") == st_ok);
	REQUIRE(a.run(propertySet(prop_cc, 1)) == st_ok);
	CHECK(a.readLog(1024) == st_ok);
	CHECK(a.readLog(2048) == st_ok);
	b.hello();
	REQUIRE(b.connect("nqn.b") == st_ok);
	REQUIRE(b.run(propertySet(prop_cc, 1)) == st_ok);
	CHECK(b.readLog(1024) == st_ok);
	CHECK(front.sample.views->zoneTable().reads("one") == 2);
	CHECK(front.sample.views->zoneTable().reads("both") == 3);
	CHECK(front.context.counters.logReads == 3);
}

TEST_CASE("a change completes the event request of a host", "[front]")
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
	CHECK(front.context.counters.events == 1);
}

TEST_CASE("commands may arrive one byte at a time and many at once", "[front]")
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

TEST_CASE("a protocol error ends the connection with the reason", "[front]")
{
	Front front;
	// @fei: the offset of the field that is not supported
	auto term = [&](auto prepare, auto send, std::uint32_t fei = 0) {
		Client client(front);
		prepare(client);
		send(client);
		CHECK(client.ended());
		if (client.fes == fes_parameter)
			CHECK(client.fei == fei);
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
	CHECK(term(
		      nothing,
		      [](Client &c) {
			      auto request = make<IcReq>();
			      request.pfv = 1;
			      c.send(request);
		      },
		      8) == fes_parameter);
	CHECK(term(
		      nothing,
		      [](Client &c) {
			      auto request = make<IcReq>();
			      request.hpda = 32;
			      c.send(request);
		      },
		      10) == fes_parameter);
	CHECK(term(live, [](Client &c) {
		      auto data = make<DataPdu>(pdu_h2c_data);
		      data.length = 8;
		      c.send(data, Bytes(8));
	      }) == fes_sequence);
	CHECK(term(live, [](Client &c) { c.send(make<ResponsePdu>()); }) == fes_header);
	CHECK(term(live, [](Client &c) { c.command(propertyGet(prop_cap), Bytes(65536)); }) == fes_header);
	CHECK(term(live, [](Client &c) { c.send(make<TermPdu>(pdu_h2c_term)); }) == 0); // ends without a C2HTermReq
	Client good(front);
	good.hello().enable();
	CHECK(good.readLog(1024) == st_ok);
}

TEST_CASE("a registration of any size is requested by one R2T and may arrive in several H2CData", "[front]")
{
	Front front;
	Client client(front);
	client.hello().enable();
	const Bytes small = encodeRegistration(someRegistration(1));
	CHECK(client.run(dim(0), small) == st_ok); // in-capsule data
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
	CHECK(client.run(dim((1 << 20) + 4)) == (0x00f | st_dnr)); // above the limit
	CHECK(client.run(dim(0)) == (0x00f | st_dnr));
	Bytes bad = small;
	bad[8] = 200; // more entries than the data have
	CHECK(client.run(dim(0), bad) == (st_invalid_field | st_dnr));
}

TEST_CASE("registrations that wait for the store are bounded, to one for each connection", "[front]")
{
	FrontRules rules;
	rules.registrationBytes = 512 << 10; // the share of one address is 64 KiB
	Front front(3, rules);
	std::vector<RegistrationRequest> held; // as a slow store does
	std::mutex mutex;
	front.context.registration = [&](Worker &, RegistrationRequest request) {
		std::lock_guard lock(mutex);
		held.push_back(std::move(request));
	};
	const Bytes data = encodeRegistration(someRegistration(1));
	std::vector<std::unique_ptr<Client>> clients;
	for (int i = 0; i < 40; i++) {
		clients.push_back(std::make_unique<Client>(front));
		clients.back()->hello().enable();
		for (int j = 0; j < 50; j++)
			clients.back()->command(dim(0), data);
	}
	for (auto &client : clients)
		for (int j = 0; j < 49; j++)
			CHECK(client->completion() == (st_interrupted | st_crd1));
	CHECK(front.context.counters.deferred >= 40 * 49);
	std::lock_guard lock(mutex);
	CHECK(held.size() == 16);
	held.clear();
	CHECK(front.context.reserved() == 0);
	const auto first = front.context.reserve(*Peer::parse("10.0.0.1"), 64 << 10);
	CHECK(first);
	CHECK_FALSE(front.context.reserve(*Peer::parse("10.0.0.1"), 1));
	CHECK(front.context.reserve(*Peer::parse("10.0.0.2"), 1));
}

TEST_CASE("a few addresses cannot reserve the memory for registrations of all others", "[front]")
{
	Front front; // its limit is 64 MiB
	constexpr std::size_t most = 1 << 20;
	std::vector<std::shared_ptr<void>> held;
	for (int i = 1; i <= 20; i++)
		for (int j = 0; j < 8; j++)
			if (auto one = front.context.reserve(*Peer::parse("10.0.0." + std::to_string(i)), most))
				held.push_back(std::move(one));
	CHECK(held.size() <= 62); // six addresses with 8 MiB, the others with one
	CHECK(front.context.reserve(*Peer::parse("10.0.1.1"), most));
	CHECK_FALSE(front.context.reserve(*Peer::parse("10.0.0.1"), 1));
}

TEST_CASE("the rate of registrations is limited before their data are transferred", "[front]")
{
	FrontRules rules;
	rules.registrations = {3, 0.001};
	Front front(3, rules);
	Client client(front);
	client.hello().enable();
	const Bytes data = encodeRegistration(someRegistration(1));
	CHECK(client.run(dim(0), data) == st_ok);
	CHECK(client.run(dim(0), data) == st_ok);
	REQUIRE(client.run(dim(data.size())) == -2); // an R2T
	client.send(h2cData(client, 0, data.size(), true), data);
	CHECK(client.completion() == st_ok);
	CHECK(client.run(dim(data.size())) == (st_interrupted | st_crd1));
	CHECK(client.run(dim(0), data) == (st_interrupted | st_crd1));
	CHECK(front.registrations == 3);
}

TEST_CASE("however many connections one address opens, another address gets one", "[front]")
{
	ConnectionLimit limit({100, 40});
	const Peer one = *Peer::parse("10.0.0.1"), other = *Peer::parse("10.0.0.2");
	for (int i = 0; i < 40; i++)
		CHECK(limit.admit(one));
	CHECK_FALSE(limit.admit(one));
	int places = 0;
	while (limit.admit(other))
		places++;
	CHECK(places == 35); // three quarters are in use
	for (int i = 3; i < 9; i++)
		for (int j = 0; j < 4; j++)
			CHECK(limit.admit(*Peer::parse("10.0.0." + std::to_string(i))));
	CHECK_FALSE(limit.admit(*Peer::parse("10.0.0.3")));
	CHECK(limit.admit(*Peer::parse("10.0.0.99")));
	CHECK_FALSE(limit.admit(*Peer::parse("10.0.0.98"))); // all are in use
	limit.release(one);
	CHECK_FALSE(limit.admit(one));
	CHECK(limit.admit(*Peer::parse("10.0.0.98")));
}

TEST_CASE("the registrations of an address are limited in rate, with a burst", "[front]")
{
	PeerRates rates({5, 2});
	const Peer one = *Peer::parse("10.0.0.1"), other = *Peer::parse("10.0.0.2");
	const PeerRates::Clock::time_point start(1000s);
	for (int i = 0; i < 5; i++)
		CHECK(rates.allow(one, start));
	CHECK_FALSE(rates.allow(one, start));
	CHECK(rates.allow(other, start));
	CHECK(rates.allow(one, start + 500ms));
	CHECK_FALSE(rates.allow(one, start + 600ms));
	for (int i = 0; i < 70000; i++) {
		Peer many{};
		many.bytes = {0xfd, 0, static_cast<std::uint8_t>(i >> 16), static_cast<std::uint8_t>(i >> 8),
			      static_cast<std::uint8_t>(i)};
		rates.allow(many, start + 1s);
	}
	CHECK(rates.known() <= 65536);
	// the networks that have their full allowance again are looked for once in a second
	CHECK_FALSE(rates.allow(*Peer::parse("fe00::1"), start + 1500ms));
	CHECK(rates.allow(*Peer::parse("fe00::1"), start + 10s)); // addresses with a full allowance are forgotten
}

TEST_CASE("a worker that does not make progress is detected", "[front]")
{
	std::promise<void> gate;
	Front front;
	for (int i = 0; i < 10; i++) {
		CHECK(front.worker->runs(2));
		std::atomic<bool> answered{false};
		front.worker->listSessions([&](const std::vector<HostSession> &) { answered = true; });
		while (!answered)
			std::this_thread::sleep_for(1ms);
	}
	front.worker->listSessions(
		[opened = gate.get_future().share()](const std::vector<HostSession> &) { opened.wait(); });
	CHECK(front.worker->runs(2));
	CHECK(front.worker->runs(2));
	CHECK_FALSE(front.worker->runs(2));
	gate.set_value();
}

TEST_CASE("H2CData that do not match their R2T end the connection", "[front]")
{
	Front front;
	std::uint32_t fei = 0;
	auto send = [&](std::uint32_t offset, std::size_t length, bool last, int cid = 0, int ttag = 0) {
		Client client(front);
		client.hello().enable();
		REQUIRE(client.run(dim(4096)) == -2);
		DataPdu out = h2cData(client, offset, length, last);
		out.cid = static_cast<std::uint16_t>(out.cid + cid);
		out.ttag = static_cast<std::uint16_t>(out.ttag + ttag);
		client.send(out, Bytes(length));
		CHECK(client.ended());
		fei = client.fei;
		return client.fes;
	};
	CHECK(send(4, 4092, true) == fes_range);
	CHECK(send(0, 4100, true) == fes_range);
	CHECK(send(0, 4096, false) == fes_parameter);
	CHECK(fei == 1); // FLAGS
	CHECK(send(0, 1024, true) == fes_parameter);
	CHECK(fei == 1);
	CHECK(send(0, 4096, true, 1) == fes_parameter);
	CHECK(fei == 8); // CCCID
	CHECK(send(0, 4096, true, 0, 1) == fes_parameter);
	CHECK(fei == 10); // TTAG
}

TEST_CASE("a host that stops sending is disconnected in every state", "[front]")
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
	CHECK(front.context.counters.late == 5);
	Client again(front);
	again.hello().enable();
	CHECK(again.readLog(1024) == st_ok);
}

TEST_CASE("the connections from one address are limited", "[front]")
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
	CHECK(front.context.counters.tooMany == 1);
	clients.pop_back();
	while (front.context.counters.open > 2)
		std::this_thread::sleep_for(1ms);
	Client(front).hello().enable();
}

TEST_CASE("a host waits until it is admitted, and gets Connect Controller Busy if the queue is full", "[front]")
{
	FrontRules rules;
	rules.admission = {1, 1};
	Front front(3, rules);
	Client first(front), second(front), third(front);
	first.hello().enable();
	second.hello();
	Connect connect;
	connect.subsysnqn = wellKnownDiscoveryNqn;
	connect.hostnqn = "nqn.second";
	second.command(connect.command(), encode(connect.data()));
	while (front.context.counters.waited == 0)
		std::this_thread::sleep_for(1ms);
	third.hello();
	CHECK(third.connect("nqn.third") == (st_connect_busy | 1 << 11));
	CHECK(first.readLog(4096) == st_ok); // the whole log: this host has been served
	CHECK(second.completion() == st_ok);
	Command cmd = getLog(log_discovery, 0, 4096);
	cmd.sgl.type = sgl_transport;
	cmd.sgl.length = 4096;
	REQUIRE(second.run(propertySet(prop_cc, 1)) == st_ok);
	CHECK(second.run(cmd) == st_ok);
	CHECK(third.connect("nqn.third") == st_ok);
}

TEST_CASE("a host that does not read its answers costs a reference to the page only", "[front]")
{
	Front front(400);
	Client slow(front);
	slow.hello().enable();
	Command cmd = getLog(log_discovery, 0, 401 * discoveryBlock);
	cmd.sgl.type = sgl_transport;
	cmd.sgl.length = 401 * discoveryBlock;
	for (int i = 0; i < 100; i++)
		slow.command(cmd); // 40 MB
	Client other(front);
	other.hello().enable();
	CHECK(other.readLog(1024) == st_ok);
	front.change(7);
	const auto reads = front.context.counters.logReads.load();
	CHECK(reads < 50);
	for (int i = 0; i < 100; i++)
		REQUIRE(slow.completion() == st_ok);
	CHECK(front.context.counters.logReads == 101);
}

TEST_CASE("a host that does not read its answers has few copied ones", "[front]")
{
	constexpr std::uint64_t size = 4096;
	Front front(3, {}, 4096);
	Client slow(front);
	const int room = 4096;
	REQUIRE(::setsockopt(slow.socket(), SOL_SOCKET, SO_RCVBUF, &room, sizeof(room)) == 0);
	slow.hello().enable();
	Command cmd{};
	cmd.opcode = op_identify;
	cmd.cdw10 = cns_ctrl;
	cmd.sgl.type = sgl_transport;
	cmd.sgl.length = size;
	const auto before = front.context.counters.bytesSent.load();
	for (int i = 0; i < 100; i++)
		slow.command(cmd);
	Client other(front);
	other.hello().enable();
	CHECK(other.readLog(1024) == st_ok);
	// 128 KiB are more than the sockets buffer
	CHECK(front.context.counters.bytesSent - before < (128 << 10) + (16 << 10) + size);
	for (int i = 0; i < 100; i++)
		REQUIRE(slow.completion() == st_ok);
	CHECK(front.context.counters.bytesSent - before == 100 * size + 1024);
}

TEST_CASE("a host that makes an error gets the answers that are still to be sent, and the reason", "[front]")
{
	constexpr std::uint32_t size = 251 * discoveryBlock; // more than the socket buffers, and commands do not wait
	Front front(250, {}, 4096);
	Client client(front);
	client.hello().enable();
	Command log = getLog(log_discovery, 0, size);
	log.sgl.type = sgl_transport;
	log.sgl.length = size;
	client.command(log);
	client.send(make<IcReq>());
	while (front.context.counters.faults == 0)
		std::this_thread::sleep_for(1ms);
	const auto sent = front.context.latencies.of(Served::getLogPage).read().histogram;
	REQUIRE(nvmeof::countOf(sent) == 0); // a part of the log is pending
	client.data.clear();
	CHECK(client.completion() == st_ok);
	CHECK(client.data.size() == size);
	CHECK(client.ended());
	CHECK(client.fes == fes_sequence);
}

TEST_CASE("a host that reads a large log slowly is not taken for a silent one", "[front]")
{
	constexpr std::uint32_t size = 2001 * discoveryBlock;
	FrontRules rules;
	rules.stepMs = 1000;
	rules.idleMs = 2000;
	Front front(2000, rules, 4096);
	Client client(front);
	client.hello().enable();
	Command log = getLog(log_discovery, 0, size);
	log.sgl.type = sgl_transport;
	log.sgl.length = size;
	client.command(log);
	client.command(propertyGet(prop_csts)); // is not read before the log is sent
	const std::size_t all = sizeof(DataPdu) + size + 2 * sizeof(ResponsePdu);
	std::size_t got = 0;
	Bytes room(32 << 10);
	for (int i = 0; got < all; i++) {
		const ssize_t n = ::recv(client.socket(), room.data(), std::min(room.size(), all - got), MSG_WAITALL);
		REQUIRE(n > 0);
		got += static_cast<std::size_t>(n);
		if (i < 40) // 4 s, for less than the log
			std::this_thread::sleep_for(100ms);
		const auto sent = front.context.latencies.of(Served::getLogPage).read().histogram;
		CHECK((i != 39 || nvmeof::countOf(sent) == 0)); // a part of the log is still pending
	}
	CHECK(front.context.counters.late == 0);
}

TEST_CASE("output that never becomes empty keeps neither bytes nor pages that were sent", "[front]")
{
	int ends[2];
	REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
	Latencies latencies;
	Output pending;
	Bytes sent, received(64 << 10);
	std::size_t got = 0, most = 0;
	bool same = true;
	auto read = [&] {
		const ssize_t n = ::recv(ends[1], received.data(), received.size(), MSG_DONTWAIT);
		for (ssize_t i = 0; i < n; i++)
			same = same && received[static_cast<std::size_t>(i)] == sent[got++];
		return n > 0;
	};
	std::vector<std::weak_ptr<const Bytes>> pages;
	for (int i = 0; i < 2000 || pending.waiting() < (64 << 10); i++) {
		Output more;
		const auto page = std::make_shared<const Bytes>(1024, std::uint8_t(i % 251));
		more.scratch().assign(4096, std::uint8_t(i % 241));
		append(sent, more.scratch());
		append(sent, *page);
		more.own();
		more.share(*page, page);
		more.answers(Served::other, {});
		pages.push_back(page);
		pending.append(std::move(more));
		const bool begun = i >= 200; // the socket buffer is full
		if (begun && pending.waiting() > (128 << 10))
			REQUIRE(read());
		if (pending.send(ends[0], nullptr, latencies) != Output::Sent::some)
			REQUIRE_FALSE(begun);
		most = std::max(most, pending.scratch().size());
	}
	CHECK(most < 2u << 20);
	CHECK(std::ranges::count_if(pages, [](const auto &page) { return !page.expired(); }) < 1000);
	CHECK(nvmeof::countOf(latencies.of(Served::other).read().histogram) > 1000);
	while (pending.send(ends[0], nullptr, latencies) == Output::Sent::some)
		REQUIRE(read());
	while (read())
		;
	CHECK(same);
	CHECK(got == sent.size());
	CHECK(nvmeof::countOf(latencies.of(Served::other).read().histogram) == pages.size());
	::close(ends[0]);
	::close(ends[1]);
}

TEST_CASE("a draining worker disconnects its hosts within the given time", "[front]")
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
