// SPDX-License-Identifier: LGPL-2.1-or-later
// Where a connection asks whether it should misbehave, and how.
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

// The points at which a misbehaviour may strike.
enum class Hook {
	accept,    // a connection was accepted; nothing was read yet
	cmAccept,  // of RDMA: about to accept a connect request; data: with this private data, or rejected (failed)
	icResp,    // pdu: the ICResp
	command,   // cmd has arrived, with its in-capsule data, and was not executed
	execute,   // an I/O command and all its data are there; nothing was done with it yet
	property,  // value: what a Property Get is going to return
	adminData, // data: what an admin command returns
	discovery, // data: one block of the discovery log; value: its number, 0 is the header
	zones,     // data: a report of zones
	report,    // data: a report of reservations
	feature,   // value: result of Get or Set Features
	c2hData,   // pdu: DataPdu about to be sent; its data is in place
	r2t,       // pdu: R2tPdu about to be sent
	response,  // pdu: ResponsePdu about to be sent
	answer,    // of RDMA, answer: what is going to be done to answer cmd
	h2cData,   // a part of the data of cmd has arrived
	wire,      // raw: the bytes of a whole PDU as they go out, digests included
};

// What becomes of the thing at the hook.
enum class Verdict {
	pass,
	drop,   // it does not happen
	twice,  // it is sent two times
	close,  // it is sent, and the connection closed in the orderly way
	abort,  // half of it is sent, and the connection reset
	slow,   // it is sent byte by byte, a fifth of a second apart
	crawl,  // likewise, a second apart
	mute,   // from here on the connection reads but says nothing
	hold,   // hook command: kept until Server::releaseHeld()
	failed, // hooks command and execute: answered with Strike::status
	ghost,  // hook execute: not answered, and a write is kept for Subsystem::ghosts()
	haunt,  // likewise, and the controller falls silent on all its connections, as if the network had lost it
};

// One opportunity. Pointers are set as said at the Hook.
struct Strike {
	Connection &conn;
	std::uint16_t qid = 0;
	const Command *cmd = nullptr;
	Bytes *pdu = nullptr;  // header without digest; the lengths in it are used as they are
	Bytes *data = nullptr; // payload: of the PDU, or of the admin command
	Bytes *raw = nullptr;
	std::uint64_t *value = nullptr;
	Answer *answer = nullptr;
	Verdict verdict = Verdict::pass;
	std::uint16_t status = 0;
	std::function<void()> after = {}; // called when the thing at the hook is done

	bool io() const { return qid != 0 && cmd && cmd->opcode != op_fabrics; }
	bool is(std::uint8_t opcode) const { return cmd && cmd->opcode == opcode; }
	bool ioWrite() const { return qid != 0 && is(op_write); }
	bool ioRead() const { return qid != 0 && is(op_read); }
	bool admin(std::uint8_t opcode) const { return qid == 0 && is(opcode); }
	bool identify(std::uint8_t cns) const { return admin(op_identify) && (cmd->cdw10 & 0xff) == cns; }
	bool log(std::uint8_t page) const { return admin(op_get_log) && (cmd->cdw10 & 0xff) == page; }

	template <class Pdu> Pdu &as() { return *reinterpret_cast<Pdu *>(pdu->data()); }
};

// The misbehaviour that is armed now, if any. Thread safe.
class Script {
public:
	static constexpr int forever = -1;

	void arm(const Misbehaviour &what, int times = 1);
	void arm(const Misbehaviour &&what, int times = 1) = delete; // it is kept by reference
	void disarm();
	// Offers an opportunity to what is armed.
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
