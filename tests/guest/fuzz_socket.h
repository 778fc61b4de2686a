// SPDX-License-Identifier: LGPL-2.1-or-later
// A netlink socket that sends any bytes, and looks closely at every answer.
#pragma once

#include "fuzz_message.h"

#include <optional>

namespace guest {

struct FuzzAnswer {
	std::uint32_t seq = 0;
	std::optional<int> error = {}; // positive errno, 0: accepted; nothing: an object, or a message of the kernel's
	bool worded = false;           // the refusal has a text
	bool notice = false;           // an event
};

struct FuzzReading {
	std::vector<FuzzAnswer> answers = {};
	std::string fault = {}; // something malformed: what
	bool overrun = false;
};

class FuzzSocket {
public:
	// words: asks for extended acknowledgements; terse: that requests are not repeated in them
	FuzzSocket(bool words, bool terse);
	~FuzzSocket();
	FuzzSocket(const FuzzSocket &) = delete;
	FuzzSocket &operator=(const FuzzSocket &) = delete;

	// 0 or errno
	int send(const Octets &bytes) const;
	// What is there; waits for the first of it. Nothing at all: no answer and no fault.
	FuzzReading read(int timeoutMs) const;
	int fd() const { return fd_; }

	static std::uint16_t family(); // its number; throws
	static std::uint32_t events(); // number of the group; throws

private:
	int fd_;
};

// Messages by command and by what became of them
class FuzzTable {
public:
	enum : int { unanswered = -1 };
	void add(std::uint8_t cmd, int outcome) { counts_[cmd][outcome]++; }
	void add(const FuzzTable &other);
	std::uint64_t count(std::uint8_t cmd, int outcome) const;
	std::uint64_t total() const;
	void print(const char *title) const;
	std::map<int, std::uint64_t> wordless; // refusals without a text, of sockets that asked for one

private:
	std::map<std::uint8_t, std::map<int, std::uint64_t>> counts_;
};

} // namespace guest
