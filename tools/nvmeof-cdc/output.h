// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>

#include "latency.h"
#include "libctl/wire/bytes.h"

namespace cdc {

class TlsStream;

// Pending output of a connection: bytes made for it, and bytes of shared pages, which are sent without a copy. Bytes
// and pages are freed once they are sent, even if a slow peer never lets the output become empty.
class Output {
public:
	enum class Sent { all, some, broken };

	bool empty() const { return pieces_.empty(); }
	std::size_t waiting() const { return waiting_; } // bytes
	std::size_t copied() const { return copied_; }   // of these, bytes that are not shared
	// Buffer for new bytes; own() queues them
	nofctl::wire::Bytes &scratch() { return own_; }
	// Queues the bytes that were added to scratch() since the last call.
	void own();
	// Queues @bytes without a copy; @owner keeps them valid.
	void share(std::span<const std::uint8_t> bytes, std::shared_ptr<const void> owner);
	void zeros(std::uint64_t count);

	// The bytes queued so far end with the response to a command that was @received at that time.
	void answers(Served command, Latency::Clock::time_point received);

	// Queues all of @more; of its scratch() only what own() has queued.
	void append(Output &&more);

	// Records the latency of each response that the socket has accepted completely in @latencies.
	// @tls: the connection's, null without
	Sent send(int socket, TlsStream *tls, Latencies &latencies);
	void clear();

private:
	// @at is null for bytes in own_, which moves as it grows.
	struct Piece {
		const std::uint8_t *at;
		std::size_t offset, length;
	};

	// @end: in bytes queued since the last clear(), as that of Owner
	struct Answer {
		std::uint64_t end;
		Served command;
		Latency::Clock::time_point received;
	};
	// Keeps the pieces before @end valid
	struct Owner {
		std::uint64_t end;
		std::shared_ptr<const void> owner;
	};

	void sent(std::size_t count);
	void freeOwn();
	void countAnswers(Latencies &latencies);

	nofctl::wire::Bytes own_;
	std::size_t taken_ = 0; // bytes of own_ that are queued
	std::deque<Piece> pieces_;
	std::size_t waiting_ = 0, copied_ = 0;
	std::uint64_t sent_ = 0; // bytes since the last clear()
	std::deque<Answer> answers_;
	std::deque<Owner> owners_;
};

} // namespace cdc
