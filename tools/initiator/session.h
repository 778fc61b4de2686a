// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * An association with a controller, by its admin queue alone: brought up as a host does it, one command after the
 * other, and kept by keep-alives. Then it is the user's, who has one command under way at most, and an event request.
 */
#pragma once

#include "page.h"
#include "queue.h"

namespace initiator {

struct Who {
	std::string hostnqn;
	std::array<std::uint8_t, 16> hostid{};
};

struct SessionOptions {
	std::string subsysnqn;
	bool discovery = true; // it has to be a discovery controller
	Dialogue::Digests digests = {};
	std::uint32_t kato = 0;                        // ms; 0: the association ends when nothing is said for a while
	std::uint32_t events = 0;                      // that are wanted, as of Set Features; those that there are
	std::chrono::milliseconds patience{10000};     // for an answer
	std::chrono::milliseconds longestReady{30000}; // to wait for CSTS.RDY, if the controller wants more than that
};

constexpr std::uint32_t want_discovery_changes = 1u << 31, want_ana_changes = 1u << 11;

// What a controller has told of itself
struct Told {
	std::uint64_t cap = 0;
	std::uint32_t vs = 0;
	std::uint32_t oaes = 0, ctratt = 0;
	std::uint32_t anaGroupMax = 0, anaGroups = 0; // ANAGRPMAX, NANAGRPID
	std::uint32_t namespaces = 0, mostNamespaces = 0;
	std::uint32_t events = 0; // that it will tell of
	std::uint16_t cntlid = 0;
	std::uint16_t kas = 0;
	std::uint8_t mdts = 0, lpa = 0, cntrltype = 0, dctype = 0, anacap = 0, cmic = 0;

	bool offsets() const { return lpa >> 2 & 1; } // of Get Log Page
	// Most bytes of one transfer, up to @most
	std::uint32_t longest(std::uint32_t most) const;
};

class Session : Queue::User, serving::Wheel::Alarm {
public:
	using Data = Queue::Data;

	class User {
	public:
		// A step has been done. The session is not to be ended by it.
		virtual void passed(Step step) = 0;
		// It is all yours. This and what follows may do anything to the session.
		virtual void live() = 0;
		virtual void data(std::uint32_t offset, Data data) = 0;
		virtual void done(const nofctl::wire::Completion &completion) = 0;
		virtual void event(const nofctl::wire::Completion &completion) = 0;
		virtual void failed(const Failure &failure) = 0; // It is closed.
		virtual void odd(const char *what) = 0;          // Dialogue::News::odd

	protected:
		~User() = default;
	};

	Session(Shared &shared, User &user) : shared_(shared), user_(user), queue_(shared, *this) {}

	// Makes a socket ahead of time.
	bool prepare(const Endpoint &to) { return queue_.prepare(to); }
	// @who and @options have to stay. @pause: go on by greet() only, when TCP has been passed
	void open(const Endpoint &to, const Who &who, const SessionOptions &options, bool pause = false);
	void greet();
	void close();

	bool isOpen() const { return queue_.isOpen(); }
	bool isLive() const { return isOpen() && step_ == Step::live; }
	bool busy() const { return queue_.busy(Slot::command); }
	bool armed() const { return queue_.busy(Slot::event); }
	const Told &told() const { return told_; }

	// It is live and not busy. @data: have to stay until it is done; @expected: bytes that come
	void run(const nofctl::wire::Command &cmd, std::uint32_t expected = 0, Data data = {});
	// It is live and not armed: asks for an event.
	void arm();

private:
	void rang() override;
	void connected() override;
	void ready() override;
	void data(std::uint32_t offset, Data data) override;
	void done(Slot slot, const nofctl::wire::Completion &completion) override;
	void failed(const Failure &failure) override;
	void odd(const char *what) override { user_.odd(what); }

	void pass(Step next);
	void submit(const nofctl::wire::Command &cmd, std::uint32_t expected = 0);
	void sendConnect();
	void advance(const nofctl::wire::Completion &completion);
	void lookReady(std::uint32_t csts);
	void identified();
	void configureEvents();
	void becomeLive();
	void learn(Data identify);
	void keepAlive();
	void fail(Failure failure);
	void unusable(const char *what) { fail({Reason::unusable, step_, 0, what}); }

	Shared &shared_;
	User &user_;
	Queue queue_;
	const Who *who_ = nullptr;
	const SessionOptions *options_ = nullptr;
	serving::Wheel::Clock::time_point until_; // by then it has to be ready
	Told told_;
	Page page_;
	Step step_ = Step::tcp;
	bool pause_ = false;
	bool heard_ = false; // since the last keep-alive
};

} // namespace initiator
