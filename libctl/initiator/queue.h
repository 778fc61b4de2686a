// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * An admin queue over NVMe/TCP: one connection, driven by an event loop. It does not block, every wait has a deadline,
 * and received data are passed on without a copy.
 */
#pragma once

#include <memory>
#include <optional>
#include <sys/socket.h>

#include <nvmeof/address.h>

#include "admin_codec.h"
#include "failure.h"
#include "libctl/runtime/loop.h"
#include "libctl/runtime/wheel.h"

namespace initiator {

// A fabric address as a socket address
struct Endpoint {
	sockaddr_storage address{};
	socklen_t length = 0;

	int family() const { return address.ss_family; }
	// Absent: the address is not numeric, or its scope does not exist on this machine.
	static std::optional<Endpoint> of(const nvmeof::Address &address);
};

// Resources shared by the queues of one thread
struct Shared {
	explicit Shared(runtime::Loop &loop) : poller(loop), wheel(loop), received(128 * 1024) {}

	runtime::Poller poller;
	runtime::Wheel wheel;
	std::vector<std::uint8_t> received; // receive buffer
	nofctl::wire::Bytes sent;           // send buffer
	std::uint64_t bytesIn = 0, bytesOut = 0;
	std::uint64_t commands = 0;  // sent
	std::uint64_t exchanges = 0; // responses to ICReq and to commands
	std::uint64_t writes = 0;    // to sockets
};

class Queue : runtime::Poller::Handler, runtime::Wheel::Alarm {
public:
	using Data = std::span<const std::uint8_t>;
	using Duration = runtime::Wheel::Clock::duration;

	// Callbacks. Each may do anything with the queue, including to destroy it.
	class User {
	public:
		virtual void connected() = 0; // TCP connection established: call greet()
		virtual void ready() = 0;     // ICResp received
		virtual void data(std::uint32_t offset, Data data) = 0;
		virtual void done(Slot slot, const nofctl::wire::Completion &completion) = 0;
		virtual void failed(const Failure &failure) = 0; // The queue is closed. The user sets the step.
		virtual void onViolation(const char *what) = 0;  // AdminCodec::Received::violation

	protected:
		~User() = default;
	};

	Queue(Shared &shared, User &user) : shared_(shared), user_(user) {}
	~Queue();
	Queue(const Queue &) = delete;
	Queue &operator=(const Queue &) = delete;

	// Creates a socket in advance, so that open() is faster. False: errno has the reason.
	bool prepare(const Endpoint &to);
	// The queue has to be closed. The outcome is reported by a later callback, also an immediate failure.
	void open(const Endpoint &to, Duration timeout);
	void greet(AdminCodec::Digests digests, Duration timeout);
	// The queue has to be ready and the slot free. @data has to stay valid until the command completes. The slot
	// keepAlive has no timeout: its sender checks whether the previous command is still outstanding.
	void submit(Slot slot, const nofctl::wire::Command &cmd, Data data, std::uint32_t expected, Duration timeout);
	void close();

	bool isOpen() const { return state_ != State::closed; }
	bool busy(Slot slot) const { return codec_.open(slot); }

private:
	enum class State : std::uint8_t { closed, failing, connecting, open };

	void ready(std::uint32_t events) override;
	void threw() override;
	void onDeadline() override;
	bool connected();
	void receive(bool toTheEnd);
	bool take(Data bytes);
	bool tell(const AdminCodec::Received &received);
	void send();
	void flush();
	void keep(Data rest);
	void fail(const Failure &failure);
	void failLater(int error);
	void wait(Duration timeout) { shared_.wheel.set(*this, timeout); }

	Shared &shared_;
	User &user_;
	AdminCodec codec_;
	std::unique_ptr<nofctl::wire::Bytes> unsent_; // not accepted by the socket yet
	bool *ended_ = nullptr;                       // set to true when this connection ends
	int fd_ = -1;
	int error_ = 0; // errno in state failing
	State state_ = State::closed;
};

} // namespace initiator
