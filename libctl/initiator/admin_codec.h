// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The protocol of an NVMe/TCP admin queue, without the connection: encodes commands as PDUs, and accepts a received PDU
 * only if it is allowed in this state, in order, and within the requested length. NVMe TCP Transport 1.0, 3.6.
 */
#pragma once

#include "libctl/wire/pdu.h"

namespace initiator {

/*
 * Parses a stream of PDUs incrementally, in pieces of any size: first the header of each PDU, then its data as they
 * arrive. It stores the header, but no data.
 */
class Receiver {
public:
	enum class Kind {
		nothing, // all bytes were consumed
		header,  // head() is valid: its digest and lengths were checked
		data,
		end,   // end of the PDU
		fault, // nothing more can be received
	};
	struct Piece {
		Kind kind = Kind::nothing;
		std::span<const std::uint8_t> data = {}; // points into the bytes given to next()
		bool damaged = false;                    // end: data digest error
		nofctl::wire::PduFault fault = {};
	};

	void agree(const nofctl::wire::PduFormat &format) { format_ = format; }
	// Processes the next part of @bytes and removes it from there. @longest: limit of a PDU
	Piece next(std::span<const std::uint8_t> &bytes, std::size_t longest);

	std::uint8_t type() const { return head_[0]; }
	std::span<const std::uint8_t> head() const { return std::span(head_).first(size_); }
	template <nofctl::wire::Layout T> T as() const { return *nofctl::wire::decode<T>(head_); }
	std::size_t dataLength() const { return shape_.dataEnd - shape_.dataAt; }
	bool padded() const { return padded_; } // the padding before the data has nonzero bytes

private:
	enum class Part { common, header, padding, data, tail };

	bool common(std::span<const std::uint8_t> &bytes, std::size_t longest);
	bool fill(std::span<const std::uint8_t> &bytes, std::span<std::uint8_t> to, std::size_t begin);
	void pad(std::span<const std::uint8_t> &bytes);
	Piece header();
	Piece data(std::span<const std::uint8_t> &bytes);
	Piece end(bool damaged);
	static Piece fault(const nofctl::wire::PduFault &what);

	nofctl::wire::PduFormat format_;
	nofctl::wire::PduShape shape_;
	std::array<std::uint8_t, sizeof(nofctl::wire::IcResp)> head_{}; // with its digest; IC PDUs have none
	std::array<std::uint8_t, 4> tail_{};                            // data digest
	std::size_t size_ = 0;                                          // length of the header
	std::size_t at_ = 0;                                            // position in the PDU
	std::uint32_t sum_ = 0;                                         // CRC of the data so far
	Part part_ = Part::common;
	bool padded_ = false;
};

// The origin of a command; each has at most one outstanding.
enum class Slot : std::uint8_t { command, keepAlive, event };
constexpr std::size_t slotCount = 3;

class AdminCodec {
public:
	using Data = std::span<const std::uint8_t>;
	enum class Kind { nothing, ready, data, done, fault, terminated };
	struct Received {
		Kind kind = Kind::nothing;
		Slot slot = Slot::command;                // done
		std::uint32_t offset = 0;                 // data, for the slot command
		Data data = {};                           // points into the bytes given to next()
		nofctl::wire::Completion completion = {}; // done
		nofctl::wire::PduFault fault = {};        // fault; terminated: the error in the controller's Term PDU
		const char *violation = nullptr;          // a violation that a host tolerates; null: none
	};

	struct Digests {
		bool header = false, data = false;
	};

	// These functions append PDUs to @out. hello() is called once, first.
	void hello(nofctl::wire::Bytes &out, Digests digests);
	// @data: to be sent to the controller; has to stay valid until the command completes. @expected: bytes to be
	// received
	void command(nofctl::wire::Bytes &out, Slot slot, nofctl::wire::Command cmd, Data data, std::uint32_t expected);
	bool open(Slot slot) const { return open_ >> static_cast<unsigned>(slot) & 1; }

	// Processes the next PDU or part in @bytes and removes it from there. After a fault the connection is unusable;
	// @out then has a Term PDU for the controller.
	Received next(Data &bytes, nofctl::wire::Bytes &out);
	bool ready() const { return ready_; }
	// For a new connection
	void reset() { *this = AdminCodec(); }

private:
	using Fault = std::optional<nofctl::wire::PduFault>;

	std::size_t maxPduSize() const;
	Received processPiece(const Receiver::Piece &piece, nofctl::wire::Bytes &out);
	Fault header(nofctl::wire::Bytes &out);
	Fault checkOutstanding(std::uint16_t cid, Slot &slot) const;
	Fault hello(const nofctl::wire::IcResp &response);
	Fault data(const nofctl::wire::DataPdu &pdu);
	Fault acceptR2t(nofctl::wire::Bytes &out, const nofctl::wire::R2tPdu &pdu);
	Fault response(const nofctl::wire::Completion &completion);
	Received end(bool damaged);
	Received done(Slot slot, const nofctl::wire::Completion &completion);
	void sendData(nofctl::wire::Bytes &out, const nofctl::wire::R2tPdu &pdu);
	Received fail(const nofctl::wire::PduFault &fault, nofctl::wire::Bytes &out);
	const char *violationText() const;

	Receiver receiver_;
	nofctl::wire::PduFormat format_; // for sending
	Digests digests_;
	std::uint32_t maxData_ = 0; // MAXH2CDATA
	std::array<std::uint16_t, slotCount> cids_{};
	std::uint16_t last_ = 0; // counter for command identifiers
	std::uint8_t open_ = 0;  // one bit per slot
	bool ready_ = false;     // ICResp was received
	bool lastData_ = false;  // LAST_PDU was received for the slot command
	std::uint32_t expected_ = 0, received_ = 0;
	Data data_ = {};
	std::uint32_t sent_ = 0;
};

} // namespace initiator
