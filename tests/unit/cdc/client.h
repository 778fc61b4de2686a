// SPDX-License-Identifier: LGPL-2.1-or-later
// Workers that listen on this machine, and a minimal host that can send arbitrary bytes.
#pragma once

#include <catch2/catch.hpp>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "free_port.h"
#include "sample.h"
#include "worker.h"

namespace cdc {

using namespace nofctl::wire;

inline std::uint16_t portOf(int socket)
{
	sockaddr_in address{};
	socklen_t length = sizeof(address);
	::getsockname(socket, reinterpret_cast<sockaddr *>(&address), &length);
	return ntohs(address.sin_port);
}

// Returns a listening socket on a free port. @sendBuffer: of its connections, in bytes; 0: the default
inline int anySocket(std::uint16_t &port, int sendBuffer = 0)
{
	const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (sendBuffer)
		REQUIRE(::setsockopt(socket, SOL_SOCKET, SO_SNDBUF, &sendBuffer, sizeof(sendBuffer)) == 0);
	const sockaddr_in address = loopback(0);
	REQUIRE(::bind(socket, reinterpret_cast<const sockaddr *>(&address), sizeof(address)) == 0);
	REQUIRE(::listen(socket, 128) == 0);
	port = portOf(socket);
	return socket;
}

struct Front {
	explicit Front(int targets = 3, const FrontRules &rules = {}, int sendBuffer = 0)
		: sample(targets), context({selfId, "nqn.self", "serial", "0"}, rules)
	{
		context.registration = [this](Worker &its, RegistrationRequest request) {
			registrations++;
			its.registered(request.connection, request.cid, st_ok);
		};
		worker = std::make_unique<Worker>(context, std::vector<int>{anySocket(port, sendBuffer)}, sample.views);
	}
	void change(int target)
	{
		sample.tell({putOf(someTarget(target))});
		worker->publish(sample.views);
	}

	Sample sample;
	ServerContext context;
	std::uint16_t port = 0;
	std::atomic<int> registrations{0};
	std::unique_ptr<Worker> worker;
};

class Client {
public:
	explicit Client(const Front &front) : Client(front.port) {}
	explicit Client(std::uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0))
	{
		const timeval limit{10, 0};
		::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
		connectTo(socket_, port);
	}
	virtual ~Client() { ::close(socket_); }
	Client(const Client &) = delete;
	Client &operator=(const Client &) = delete;

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
	// Returns the status of the Connect command.
	int connect(const std::string &hostnqn = "nqn.host", std::uint8_t attributes = 0)
	{
		Connect connect;
		connect.subsysnqn = wellKnownDiscoveryNqn;
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
	// Returns the status; the data are in @data. -1: the connection has ended; -2: an R2T came.
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
				takeTerm();
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
		(void)!transmit(bytes); // a later read notices the end
	}
	// Reads the next PDU. Returns false at the end of the connection.
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
			const auto n = obtain(room);
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
				takeTerm();
		return true;
	}

	int socket() const { return socket_; }

	PduFormat format;
	Pdu pdu;
	Completion cqe{};
	Bytes data;
	std::uint16_t cid = 0, fes = 0;
	std::uint32_t fei = 0;

protected:
	virtual ssize_t transmit(std::span<const std::uint8_t> bytes)
	{
		return ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
	}
	virtual ssize_t obtain(std::span<std::uint8_t> room) { return ::recv(socket_, room.data(), room.size(), 0); }

private:
	void takeTerm()
	{
		fes = pdu.as<TermPdu>().fes;
		fei = pdu.as<TermPdu>().fei;
	}

	int socket_;
	Bytes stream_;
};

inline Registration someRegistration(std::size_t interfaces)
{
	Registration host{dim_host, "nqn.host", {}, "node", "Linux", {}};
	for (std::size_t i = 0; i < interfaces; i++)
		host.interfaces.push_back(makeInterface(tr_tcp, host.nqn, "10.0.0." + std::to_string(i)));
	return host;
}

inline Command dim(std::size_t length)
{
	Command cmd{};
	cmd.opcode = op_dim;
	cmd.sgl.type = sgl_transport;
	cmd.sgl.length = static_cast<std::uint32_t>(length);
	return cmd;
}

inline DataPdu h2cData(const Client &client, std::uint32_t offset, std::size_t length, bool last)
{
	auto out = make<DataPdu>(pdu_h2c_data);
	out.cid = client.cid;
	out.ttag = client.pdu.as<R2tPdu>().ttag;
	out.offset = offset;
	out.length = static_cast<std::uint32_t>(length);
	out.h.flags = last ? f_last : 0;
	return out;
}

} // namespace cdc
