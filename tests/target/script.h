// SPDX-License-Identifier: LGPL-2.1-or-later
// The points at which a connection consults the armed misbehaviour, and the possible verdicts.
#pragma once

#include "wire.h"

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>

namespace target {

class Connection;
struct Answer;
struct Misbehaviour;

// Points at which a misbehaviour can act; each says which members of Strike are set.
enum class Hook {
	accept,    // a connection was accepted; nothing has been read yet
	cmAccept,  // RDMA only: a connect request is about to be accepted; data: private data. failed: reject it
	icResp,    // pdu: the ICResp
	command,   // cmd has arrived with its in-capsule data and is not executed yet
	execute,   // an I/O command and all its data have arrived; it is not executed yet
	connected, // value: result of a Connect: controller ID and AUTHREQ
	message,   // data: message of DH-HMAC-CHAP that Authentication Receive returns
	generated, // data: a key of TLS that an authentication has generated; empty: the target forgets it
	tls,       // TCP only; a TLS handshake has begun. pass: the target does its part; other verdicts: it does not
	property,  // value: result of a Property Get
	adminData, // data: data that an admin command returns
	discovery, // data: one block of the discovery log; value: block number, 0 is the header
	zones,     // data: a zone report
	report,    // data: a reservation report
	feature,   // value: result of Get Features or Set Features
	c2hData,   // pdu: DataPdu about to be sent, with its data
	r2t,       // pdu: R2tPdu about to be sent
	response,  // pdu: ResponsePdu about to be sent
	answer,    // RDMA only; answer: the work requests that will answer cmd
	h2cData,   // part of the data of cmd has arrived
	wire,      // raw: a whole PDU as sent, including digests
};

// The fate of the event at the hook.
enum class Verdict {
	pass,
	drop,          // not done or not sent
	twice,         // sent twice
	close,         // sent, then the connection is closed with FIN
	urgent,        // sent as urgent data of TCP
	abort,         // half of it is sent, then the connection is reset
	slow,          // sent byte by byte, 200 ms apart
	crawl,         // sent byte by byte, 1 s apart
	mute,          // from now on the connection reads but sends nothing
	hold,          // hook command: deferred until Server::releaseHeld()
	failed,        // hooks command, execute and message: completed with Strike::status
	stall,         // hook execute: not completed; a write is kept in Subsystem::stalledWrites()
	stallSilently, // as stall, and all connections of the controller go silent, as if the network dropped packets
};

// One opportunity to misbehave. The Hook says which pointers are set.
struct Strike {
	Connection &conn;
	std::uint16_t qid = 0;
	const Command *cmd = nullptr;
	Bytes *pdu = nullptr;  // header without digest; its length fields are sent unchanged
	Bytes *data = nullptr; // payload of the PDU or of the admin command
	Bytes *raw = nullptr;
	std::uint64_t *value = nullptr;
	Answer *answer = nullptr;
	Verdict verdict = Verdict::pass;
	std::uint16_t status = 0;
	std::function<void()> after = {}; // called after the event at the hook has been handled

	bool io() const { return qid != 0 && cmd && cmd->opcode != op_fabrics; }
	bool is(std::uint8_t opcode) const { return cmd && cmd->opcode == opcode; }
	bool ioWrite() const { return qid != 0 && is(op_write); }
	bool ioRead() const { return qid != 0 && is(op_read); }
	bool admin(std::uint8_t opcode) const { return qid == 0 && is(opcode); }
	bool identify(std::uint8_t cns) const { return admin(op_identify) && (cmd->cdw10 & 0xff) == cns; }
	bool log(std::uint8_t page) const { return admin(op_get_log) && (cmd->cdw10 & 0xff) == page; }

	template <class Pdu> Pdu &as() { return *reinterpret_cast<Pdu *>(pdu->data()); }
};

// Holds the armed misbehaviour, if any. Thread-safe.
class Script {
public:
	static constexpr int forever = -1;

	void arm(const Misbehaviour &what, int times = 1);
	void arm(const Misbehaviour &&what, int times = 1) = delete; // would dangle: a reference is kept
	void disarm();
	// Calls the armed misbehaviour if it belongs to this hook.
	void offer(Hook hook, Strike &strike);

	std::uint64_t strikes() const;
	bool waitStrikes(std::uint64_t count, std::chrono::milliseconds timeout) const;

private:
	mutable std::mutex lock_;
	mutable std::condition_variable struck_;
	const Misbehaviour *armed_ = nullptr;
	int left_ = 0;
	std::uint64_t strikes_ = 0;
};

} // namespace target
