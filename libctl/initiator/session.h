// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * An association with a controller through its admin queue only. Connects and initializes the controller like a host,
 * one command after the other, and sends keep-alives. When live, the user has at most one command and one event request
 * outstanding.
 */
#pragma once

#include <memory>

#include "libctl/wire/bytes.h"
#include "queue.h"

namespace initiator {

// A short page of data that is needed as a whole. It usually arrives in one piece and is not copied then.
class Page {
public:
	using Data = std::span<const std::uint8_t>;

	// Takes received data, in order. Returns all @length bytes once they are complete, valid until the next call;
	// else an empty span
	Data take(std::uint32_t offset, Data data, std::size_t length)
	{
		if (offset == 0)
			parts_.reset();
		if (offset == 0 && data.size() == length)
			return data;
		if (!parts_)
			parts_ = std::make_unique<nofctl::wire::Bytes>();
		nofctl::wire::append(*parts_, data);
		return parts_->size() == length ? Data(*parts_) : Data();
	}
	void clear() { parts_.reset(); }

private:
	std::unique_ptr<nofctl::wire::Bytes> parts_;
};

struct HostIdentity {
	std::string hostnqn;
	std::array<std::uint8_t, 16> hostid{};
};

struct SessionOptions {
	std::string subsysnqn;
	bool discovery = true; // require a discovery controller
	AdminCodec::Digests digests = {};
	std::uint32_t kato = 0;                        // ms; 0: none, so the association may end when idle
	std::uint32_t events = 0;                      // events to enable, if supported; Set Features
	std::chrono::milliseconds patience{10000};     // per response
	std::chrono::milliseconds readyTimeout{30000}; // limit of the wait for CSTS.RDY
};

constexpr std::uint32_t wantDiscoveryChanges = 1u << 31, wantAnaChanges = 1u << 11;

// Identity and capabilities as the controller reports them
struct ControllerInfo {
	std::uint64_t cap = 0;
	std::uint32_t vs = 0;
	std::uint32_t oaes = 0, ctratt = 0;
	std::uint32_t anaGroupMax = 0, anaGroups = 0; // ANAGRPMAX, NANAGRPID
	std::uint32_t namespaces = 0, maxNamespaces = 0;
	std::uint32_t events = 0; // enabled events
	std::uint16_t cntlid = 0;
	std::uint16_t kas = 0;
	std::uint8_t mdts = 0, lpa = 0, cntrltype = 0, dctype = 0, anacap = 0, cmic = 0;

	bool offsets() const { return lpa >> 2 & 1; } // offsets in Get Log Page
	// Maximum bytes of one transfer, up to @max
	std::uint32_t maxTransfer(std::uint32_t max) const;
};

class Session : Queue::User, runtime::Wheel::Alarm {
public:
	using Data = Queue::Data;

	class User {
	public:
		// A step has completed. Must not close the session.
		virtual void passed(Step step) = 0;
		// The session is live. This and the following callbacks may do anything with the session.
		virtual void live() = 0;
		virtual void data(std::uint32_t offset, Data data) = 0;
		virtual void done(const nofctl::wire::Completion &completion) = 0;
		virtual void event(const nofctl::wire::Completion &completion) = 0;
		virtual void failed(const Failure &failure) = 0; // The session is closed.
		virtual void onViolation(const char *what) = 0;  // AdminCodec::Received::violation

	protected:
		~User() = default;
	};

	Session(Shared &shared, User &user) : shared_(shared), user_(user), queue_(shared, *this) {}

	// Creates a socket in advance.
	bool prepare(const Endpoint &to) { return queue_.prepare(to); }
	// @who and @options have to stay valid. @pause: wait for greet() after the TCP connection
	void open(const Endpoint &to, const HostIdentity &who, const SessionOptions &options, bool pause = false);
	void greet();
	void close();

	bool isOpen() const { return queue_.isOpen(); }
	bool isLive() const { return isOpen() && step_ == Step::live; }
	bool busy() const { return queue_.busy(Slot::command); }
	bool armed() const { return queue_.busy(Slot::event); }
	const ControllerInfo &info() const { return info_; }

	// The session has to be live and not busy. @data has to stay valid until the command completes; @expected:
	// bytes to be received
	void run(const nofctl::wire::Command &cmd, std::uint32_t expected = 0, Data data = {});
	// Sends an Asynchronous Event Request. The session has to be live and not armed.
	void arm();

private:
	void onDeadline() override;
	void connected() override;
	void ready() override;
	void data(std::uint32_t offset, Data data) override;
	void done(Slot slot, const nofctl::wire::Completion &completion) override;
	void failed(const Failure &failure) override;
	void onViolation(const char *what) override { user_.onViolation(what); }

	void pass(Step next);
	void submit(const nofctl::wire::Command &cmd, std::uint32_t expected = 0);
	void sendConnect();
	void advance(const nofctl::wire::Completion &completion);
	void lookReady(std::uint32_t csts);
	void identified();
	void becomeLive();
	void learn(Data identify);
	void keepAlive();
	void fail(Failure failure);
	void unusable(const char *what) { fail({Reason::unusable, step_, 0, what}); }

	Shared &shared_;
	User &user_;
	Queue queue_;
	const HostIdentity *identity_ = nullptr;
	const SessionOptions *options_ = nullptr;
	runtime::Wheel::Clock::time_point until_; // deadline of CSTS.RDY
	ControllerInfo info_;
	Page page_;
	Step step_ = Step::tcp;
	bool pause_ = false;
	bool sawTraffic_ = false; // a completion was received since the last keep-alive
};

} // namespace initiator
