// SPDX-License-Identifier: LGPL-2.1-or-later
// Input: the bytes of a controller on an admin queue. Data arrive in order and are not more than requested, completions
// belong to commands, and the segmentation of the stream makes no difference.
#include "input.h"

#include "libctl/initiator/admin_codec.h"

namespace wire = nofctl::wire;
using initiator::AdminCodec;
using initiator::Slot;

namespace {

struct Setting {
	AdminCodec::Digests digests;
	bool writes;
	std::uint16_t asked;
};

struct Heard {
	std::vector<int> kinds; // without the data events
	wire::Bytes data;
	wire::Bytes said; // bytes that the host sent

	bool operator==(const Heard &) const = default;
};

class Host {
public:
	explicit Host(const Setting &setting) : setting_(setting), data_(setting.asked, 0x5a)
	{
		codec_.hello(heard_.said, setting.digests);
	}

	// Returns false at the end of the dialogue.
	bool hear(Bytes bytes)
	{
		for (;;) {
			const auto before = bytes.size();
			const AdminCodec::Received received = codec_.next(bytes, heard_.said);
			expect(bytes.size() <= before, "bytes are taken");
			if (received.kind == AdminCodec::Kind::nothing && !received.violation)
				return true;
			if (!take(received))
				return false;
		}
	}
	const Heard &heard() const { return heard_; }

private:
	bool take(const AdminCodec::Received &received)
	{
		if (received.kind != AdminCodec::Kind::data)
			heard_.kinds.push_back(static_cast<int>(received.kind) * 4 + static_cast<int>(received.slot));
		switch (received.kind) {
		case AdminCodec::Kind::ready:
			expect(heard_.kinds.size() == 1, "first of all");
			ask();
			break;
		case AdminCodec::Kind::data:
			expect(!setting_.writes && received.offset == received_, "the next data of what was asked for");
			received_ += received.data.size();
			expect(received_ <= setting_.asked, "no more than were asked for");
			wire::append(heard_.data, received.data);
			break;
		case AdminCodec::Kind::done:
			done(received);
			break;
		case AdminCodec::Kind::fault:
			expect(received.fault.why && *received.fault.why, "a fault has words");
			return false;
		case AdminCodec::Kind::terminated:
			return false;
		case AdminCodec::Kind::nothing:
			expect(received.violation && *received.violation, "an oddity has words");
			break;
		}
		return true;
	}

	void done(const AdminCodec::Received &received)
	{
		expect(asked_ & 1u << static_cast<unsigned>(received.slot), "an answer to a question");
		expect(!codec_.open(received.slot), "which is over");
		asked_ &= ~(1u << static_cast<unsigned>(received.slot));
		if (received.slot != Slot::command)
			return;
		if (!(received.completion.status >> 1 & wire::st_type_and_code) && !setting_.writes)
			expect(received_ == setting_.asked, "success has all data");
		ask();
	}

	void ask()
	{
		received_ = 0;
		if (setting_.writes)
			codec_.command(heard_.said, Slot::command, wire::plain(0x21), data_, 0);
		else
			codec_.command(heard_.said, Slot::command, wire::getLog(wire::log_discovery, 0, setting_.asked),
				       {}, setting_.asked);
		asked_ |= 1u << static_cast<unsigned>(Slot::command);
		if (codec_.open(Slot::event))
			return;
		codec_.command(heard_.said, Slot::event, wire::plain(wire::op_async_event), {}, 0);
		asked_ |= 1u << static_cast<unsigned>(Slot::event);
	}

	Setting setting_;
	wire::Bytes data_;
	AdminCodec codec_;
	Heard heard_;
	unsigned asked_ = 0;
	std::size_t received_ = 0;
};

} // namespace

void fuzz(Input in)
{
	const auto flags = in.take<std::uint8_t>();
	const Setting setting{{bool(flags & 1), bool(flags & 2)}, bool(flags & 4), in.take<std::uint16_t>()};
	const std::size_t piece = std::size_t(1) + in.take<std::uint8_t>();
	const auto copy = exact(in.rest());
	const Bytes stream(copy.get(), in.rest().size());
	Host whole(setting), pieces(setting);
	whole.hear(stream);
	Bytes left = stream;
	while (!left.empty()) {
		const Bytes front = left.first(std::min(piece, left.size()));
		const auto alone = exact(front);
		left = left.subspan(front.size());
		if (!pieces.hear(Bytes(alone.get(), front.size())))
			break;
	}
	expect(whole.heard() == pieces.heard(), "the same, in whatever pieces it comes");
}
