// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "latency.h"
#include "libctl/wire/bytes.h"

namespace cdc {

class TlsStream;

// Pending output of a connection: bytes made for it, and bytes of shared pages, which are sent without a copy
class Output {
public:
	enum class Sent { all, some, broken };

	bool empty() const { return pieces_.empty(); }
	std::size_t waiting() const { return waiting_; } // bytes
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

	struct Answer {
		std::uint64_t end; // in bytes queued since the last clear()
		Served command;
		Latency::Clock::time_point received;
	};

	void sent(std::size_t count);
	void countAnswers(Latencies &latencies);

	nofctl::wire::Bytes own_;
	std::size_t taken_ = 0; // bytes of own_ that are queued
	std::vector<Piece> pieces_;
	std::size_t first_ = 0; // first of pieces_ that is not sent completely
	std::size_t waiting_ = 0;
	std::uint64_t sent_ = 0; // bytes since the last clear()
	std::vector<Answer> answers_;
	std::size_t firstAnswer_ = 0; // first one that is not sent completely
	std::vector<std::shared_ptr<const void>> owners_;
};

} // namespace cdc
