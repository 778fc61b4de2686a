// SPDX-License-Identifier: LGPL-2.1-or-later
// A minimal host for the target's own tests.
#pragma once

#include "server.h"
#include "tls_session.h"

#include <catch2/catch.hpp>
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <memory>
#include <optional>
#include <system_error>
#include <thread>

namespace target {

inline constexpr const char *hostNqn = "nqn.2024-01.io.nvmeof:self";

// One queue of a controller, one command at a time. Throws if the connection fails.
class Queue {
public:
	// wanted: expected result of the Connect, as returned by run(); ioQueue: identifier, if cntlid is given
	explicit Queue(const Server &server, std::uint16_t cntlid = 0xffff, std::uint32_t kato = 0,
		       const std::string &nqn = {}, int wanted = st_ok, std::uint16_t ioQueue = 1)
		: Queue(server, nullptr, cntlid, kato, nqn, wanted, ioQueue)
	{
	}
	// psk: with TLS, by this key
	Queue(const Server &server, const nofctl::DerivedPsk *psk, std::uint16_t cntlid = 0xffff,
	      std::uint32_t kato = 0, const std::string &nqn = {}, int wanted = st_ok, std::uint16_t ioQueue = 1)
		: socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0))
	{
		sockaddr_in to{};
		to.sin_family = AF_INET;
		to.sin_port = htons(server.port());
		to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		int one = 1;
		::setsockopt(socket_.get(), IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
		setPatience(std::chrono::seconds(2));
		if (::connect(socket_.get(), reinterpret_cast<sockaddr *>(&to), sizeof(to)))
			throw std::system_error(errno, std::generic_category(), "connect");
		if (psk)
			encrypt(*psk);
		hello();
		id_ = connect(nqn.empty() ? server.config().nqn : nqn, cntlid, kato, wanted, ioQueue);
	}

	// The longest wait for a completion
	void setPatience(std::chrono::milliseconds time)
	{
		patience_ = time;
		timeval limit{time.count() / 1000, time.count() % 1000 * 1000};
		::setsockopt(socket_.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	}

	std::uint16_t cntlid() const { return id_; }

	void send(Command cmd, const Bytes &data = {})
	{
		auto pdu = make<CommandPdu>();
		cmd.cid = ++cid_;
		if (!data.empty()) {
			cmd.sgl.type = sgl_in_capsule;
			cmd.sgl.length = static_cast<std::uint32_t>(data.size());
		}
		pdu.cmd = cmd;
		Bytes out;
		write(out, pdu, {}, data);
		put(out);
	}

	// Next completion; data received before it are in data().
	std::optional<Completion> completion()
	{
		for (;;) {
			Bytes bytes(sizeof(PduHeader));
			if (!take(bytes))
				return {};
			bytes.resize(std::max<std::size_t>(decode<PduHeader>(bytes)->plen, bytes.size()));
			if (!take(std::span(bytes).subspan(sizeof(PduHeader))))
				return {};
			auto pdu = cut(bytes, {}, bytes.size());
			if (pdu.fault)
				return {};
			if (pdu.type() == pdu_c2h_data)
				append(data_, pdu.data);
			if (pdu.type() == pdu_response)
				return pdu.as<ResponsePdu>().cqe;
		}
	}

	// Status; -1: no completion
	int run(Command cmd, const Bytes &payload = {})
	{
		data_.clear();
		send(cmd, payload);
		auto cqe = completion();
		for (; cqe && cqe->cid != cid_; cqe = completion())
			events_.push_back(*cqe); // commands left outstanding are event requests
		result_ = cqe ? std::uint64_t(cqe->result) : 0;
		return cqe ? cqe->status >> 1 : -1;
	}

	// Result of an earlier Asynchronous Event Request, encoded as by event(); 0: none
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
	bool open() // false: closed by the target
	{
		char c;
		auto n = ::recv(socket_.get(), &c, 1, MSG_PEEK);
		return n > 0 || (n < 0 && errno == EAGAIN);
	}
	bool closes() // false: the target has not closed it within 30 s
	{
		const auto end = Clock::now() + std::chrono::seconds(30);
		for (; open(); std::this_thread::sleep_for(std::chrono::milliseconds(10)))
			if (Clock::now() > end)
				return false;
		return true;
	}

private:
	void encrypt(const nofctl::DerivedPsk &psk)
	{
		constexpr auto patience = std::chrono::seconds(30);
		const auto end = Clock::now() + patience;
		tls_ = std::make_unique<TlsSession>(socket_.get(), psk);
		if (!tls_->handshake([&] { return Clock::now() < end; }))
			throw std::runtime_error("TLS handshake");
	}

	void put(std::span<const std::uint8_t> bytes)
	{
		for (std::size_t done = 0; tls_ && done < bytes.size();) {
			const auto n = tls_->send(bytes.subspan(done));
			if (n <= 0)
				throw std::system_error(errno, std::generic_category(), "send over TLS");
			done += static_cast<std::size_t>(n);
		}
		if (tls_)
			return;
		if (::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) !=
		    static_cast<ssize_t>(bytes.size()))
			throw std::system_error(errno, std::generic_category(), "send");
	}
	bool take(std::span<std::uint8_t> to)
	{
		for (std::size_t done = 0; tls_ && done < to.size();) {
			const auto n = tls_->receive(to.subspan(done));
			pollfd ready{socket_.get(), POLLIN, 0};
			if (n < 0 && errno == EAGAIN && ::poll(&ready, 1, static_cast<int>(patience_.count())) > 0)
				continue;
			if (n <= 0)
				return false;
			done += static_cast<std::size_t>(n);
		}
		if (tls_)
			return true;
		return ::recv(socket_.get(), to.data(), to.size(), MSG_WAITALL) == static_cast<ssize_t>(to.size());
	}

	void hello()
	{
		Bytes out, in(sizeof(IcResp));
		write(out, make<IcReq>());
		put(out);
		REQUIRE(take(in));
	}

	std::uint16_t connect(const std::string &nqn, std::uint16_t cntlid, std::uint32_t kato, int wanted,
			      std::uint16_t ioQueue)
	{
		Connect c;
		c.qid = cntlid == anyCntlid ? 0 : ioQueue;
		c.kato = kato;
		c.cntlid = cntlid;
		c.subsysnqn = nqn;
		c.hostnqn = hostNqn;
		REQUIRE(run(c.command(), encode(c.data())) == wanted);
		return static_cast<std::uint16_t>(result_);
	}

	Fd socket_;
	std::unique_ptr<TlsSession> tls_;
	std::chrono::milliseconds patience_{0};
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
	if (opcode & 2) { // transfers data to the host
		cmd.sgl.type = sgl_transport;
		cmd.sgl.length = 65536;
	}
	return cmd;
}

} // namespace target
