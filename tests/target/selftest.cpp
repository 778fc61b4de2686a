// SPDX-License-Identifier: LGPL-2.1-or-later
// The target itself, over its own sockets: what the guest tests rely on it for.
#include "target/identify.h"
#include "target/misbehaviour.h"
#include "target/server.h"

#include <catch2/catch.hpp>
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <optional>
#include <system_error>
#include <thread>

using namespace target;
using namespace std::chrono_literals;

namespace {

constexpr const char *host_nqn = "nqn.2024-01.io.nvmeof:self";

// One queue of a controller, one command at a time.
class Queue {
public:
	explicit Queue(const Server &server, std::uint16_t cntlid = 0xffff, std::uint32_t kato = 0)
		: socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0))
	{
		sockaddr_in to{};
		to.sin_family = AF_INET;
		to.sin_port = htons(server.port());
		to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		int one = 1;
		::setsockopt(socket_.get(), IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
		timeval limit{0, 400000};
		::setsockopt(socket_.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
		if (::connect(socket_.get(), reinterpret_cast<sockaddr *>(&to), sizeof(to)))
			throw std::system_error(errno, std::generic_category(), "connect");
		hello();
		id_ = connect(server.config().nqn, cntlid, kato);
	}

	std::uint16_t cntlid() const { return id_; }

	void send(Command cmd, const Bytes &data = {})
	{
		CommandPdu pdu{};
		auto pdo = static_cast<std::uint8_t>(data.empty() ? 0 : sizeof(pdu));
		pdu.h = {pdu_command, 0, sizeof(pdu), pdo, static_cast<std::uint32_t>(sizeof(pdu) + data.size())};
		cmd.cid = ++cid_;
		if (!data.empty()) {
			cmd.sgl.type = sgl_in_capsule;
			cmd.sgl.length = static_cast<std::uint32_t>(data.size());
		}
		pdu.cmd = cmd;
		put(&pdu, sizeof(pdu));
		put(data.data(), data.size());
	}

	// The next completion; data that comes before it is in data().
	std::optional<Completion> completion()
	{
		for (;;) {
			PduHeader h;
			if (!take(&h, sizeof(h)))
				return {};
			Bytes rest(h.plen - sizeof(h));
			if (!take(rest.data(), rest.size()))
				return {};
			if (h.type == pdu_c2h_data)
				data_.insert(data_.end(), rest.begin() + 16, rest.end());
			Completion cqe;
			std::memcpy(&cqe, rest.data(), sizeof(cqe));
			if (h.type == pdu_response)
				return cqe;
		}
	}

	// Status, or -1: no answer
	int run(Command cmd, const Bytes &payload = {})
	{
		data_.clear();
		send(cmd, payload);
		auto cqe = completion();
		result_ = cqe ? std::uint64_t(cqe->result) : 0;
		return cqe ? cqe->status >> 1 : -1;
	}

	const Bytes &data() const { return data_; }
	std::uint64_t result() const { return result_; }
	bool open() // false: the target has closed it
	{
		char c;
		auto n = ::recv(socket_.get(), &c, 1, MSG_PEEK);
		return n > 0 || (n < 0 && errno == EAGAIN);
	}

private:
	void put(const void *at, std::size_t n)
	{
		if (::send(socket_.get(), at, n, MSG_NOSIGNAL) != static_cast<ssize_t>(n))
			throw std::system_error(errno, std::generic_category(), "send");
	}
	bool take(void *at, std::size_t n)
	{
		return ::recv(socket_.get(), at, n, MSG_WAITALL) == static_cast<ssize_t>(n);
	}

	void hello()
	{
		IcReq req{};
		req.h = {pdu_ic_req, 0, sizeof(req), 0, sizeof(req)};
		put(&req, sizeof(req));
		IcResp resp;
		REQUIRE(take(&resp, sizeof(resp)));
	}

	std::uint16_t connect(const std::string &nqn, std::uint16_t cntlid, std::uint32_t kato)
	{
		ConnectData d{};
		d.cntlid = cntlid;
		nqn.copy(d.subsysnqn, sizeof(d.subsysnqn) - 1);
		std::string(host_nqn).copy(d.hostnqn, sizeof(d.hostnqn) - 1);
		Command cmd{};
		cmd.opcode = op_fabrics;
		cmd.nsid = fc_connect;
		cmd.cdw10 = std::uint32_t(cntlid == 0xffff ? 0 : 1) << 16;
		cmd.cdw11 = 31;
		cmd.cdw12 = kato;
		Bytes data(sizeof(d));
		std::memcpy(data.data(), &d, sizeof(d));
		REQUIRE(run(cmd, data) == st_ok);
		return static_cast<std::uint16_t>(result_);
	}

	Fd socket_;
	std::uint16_t cid_ = 0, id_ = 0;
	Bytes data_;
	std::uint64_t result_ = 0;
};

Command command(std::uint8_t opcode, std::uint32_t cdw10 = 0)
{
	Command cmd{};
	cmd.opcode = opcode;
	cmd.cdw10 = cdw10;
	if (opcode & 2) { // the controller has data for us
		cmd.sgl.type = sgl_transport;
		cmd.sgl.length = 65536;
	}
	return cmd;
}

Command write(std::uint64_t block)
{
	auto cmd = command(op_write, static_cast<std::uint32_t>(block));
	cmd.nsid = 1;
	return cmd;
}

Command log(std::uint8_t page, std::uint32_t bytes, std::uint8_t lsp = 0, std::uint32_t offset = 0)
{
	auto cmd = command(op_get_log, page | std::uint32_t(lsp) << 8 | (bytes / 4 - 1) << 16);
	cmd.cdw12 = offset;
	return cmd;
}

// A controller with its two queues
struct Controller {
	Queue admin;
	std::optional<Queue> io;
	std::uint8_t ciu = 0;
	std::uint64_t cirn = 0;

	explicit Controller(Server &server, std::uint32_t kato = 0) : admin(server, 0xffff, kato)
	{
		Command enable{};
		enable.opcode = op_fabrics;
		enable.cdw11 = prop_cc;
		enable.cdw12 = 1;
		REQUIRE(admin.run(enable) == st_ok);
		REQUIRE(admin.run(command(op_identify, cns_ctrl)) == st_ok);
		ciu = admin.data()[at::ciu];
		cirn = get<std::uint64_t>(admin.data(), at::cirn);
		io.emplace(server, admin.cntlid());
	}

	Command resetOf(const Controller &other) const
	{
		auto cmd = command(op_cross_reset, other.admin.cntlid() | std::uint32_t(other.ciu) << 16);
		cmd.cdw12 = static_cast<std::uint32_t>(other.cirn);
		cmd.cdw13 = static_cast<std::uint32_t>(other.cirn >> 32);
		return cmd;
	}
};

Config configured()
{
	Config config;
	config.ana = true;
	config.ccrLimit = 2;
	config.kas = 1;
	config.quiesce = 100;
	return config;
}

struct Pair {
	Server a{configured()};
	Server b{configured(), a.shared()};
	Ghosts &ghosts = a.subsystem().ghosts();

	Pair() { a.stores().add(1, 1 << 20); }

	std::uint8_t stored(std::size_t block) { return a.stores().find(1)->peek(block * 512, 1)[0]; }

	void stall(Controller &c, const char *how = "write-stalled-silent")
	{
		a.script().arm(*findMisbehaviour(how));
		c.io->send(write(0), Bytes(512, 1));
		REQUIRE(ghosts.wait(1, 2s));
	}
};

} // namespace

TEST_CASE("two ports, one store, controllers of their own")
{
	Pair p;
	Controller one(p.a), two(p.b);
	CHECK(one.admin.cntlid() != two.admin.cntlid());
	CHECK(one.io->run(write(3), Bytes(512, 7)) == st_ok);
	auto read = command(op_read, 3);
	read.nsid = 1;
	REQUIRE(two.io->run(read) == st_ok);
	CHECK(two.io->data() == Bytes(512, 7));
}

TEST_CASE("ANA states are each port's own, in the log, as an event and as a status")
{
	Pair p;
	Controller one(p.a), two(p.b);
	auto config = command(op_set_features, feat_async_event);
	config.cdw11 = 1 << 11;
	REQUIRE(one.admin.run(config) == st_ok);
	one.admin.send(command(op_async_event));
	p.a.setAnaState(1, ana_inaccessible);
	auto event = one.admin.completion();
	REQUIRE(event);
	CHECK((event->result & 0xffffff) == 0x0c0302);
	CHECK(one.io->run(write(0), Bytes(512, 1)) == st_ana_inaccessible);
	CHECK(two.io->run(write(0), Bytes(512, 1)) == st_ok);

	REQUIRE(one.admin.run(log(log_ana, 56)) == st_ok);
	auto &page = one.admin.data();
	CHECK(get<std::uint64_t>(page, 0) == 2); // changed once
	CHECK(get<std::uint16_t>(page, 8) == 1);
	CHECK(get<std::uint32_t>(page, 16) == 1);
	CHECK(get<std::uint32_t>(page, 20) == 1);
	CHECK(page[32] == ana_inaccessible);
	CHECK(get<std::uint32_t>(page, 48) == 1);
	REQUIRE(one.admin.run(log(log_ana, 8, 1, 16)) == st_ok); // a piece of it, groups only
	CHECK(get<std::uint32_t>(one.admin.data(), 4) == 0);
}

TEST_CASE("a stalled write is executed when told, into the store that the ports share")
{
	Pair p;
	Controller one(p.a, 10000), two(p.b);
	p.stall(one);
	CHECK(one.admin.run(command(op_keep_alive)) == -1); // silent
	CHECK(two.io->run(write(0), Bytes(512, 2)) == st_ok);
	CHECK(p.ghosts.execute() == 1);
	CHECK(p.stored(0) == 1); // the old write over the newer one
	CHECK(p.ghosts.waiting() == 0);
}

TEST_CASE("a stalled write outlives its connection")
{
	Pair p;
	std::optional<Controller> one(std::in_place, p.a, 10000);
	p.stall(*one, "write-stalled-then-rst");
	CHECK_FALSE(one->io->open());
	one.reset();
	CHECK(p.ghosts.execute() == 1);
}

TEST_CASE("nothing is executed once the keep-alive timer and the quiesce time have passed")
{
	Pair p;
	auto begin = Clock::now();
	Controller one(p.a, 250);
	p.stall(one);
	CHECK(p.ghosts.deadline() - begin >= 400ms); // 250 rounded up to 300, and 100
	CHECK(p.ghosts.deadline() - Clock::now() < 400ms);
	SECTION("but until then")
	{
		std::this_thread::sleep_until(p.ghosts.deadline() - 50ms);
		CHECK(p.ghosts.execute() == 1);
	}
	SECTION("then not")
	{
		std::this_thread::sleep_until(p.ghosts.deadline() + 1ms);
		CHECK(p.ghosts.execute() == 0);
		CHECK(p.ghosts.dropped() == 1);
		std::this_thread::sleep_for(300ms);
		CHECK_FALSE(one.admin.open()); // the controller has given up as well
	}
}

TEST_CASE("traffic as a sign of life doubles the time")
{
	auto config = configured();
	config.trafficKeepAlive = true;
	Server a(config);
	a.stores().add(1, 1 << 20);
	Controller one(a, 1000);
	auto associations = a.associations().all();
	REQUIRE(associations.size() == 1);
	CHECK(associations[0]->lostAt() - Clock::now() > 1500ms);
	CHECK(associations[0]->quietAt() - associations[0]->lostAt() == 100ms);
}

TEST_CASE("Cross-Controller Reset, at once")
{
	Pair p;
	Controller one(p.a, 10000), two(p.b);
	REQUIRE(one.ciu != 0);
	REQUIRE(one.cirn != 0);
	CHECK(two.admin.data()[at::ccrl] == 2);
	CHECK(two.admin.run(two.resetOf(two)) == (st_invalid_field | st_dnr));
	p.stall(one);
	CHECK(two.admin.run(two.resetOf(one)) == st_ok);
	CHECK(two.admin.result() == 1);
	CHECK(p.ghosts.execute() == 0);
	CHECK(p.ghosts.dropped() == 1);
	CHECK(two.admin.run(two.resetOf(one)) == st_ok); // gone already
	CHECK(two.admin.result() == 1);
	std::this_thread::sleep_for(300ms);
	CHECK_FALSE(one.admin.open());
	CHECK_FALSE(one.io->open());
}

TEST_CASE("Cross-Controller Reset of another instance does nothing")
{
	Pair p;
	Controller one(p.a, 10000), two(p.b);
	auto cmd = two.resetOf(one);
	cmd.cdw13 = ~cmd.cdw13;
	CHECK(two.admin.run(cmd) == st_ok);
	CHECK(two.admin.result() == 1);
	CHECK(one.io->run(write(0), Bytes(512, 1)) == st_ok);
}

TEST_CASE("Cross-Controller Reset that takes its time, and one that fails")
{
	bool succeeds = GENERATE(true, false);
	Pair p;
	Controller one(p.a, 10000), two(p.b);
	auto config = command(op_set_features, feat_async_event);
	config.cdw11 = 1 << 20;
	REQUIRE(two.admin.run(config) == st_ok);
	p.stall(one);
	p.b.setCcr({200ms, succeeds, true});
	CHECK(two.admin.run(two.resetOf(one)) == st_ok);
	CHECK(two.admin.result() == 0);
	CHECK(two.admin.run(two.resetOf(one)) == st_ccr_in_progress);
	REQUIRE(two.admin.run(log(log_ccr, 16)) == st_ok);
	CHECK(two.admin.data()[8 + 6] == ccr_in_progress);
	CHECK(p.ghosts.waiting() == 1);

	two.admin.send(command(op_async_event));
	auto event = two.admin.completion();
	REQUIRE(event);
	CHECK((event->result & 0xffffff) == 0x1ef402);
	CHECK(p.ghosts.waiting() == (succeeds ? 0 : 1));
	REQUIRE(two.admin.run(log(log_ccr, 16, 1)) == st_ok);
	auto &page = two.admin.data();
	CHECK(get<std::uint16_t>(page, 0) == 1);
	CHECK(get<std::uint16_t>(page, 8) == one.admin.cntlid());
	CHECK(page[10] == one.ciu);
	CHECK(get<std::uint16_t>(page, 12) == two.admin.cntlid());
	CHECK(page[14] == (succeeds ? ccr_success : ccr_failed));
	CHECK(page[15] == (ccr_validated | ccr_initiated));
	REQUIRE(two.admin.run(log(log_ccr, 16)) == st_ok);
	CHECK(get<std::uint16_t>(two.admin.data(), 0) == 0); // removed when read
}

TEST_CASE("more Cross-Controller Resets than the limit")
{
	Pair p;
	Controller one(p.a, 10000), two(p.a, 10000), three(p.a, 10000), source(p.b);
	p.b.setCcr({5s});
	CHECK(source.admin.run(source.resetOf(one)) == st_ok);
	CHECK(source.admin.run(source.resetOf(two)) == st_ok);
	CHECK(source.admin.run(source.resetOf(three)) == st_ccr_limit);
}

TEST_CASE("a port behind a network that loses everything, for a while")
{
	Pair p;
	Controller one(p.a), two(p.b);
	p.a.silence(true);
	CHECK(one.io->run(write(0), Bytes(512, 1)) == -1);
	CHECK(two.io->run(write(1), Bytes(512, 1)) == st_ok);
	CHECK(p.stored(0) == 0);
	p.a.silence(false);
	CHECK(one.io->completion()); // late, but it comes
	CHECK(p.stored(0) == 1);
}
