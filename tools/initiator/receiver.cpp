// SPDX-License-Identifier: LGPL-2.1-or-later
#include "receiver.h"

#include <algorithm>

#include "libctl/wire/crc32c.h"

namespace initiator {

using namespace nofctl::wire;

namespace {

using Stream = std::span<const std::uint8_t>;

Stream cutFront(Stream &bytes, std::size_t length)
{
	const Stream front = bytes.first(std::min(length, bytes.size()));
	bytes = bytes.subspan(front.size());
	return front;
}

} // namespace

// False: incomplete
bool Receiver::fill(Stream &bytes, std::span<std::uint8_t> to, std::size_t begin)
{
	const Stream front = cutFront(bytes, to.size() - (at_ - begin));
	std::ranges::copy(front, to.begin() + static_cast<std::ptrdiff_t>(at_ - begin));
	at_ += front.size();
	return at_ - begin == to.size();
}

Receiver::Piece Receiver::fault(const PduFault &what)
{
	return {Kind::fault, {}, false, what};
}

Receiver::Piece Receiver::header()
{
	part_ = Part::padding;
	if (shape_.head > size_) {
		const auto told = get<std::uint32_t>(head_, size_);
		if (told != crc32c(head()))
			return fault({fes_digest, told, "header digest"});
	}
	const bool data = type() == pdu_c2h_data || type() == pdu_h2c_data;
	if (data && as<DataPdu>().length != dataLength())
		return fault({fes_header, offsetof(DataPdu, length), "data length"});
	return {Kind::header, {}, false, {}};
}

void Receiver::pad(Stream &bytes)
{
	const Stream padding = cutFront(bytes, shape_.dataAt - at_);
	at_ += padding.size();
	padded_ = padded_ || std::ranges::any_of(padding, [](std::uint8_t byte) { return byte != 0; });
}

Receiver::Piece Receiver::data(Stream &bytes)
{
	const Stream part = cutFront(bytes, shape_.dataEnd - at_);
	at_ += part.size();
	if (shape_.length > shape_.dataEnd)
		sum_ = crc32c(sum_, part);
	return {Kind::data, part, false, {}};
}

Receiver::Piece Receiver::end(bool damaged)
{
	at_ = 0;
	part_ = Part::common;
	return {Kind::end, {}, damaged, {}};
}

bool Receiver::common(Stream &bytes, std::size_t longest)
{
	if (!fill(bytes, std::span(head_).first(sizeof(PduHeader)), 0))
		return false;
	const auto header = as<PduHeader>();
	shape_ = shapeOf(header, format_, longest);
	size_ = shape_.fault ? sizeof(header) : header.hlen;
	sum_ = 0;
	padded_ = false;
	part_ = Part::header;
	return true;
}

Receiver::Piece Receiver::next(Stream &bytes, std::size_t longest)
{
	for (;;) {
		switch (part_) {
		case Part::common:
			if (!common(bytes, longest))
				return {};
			if (shape_.fault)
				return fault(*shape_.fault);
			break;
		case Part::header:
			if (!fill(bytes, std::span(head_).first(shape_.head), 0))
				return {};
			return header();
		case Part::padding:
			pad(bytes);
			if (at_ < shape_.dataAt)
				return {};
			part_ = Part::data;
			break;
		case Part::data:
			if (at_ < shape_.dataEnd)
				return bytes.empty() ? Piece() : data(bytes);
			part_ = Part::tail;
			break;
		case Part::tail:
			if (!fill(bytes, std::span(tail_).first(shape_.length - shape_.dataEnd), shape_.dataEnd))
				return {};
			return end(shape_.length > shape_.dataEnd && get<std::uint32_t>(tail_, 0) != sum_);
		}
	}
}

} // namespace initiator
