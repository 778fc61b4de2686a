// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What is said on an admin queue over NVMe/TCP, without the connection: commands become PDUs, and what comes is told
 * when it may come, is the next of what was asked for, and no more than that. NVMe TCP Transport 1.0, 3.6.
 */
#pragma once

#include "receiver.h"

namespace initiator {

// Who has a command at the controller; each has one at most.
enum class Slot : std::uint8_t { command, keepAlive, event };
constexpr std::size_t slot_count = 3;

class Dialogue {
public:
	using Data = std::span<const std::uint8_t>;
	enum class Kind { nothing, ready, data, done, fault, terminated };
	struct News {
		Kind kind = Kind::nothing;
		Slot slot = Slot::command;                // done
		std::uint32_t offset = 0;                 // data, of the slot command
		Data data = {};                           // of what was given to next()
		nofctl::wire::Completion completion = {}; // done
		nofctl::wire::PduFault fault = {};        // fault; terminated: what the controller says of it
		const char *odd = nullptr;                // not in order, but nothing that a host has to mind
	};

	struct Digests {
		bool header = false, data = false;
	};

	// What is to be sent is added to @out. Once, before anything else
	void hello(nofctl::wire::Bytes &out, Digests digests);
	// @data: to the controller; they have to stay until it is done. @expected: bytes from it
	void command(nofctl::wire::Bytes &out, Slot slot, nofctl::wire::Command cmd, Data data, std::uint32_t expected);
	bool open(Slot slot) const { return open_ >> static_cast<unsigned>(slot) & 1; }

	// What comes next in @bytes, which is taken from their front. A fault is the end, and @out says so to the
	// controller.
	News next(Data &bytes, nofctl::wire::Bytes &out);
	bool ready() const { return ready_; }
	// At the beginning of a connection
	void reset() { *this = Dialogue(); }

private:
	using Fault = std::optional<nofctl::wire::PduFault>;

	std::size_t longest() const;
	News judge(const Receiver::Piece &piece, nofctl::wire::Bytes &out);
	Fault header(nofctl::wire::Bytes &out);
	Fault isNext(std::uint16_t cid, Slot &slot) const;
	Fault hello(const nofctl::wire::IcResp &response);
	Fault data(const nofctl::wire::DataPdu &pdu);
	Fault askedFor(nofctl::wire::Bytes &out, const nofctl::wire::R2tPdu &pdu);
	Fault response(const nofctl::wire::Completion &completion);
	News end(bool damaged);
	News done(Slot slot, const nofctl::wire::Completion &completion);
	void sendData(nofctl::wire::Bytes &out, const nofctl::wire::R2tPdu &pdu);
	News fail(const nofctl::wire::PduFault &fault, nofctl::wire::Bytes &out);
	const char *oddity() const;

	Receiver receiver_;
	nofctl::wire::PduFormat format_; // of what is sent
	Digests wanted_;
	std::uint32_t longestData_ = 0; // MAXH2CDATA
	std::array<std::uint16_t, slot_count> cids_{};
	std::uint16_t last_ = 0; // number that a command identifier was made of
	std::uint8_t open_ = 0;  // bit of each slot
	bool ready_ = false;     // ICResp has come
	bool lastData_ = false;  // of the slot command
	std::uint32_t expected_ = 0, received_ = 0;
	Data data_ = {};
	std::uint32_t sent_ = 0;
};

} // namespace initiator
