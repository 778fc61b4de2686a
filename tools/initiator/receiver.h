// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Parses a stream of PDUs incrementally, in pieces of any size: first the header of each PDU, then its data as they
 * arrive. It stores the header, but no data.
 */
#pragma once

#include "libctl/wire/pdu.h"

namespace initiator {

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

} // namespace initiator
