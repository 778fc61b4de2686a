// SPDX-License-Identifier: LGPL-2.1-or-later
// What is still to be sent over a connection: bytes made for it, and those of pages, which are sent from where they
// are.
#pragma once

#include <memory>
#include <span>

#include "latency.h"
#include "libctl/wire/bytes.h"

namespace cdc {

class Output {
public:
	enum class Sent { all, some, broken };

	bool empty() const { return pieces_.empty(); }
	std::size_t waiting() const { return waiting_; } // bytes
	// For what is made; taken by own()
	nofctl::wire::Bytes &scratch() { return own_; }
	// What was added to scratch() since the last call comes next.
	void own();
	// @bytes come next, which @owner keeps
	void share(std::span<const std::uint8_t> bytes, std::shared_ptr<const void> owner);
	void zeros(std::uint64_t count);

	// The bytes added so far end with the answer to a command that was @received at that time.
	void answers(Served command, Latency::Clock::time_point received);

	// All of @more comes next; of scratch() what was taken by own().
	void append(Output &&more);

	// Tells @latencies of each answer that the socket has taken.
	Sent send(int socket, Latencies &latencies);
	void clear();

private:
	// Of own_, where @at is null: that moves while it grows
	struct Piece {
		const std::uint8_t *at;
		std::size_t offset, length;
	};

	struct Answer {
		std::uint64_t end; // of all bytes that were added since the last clear()
		Served command;
		Latency::Clock::time_point received;
	};

	void sent(std::size_t count);
	void countAnswers(Latencies &latencies);

	nofctl::wire::Bytes own_;
	std::size_t taken_ = 0; // of own_
	std::vector<Piece> pieces_;
	std::size_t first_ = 0; // of pieces_ that is not all sent
	std::size_t waiting_ = 0;
	std::uint64_t sent_ = 0; // since the last clear()
	std::vector<Answer> answers_;
	std::size_t firstAnswer_ = 0; // that is not all sent
	std::vector<std::shared_ptr<const void>> owners_;
};

} // namespace cdc
