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

constexpr std::size_t maxPieces = 256; // per call
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
}

void Output::share(std::span<const std::uint8_t> bytes, std::shared_ptr<const void> owner)
{
	if (bytes.empty())
		return;
	pieces_.push_back({bytes.data(), 0, bytes.size()});
	waiting_ += bytes.size();
	if (owner && (owners_.empty() || owners_.back() != owner))
		owners_.push_back(std::move(owner));
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
	for (std::size_t i = more.firstAnswer_; i < more.answers_.size(); i++) {
		const Answer &answer = more.answers_[i];
		answers_.push_back({sent_ + waiting_ + (answer.end - more.sent_), answer.command, answer.received});
	}
	for (std::size_t i = more.first_; i < more.pieces_.size(); i++) {
		Piece piece = more.pieces_[i];
		if (!piece.at) {
			const auto bytes = std::span(more.own_).subspan(piece.offset, piece.length);
			piece.offset = own_.size();
			nofctl::wire::append(own_, bytes);
			taken_ = own_.size();
		}
		pieces_.push_back(piece);
	}
	waiting_ += more.waiting_;
	owners_.insert(owners_.end(), more.owners_.begin(), more.owners_.end());
	more.clear();
}

void Output::sent(std::size_t count)
{
	waiting_ -= count;
	sent_ += count;
	while (count > 0) {
		Piece &piece = pieces_[first_];
		const std::size_t part = std::min(count, piece.length);
		piece.offset += part;
		piece.length -= part;
		count -= part;
		if (piece.length == 0)
			first_++;
	}
}

void Output::countAnswers(Latencies &latencies)
{
	if (firstAnswer_ == answers_.size() || answers_[firstAnswer_].end > sent_)
		return;
	const auto now = Latency::Clock::now();
	for (; firstAnswer_ < answers_.size() && answers_[firstAnswer_].end <= sent_; firstAnswer_++)
		latencies.of(answers_[firstAnswer_].command).add(now - answers_[firstAnswer_].received);
}

Output::Sent Output::send(int socket, TlsStream *tls, Latencies &latencies)
{
	while (waiting_ > 0) {
		std::array<iovec, maxPieces> parts;
		std::size_t count = 0;
		for (std::size_t i = first_; i < pieces_.size() && count < parts.size(); i++) {
			const std::uint8_t *start = pieces_[i].at ? pieces_[i].at : own_.data();
			parts[count++] = {const_cast<std::uint8_t *>(start + pieces_[i].offset), pieces_[i].length};
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
	taken_ = first_ = waiting_ = firstAnswer_ = 0;
	sent_ = 0;
}

} // namespace cdc
