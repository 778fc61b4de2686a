// SPDX-License-Identifier: LGPL-2.1-or-later
// A netlink socket that sends any bytes and checks every answer.
#pragma once

#include "fuzz_message.h"

#include <optional>

namespace guest {

struct FuzzAnswer {
	std::uint32_t seq = 0;
	std::optional<int> error = {}; // positive errno, 0: accepted; empty: an object, or another message
	bool hasText = false;          // the refusal has a text
};

struct FuzzReading {
	std::vector<FuzzAnswer> answers = {};
	std::string fault = {}; // describes what is malformed
	bool overrun = false;
};

class FuzzSocket {
public:
	// words: sets NETLINK_EXT_ACK; terse: sets NETLINK_CAP_ACK, so that requests are not repeated in answers
	FuzzSocket(bool words, bool terse);
	~FuzzSocket();
	FuzzSocket(const FuzzSocket &) = delete;
	FuzzSocket &operator=(const FuzzSocket &) = delete;

	// Returns 0 or errno.
	int send(const Octets &bytes) const;
	// Waits for one datagram and reads it. Without one, neither an answer nor a fault is returned.
	FuzzReading read(int timeoutMs) const;
	int fd() const { return fd_; }

	static std::uint16_t family(); // ID of the family; throws
	static std::uint32_t events(); // ID of the multicast group; throws

private:
	int fd_;
};

// Number of messages by command and outcome
class FuzzTable {
public:
	enum : int { unanswered = -1 };
	void add(std::uint8_t cmd, int outcome) { counts_[cmd][outcome]++; }
	void add(const FuzzTable &other);
	std::uint64_t count(std::uint8_t cmd, int outcome) const;
	std::uint64_t total() const;
	void print(const char *title) const;
	std::map<int, std::uint64_t> withoutText; // refusals without a text, although NETLINK_EXT_ACK was set

private:
	std::map<std::uint8_t, std::map<int, std::uint64_t>> counts_;
};

} // namespace guest
