// SPDX-License-Identifier: LGPL-2.1-or-later
// A host of a few lines, for the tests of the target itself.
#pragma once

#include "server.h"

#include <catch2/catch.hpp>
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <optional>
#include <system_error>

namespace target {

inline constexpr const char *host_nqn = "nqn.2024-01.io.nvmeof:self";

// One queue of a controller, one command at a time. Throws where it cannot be had.
class Queue {
public:
	// wanted: what becomes of the Connect, as of run()
	explicit Queue(const Server &server, std::uint16_t cntlid = 0xffff, std::uint32_t kato = 0,
		       const std::string &nqn = {}, int wanted = st_ok)
		: socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0))
	{
		sockaddr_in to{};
		to.sin_family = AF_INET;
		to.sin_port = htons(server.port());
		to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		int one = 1;
		::setsockopt(socket_.get(), IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
		timeval limit{2, 0};
		::setsockopt(socket_.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
		if (::connect(socket_.get(), reinterpret_cast<sockaddr *>(&to), sizeof(to)))
			throw std::system_error(errno, std::generic_category(), "connect");
		hello();
		id_ = connect(nqn.empty() ? server.config().nqn : nqn, cntlid, kato, wanted);
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
		for (; cqe && cqe->cid != cid_; cqe = completion())
			events_.push_back(*cqe); // commands that wait are those for events
		result_ = cqe ? std::uint64_t(cqe->result) : 0;
		return cqe ? cqe->status >> 1 : -1;
	}

	// What an Asynchronous Event Request sent before has come to, in the form of event(); 0: nothing
	std::uint32_t event()
	{
		if (events_.empty())
			if (auto cqe = completion())
				events_.push_back(*cqe);
		if (events_.empty())
			return 0;
		auto result = static_cast<std::uint32_t>(events_.front().result & 0xffffff);
		events_.pop_front();
		return result;
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
		if (n && ::send(socket_.get(), at, n, MSG_NOSIGNAL) != static_cast<ssize_t>(n))
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

	std::uint16_t connect(const std::string &nqn, std::uint16_t cntlid, std::uint32_t kato, int wanted)
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
		REQUIRE(run(cmd, data) == wanted);
		return static_cast<std::uint16_t>(result_);
	}

	Fd socket_;
	std::uint16_t cid_ = 0, id_ = 0;
	Bytes data_;
	std::uint64_t result_ = 0;
	std::deque<Completion> events_;
};

inline Command command(std::uint8_t opcode, std::uint32_t cdw10 = 0)
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

// Get Log Page; retain: the event that told of a change is not cleared by it
inline Command logPiece(std::uint8_t page, std::uint64_t offset, std::uint32_t bytes, bool retain = false)
{
	auto numd = bytes / 4 - 1;
	auto cmd = command(op_get_log, page | std::uint32_t(retain) << 15 | numd << 16);
	cmd.cdw11 = numd >> 16;
	cmd.cdw12 = static_cast<std::uint32_t>(offset);
	cmd.cdw13 = static_cast<std::uint32_t>(offset >> 32);
	cmd.sgl.length = bytes;
	return cmd;
}

inline Command propertySet(std::uint32_t property, std::uint32_t value)
{
	Command cmd{};
	cmd.opcode = op_fabrics;
	cmd.cdw11 = property;
	cmd.cdw12 = value;
	return cmd;
}

inline Command propertyGet(std::uint32_t property)
{
	Command cmd{};
	cmd.opcode = op_fabrics;
	cmd.nsid = fc_property_get;
	cmd.cdw10 = 1; // eight bytes
	cmd.cdw11 = property;
	return cmd;
}

// As the result of an Asynchronous Event Request tells it
constexpr std::uint32_t resultOf(AsyncEvent e)
{
	return e.type | std::uint32_t(e.info) << 8 | std::uint32_t(e.log) << 16;
}

} // namespace target
