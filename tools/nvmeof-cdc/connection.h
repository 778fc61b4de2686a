// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * An NVMe/TCP connection of a host: receives and sends PDUs and checks time limits. It never blocks: unsent output and
 * incomplete input are buffered within bounds. Used only by the thread of its worker.
 */
#pragma once

#include <memory>
#include <span>

#include "controller.h"
#include "latency.h"
#include "libctl/runtime/loop.h"
#include "libctl/wire/bytes.h"
#include "libctl/wire/pdu.h"
#include "output.h"
#include "peer_limits.h"
#include "security.h"
#include "tls_stream.h"

namespace cdc {

class Worker;

class Connection final : public runtime::Poller::Handler {
public:
	// Takes ownership of @socket
	Connection(Worker &worker, std::uint64_t id, int socket, const Peer &peer, SteadyMs now);
	~Connection();
	Connection(const Connection &) = delete;
	Connection &operator=(const Connection &) = delete;

	void ready(std::uint32_t events) override;
	void threw() override { finish(false); }
	// Admits the waiting Connect command; refuseBusy() completes it with Connect Controller Busy.
	void admit();
	void refuseBusy();
	void registrationDone(std::uint16_t cid, std::uint16_t status);
	void tell(const std::shared_ptr<const Views> &views);
	// Whether a time limit has passed
	bool late(SteadyMs now) const;
	// Whether the connection has used its admission for long enough without reading the log
	bool admissionExpired(SteadyMs now) const { return admittedUntil_ && now > admittedUntil_; }
	void releaseAdmission();
	// Decides anew whether the session may stay, after a change of rules or keys. If not, it ends within the time
	// of FrontRules. Whether it has to
	bool review(SteadyMs now);
	// Why the session has to end now; none: it has not
	Refusal revoked(SteadyMs now) const { return revokedAt_ && now > revokedAt_ ? revocation_ : Refusal::none; }

	std::uint64_t id() const { return id_; }
	const Controller *controller() const { return controller_.get(); }
	// Whether the host is served: it has authenticated itself, or need not
	bool admits() const { return !authenticator_ || authenticator_->proof(); }
	std::optional<Authenticator::Proof> proof() const
	{
		return authenticator_ ? authenticator_->proof() : std::nullopt;
	}
	std::optional<TlsPeer> tlsPeer() const { return tls_ ? std::optional(tls_->peer()) : std::nullopt; }
	const std::string &registered() const { return registered_; }
	const Peer &peer() const { return peer_; }
	SteadyMs since() const { return since_; }

private:
	enum class State : std::uint8_t { handshake, hello, connect, waiting, live, ending };

	// A command whose data is transferred after an R2T; a registration has reserved memory for it
	struct Transfer {
		nofctl::wire::Command cmd;
		nofctl::wire::Bytes data;
		std::uint32_t length;
		std::shared_ptr<void> reservation;
		SteadyMs since;
	};
	// A Connect command that waits for admission
	struct Pending {
		nofctl::wire::Connect connect;
		std::uint16_t cid;
		Latency::Clock::time_point received;
	};
	// A registration that is being written to the store
	struct Registering {
		std::string nqn; // empty: deregistration
		Latency::Clock::time_point received;
	};

	bool receive();
	bool beginsTls();
	bool shakeHands();
	Access accessFor(const std::string &hostnqn, const std::string &subsysnqn) const;
	bool consume(std::span<const std::uint8_t> stream);
	bool process(std::span<const std::uint8_t> stream);
	bool take(const nofctl::wire::Pdu &pdu);
	bool takeHello(const nofctl::wire::IcReq &request);
	bool takeCommand(const nofctl::wire::Pdu &pdu);
	bool takeConnect(const nofctl::wire::Command &cmd, std::span<const std::uint8_t> data);
	bool refuses(const Pending &pending, Access &access);
	bool takeAuthentication(const nofctl::wire::Command &cmd, std::span<const std::uint8_t> data);
	bool takeRegistration(const nofctl::wire::Command &cmd, std::span<const std::uint8_t> data,
			      std::shared_ptr<void> reservation);
	std::shared_ptr<void> reserve(const nofctl::wire::Command &cmd, std::size_t bytes);
	bool takeInCapsule(const nofctl::wire::Command &cmd, std::span<const std::uint8_t> data);
	bool takeTransfer(const nofctl::wire::Command &cmd);
	void sendR2t(const nofctl::wire::Command &cmd, std::uint32_t length, std::shared_ptr<void> reservation);
	bool leave();
	bool takeData(const nofctl::wire::Pdu &pdu);
	void acceptConnect(const Pending &pending);
	void answer(const nofctl::wire::Command &cmd, const Answer &answer);
	void complete(std::uint16_t cid, std::uint16_t status, std::uint64_t result = 0);
	void completeConnect(const Pending &pending, std::uint16_t status, std::uint64_t result = 0);
	void completeRegistration(std::uint16_t cid, std::uint16_t status, Latency::Clock::time_point received);
	void sendData(std::uint16_t cid, const Answer &answer);
	void sendEvents();
	bool sendTermReq(const nofctl::wire::PduFault &fault, std::span<const std::uint8_t> head);
	// @fei: with fes_header and fes_parameter the offset of the field in the PDU header
	bool fault(nofctl::wire::FatalStatus fes, const char *why, std::span<const std::uint8_t> head,
		   std::uint32_t fei = 0);
	bool flush();
	std::unique_ptr<nofctl::wire::Bytes> unpause();
	bool resume();
	bool reading() const { return !paused_ && state_ != State::waiting && state_ != State::ending; }
	void watch();
	void finish(bool good);
	std::size_t longest() const;
	void end();

	Worker &worker_;
	const std::uint64_t id_;
	int socket_;
	Peer peer_;
	State state_ = State::hello;
	bool sqFlow_ = true;
	bool paused_ = false; // no further commands are processed until the output is sent
	std::uint16_t sqhd_ = 0, entries_ = 0;
	nofctl::wire::PduFormat format_;
	SteadyMs since_;                      // the connection was made, or the last command was received
	SteadyMs inputSince_ = 0;             // since when input is awaited; 0: none is
	SteadyMs outputSince_ = 0;            // since when no output could be sent; 0: no output is pending
	Latency::Clock::time_point received_; // last input
	SteadyMs admittedUntil_ = 0;          // when the admission ends at the latest; 0: not admitted
	SteadyMs revokedAt_ = 0;              // when the session has to end, because of @revocation_; 0: it may stay
	Refusal revocation_ = Refusal::none;
	std::unique_ptr<nofctl::wire::Bytes> pendingInput_; // incomplete PDU
	std::unique_ptr<Output> pendingOutput_;
	std::unique_ptr<Transfer> transfer_;
	std::unique_ptr<Pending> pending_;
	bool plain_ = false;             // no handshake of TLS came first
	bool shaking_ = false;           // it counts as a handshake that has not succeeded
	std::unique_ptr<TlsStream> tls_; // null without TLS
	std::unique_ptr<Controller> controller_;
	std::unique_ptr<Authenticator> authenticator_; // null: the host need not authenticate itself
	std::unique_ptr<Registering> registering_;     // one at a time
	std::string registered_;                       // NQN registered over this connection
};

} // namespace cdc
