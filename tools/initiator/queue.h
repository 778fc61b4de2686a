// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * An admin queue over NVMe/TCP: one connection, driven by a loop. It blocks nowhere, waits for nothing without a
 * deadline, and keeps no data: what comes is handed on as it comes.
 */
#pragma once

#include <memory>

#include "dialogue.h"
#include "endpoint.h"
#include "failure.h"
#include "serving/poller.h"
#include "serving/wheel.h"

namespace initiator {

// What the queues of one thread have in common
struct Shared {
	explicit Shared(serving::Loop &loop) : poller(loop), wheel(loop), received(128 * 1024) {}

	serving::Poller poller;
	serving::Wheel wheel;
	std::vector<std::uint8_t> received; // while it is looked at
	nofctl::wire::Bytes sent;           // while it is made
	std::uint64_t bytesIn = 0, bytesOut = 0;
	std::uint64_t commands = 0;  // that were sent
	std::uint64_t exchanges = 0; // answers to ICReq and to commands
	std::uint64_t writes = 0;    // to sockets
};

class Queue : serving::Poller::Handler, serving::Wheel::Alarm {
public:
	using Data = std::span<const std::uint8_t>;
	using Duration = serving::Wheel::Clock::duration;

	// Each of them may do anything to the queue, end it too.
	class User {
	public:
		virtual void connected() = 0; // over TCP: greet() is next
		virtual void ready() = 0;     // ICResp has come
		virtual void data(std::uint32_t offset, Data data) = 0;
		virtual void done(Slot slot, const nofctl::wire::Completion &completion) = 0;
		virtual void failed(const Failure &failure) = 0; // It is closed. The step is the user's to say.
		virtual void odd(const char *what) = 0;          // Dialogue::News::odd

	protected:
		~User() = default;
	};

	Queue(Shared &shared, User &user) : shared_(shared), user_(user) {}
	~Queue();
	Queue(const Queue &) = delete;
	Queue &operator=(const Queue &) = delete;

	// Makes a socket ahead of time, for whoever wants open() to be quick. False: errno tells why.
	bool prepare(const Endpoint &to);
	// It is closed. What comes of it is told later, also what fails at once.
	void open(const Endpoint &to, Duration timeout);
	void greet(Dialogue::Digests digests, Duration timeout);
	// It is ready, and the slot is free. @data: have to stay until it is done. The slot keepAlive has no timeout:
	// who sends it looks whether the last one is still open.
	void submit(Slot slot, const nofctl::wire::Command &cmd, Data data, std::uint32_t expected, Duration timeout);
	void close();

	bool isOpen() const { return state_ != State::closed; }
	bool busy(Slot slot) const { return dialogue_.open(slot); }

private:
	enum class State : std::uint8_t { closed, failing, connecting, open };

	void ready(std::uint32_t events) override;
	void threw() override;
	void rang() override;
	bool connected();
	void receive(bool toTheEnd);
	bool take(Data bytes);
	bool tell(const Dialogue::News &news);
	void send();
	void flush();
	void keep(Data rest);
	void fail(const Failure &failure);
	void failLater(int error);
	void wait(Duration timeout) { shared_.wheel.set(*this, timeout); }

	Shared &shared_;
	User &user_;
	Dialogue dialogue_;
	std::unique_ptr<nofctl::wire::Bytes> unsent_; // what the socket did not take
	bool *ended_ = nullptr;                       // is made true when this connection ends
	int fd_ = -1;
	int error_ = 0; // failing: errno
	State state_ = State::closed;
};

} // namespace initiator
