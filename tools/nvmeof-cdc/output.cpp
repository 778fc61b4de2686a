// SPDX-License-Identifier: LGPL-2.1-or-later
#include "output.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <sys/socket.h>
#include <sys/uio.h>
#include <utility>

#include "tls_stream.h"

namespace cdc {

namespace {

constexpr std::size_t maxPieces = 256;  // per call
constexpr std::size_t minFreed = 16384; // bytes of own_ that are worth a move of the others
constexpr std::array<std::uint8_t, 65536> nothing{};

} // namespace

void Output::own()
{
	const std::size_t length = own_.size() - taken_;
	if (length == 0)
		return;
	pieces_.push_back({nullptr, taken_, length});
	taken_ = own_.size();
	waiting_ += length;
	copied_ += length;
}

void Output::share(std::span<const std::uint8_t> bytes, std::shared_ptr<const void> owner)
{
	if (bytes.empty())
		return;
	pieces_.push_back({bytes.data(), 0, bytes.size()});
	waiting_ += bytes.size();
	if (!owner)
		return;
	if (owners_.empty() || owners_.back().owner != owner)
		owners_.push_back({0, std::move(owner)});
	owners_.back().end = sent_ + waiting_;
}

void Output::zeros(std::uint64_t count)
{
	while (count > 0) {
		const std::size_t length = std::min<std::uint64_t>(count, nothing.size());
		share(std::span(nothing).first(length), nullptr);
		count -= length;
	}
}

void Output::answers(Served command, Latency::Clock::time_point received)
{
	answers_.push_back({sent_ + waiting_, command, received});
}

void Output::append(Output &&more)
{
	const std::uint64_t begin = sent_ + waiting_ - more.sent_;
	for (const Answer &answer : more.answers_)
		answers_.push_back({begin + answer.end, answer.command, answer.received});
	for (Owner &owner : more.owners_)
		owners_.push_back({begin + owner.end, std::move(owner.owner)});
	for (Piece piece : more.pieces_) {
		if (!piece.at) {
			const auto bytes = std::span(more.own_).subspan(piece.offset, piece.length);
			piece.offset = own_.size();
			nofctl::wire::append(own_, bytes);
			taken_ = own_.size();
		}
		pieces_.push_back(piece);
	}
	waiting_ += more.waiting_;
	copied_ += more.copied_;
	more.clear();
}

void Output::sent(std::size_t count)
{
	waiting_ -= count;
	sent_ += count;
	while (count > 0) {
		Piece &piece = pieces_.front();
		const std::size_t part = std::min(count, piece.length);
		piece.offset += part;
		piece.length -= part;
		copied_ -= piece.at ? 0 : part;
		count -= part;
		if (piece.length == 0)
			pieces_.pop_front();
	}
	while (!owners_.empty() && owners_.front().end <= sent_)
		owners_.pop_front();
	freeOwn();
}

// Frees the sent bytes of own_ once they are at least half of it, so that each byte is moved once on average.
void Output::freeOwn()
{
	if (own_.size() < minFreed || pieces_.empty())
		return;
	const auto next = std::ranges::find_if(pieces_, [](const Piece &piece) { return !piece.at; });
	const std::size_t freed = next == pieces_.end() ? taken_ : next->offset;
	if (freed < std::max(minFreed, own_.size() / 2))
		return;
	own_.erase(own_.begin(), own_.begin() + static_cast<std::ptrdiff_t>(freed));
	taken_ -= freed;
	for (Piece &piece : pieces_)
		if (!piece.at)
			piece.offset -= freed;
}

void Output::countAnswers(Latencies &latencies)
{
	if (answers_.empty() || answers_.front().end > sent_)
		return;
	const auto now = Latency::Clock::now();
	for (; !answers_.empty() && answers_.front().end <= sent_; answers_.pop_front())
		latencies.of(answers_.front().command).add(now - answers_.front().received);
}

Output::Sent Output::send(int socket, TlsStream *tls, Latencies &latencies)
{
	while (waiting_ > 0) {
		std::array<iovec, maxPieces> parts;
		std::size_t count = 0;
		for (auto piece = pieces_.begin(); piece != pieces_.end() && count < parts.size(); ++piece) {
			const std::uint8_t *start = piece->at ? piece->at : own_.data();
			parts[count++] = {const_cast<std::uint8_t *>(start + piece->offset), piece->length};
		}
		msghdr message{};
		message.msg_iov = parts.data();
		message.msg_iovlen = count;
		const ssize_t done = tls ? tls->send(std::span(parts).first(count))
					 : ::sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return errno == EAGAIN || errno == EWOULDBLOCK ? Sent::some : Sent::broken;
		sent(static_cast<std::size_t>(done));
		countAnswers(latencies);
	}
	clear();
	return Sent::all;
}

void Output::clear()
{
	own_.clear();
	pieces_.clear();
	owners_.clear();
	answers_.clear();
	taken_ = waiting_ = copied_ = 0;
	sent_ = 0;
}

} // namespace cdc
