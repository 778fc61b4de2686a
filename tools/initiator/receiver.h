// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Takes a stream of PDUs apart as it comes, in pieces of any size: of each its header, then its data as they arrive. It
 * keeps a header, and no data.
 */
#pragma once

#include "libctl/wire/pdu.h"

namespace initiator {

class Receiver {
public:
	enum class Kind {
		nothing, // all was taken, and there is no more to tell
		header,  // head() is a header of its type, its digest is right, and its lengths add up
		data,    //
		end,     // of the PDU
		fault,   // nothing can be taken any more
	};
	struct Piece {
		Kind kind = Kind::nothing;
		std::span<const std::uint8_t> data = {}; // of what was given to next()
		bool damaged = false;                    // end: the data's digest is wrong
		nofctl::wire::PduFault fault = {};
	};

	void agree(const nofctl::wire::PduFormat &format) { format_ = format; }
	// What comes next in @bytes, which is taken from their front. @longest: PDU that is taken
	Piece next(std::span<const std::uint8_t> &bytes, std::size_t longest);

	std::uint8_t type() const { return head_[0]; }
	std::span<const std::uint8_t> head() const { return std::span(head_).first(size_); }
	template <nofctl::wire::Layout T> T as() const { return *nofctl::wire::decode<T>(head_); }
	std::size_t dataLength() const { return shape_.dataEnd - shape_.dataAt; }
	bool padded() const { return padded_; } // by something else than zeros, up to the data

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
	std::array<std::uint8_t, sizeof(nofctl::wire::IcResp)> head_{}; // with its digest: IC PDUs have none
	std::array<std::uint8_t, 4> tail_{};                            // the digest of the data
	std::size_t size_ = 0;                                          // of the header
	std::size_t at_ = 0;                                            // in the PDU
	std::uint32_t sum_ = 0;                                         // of the data so far
	Part part_ = Part::common;
	bool padded_ = false;
};

} // namespace initiator
