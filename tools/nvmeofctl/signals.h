// SPDX-License-Identifier: LGPL-2.1-or-later
// Signals as something to poll, so that whoever is in a loop ends it in order.
#pragma once

#include <csignal>
#include <initializer_list>

class Signals {
public:
	explicit Signals(std::initializer_list<int> caught);
	~Signals();
	Signals(const Signals &) = delete;
	Signals &operator=(const Signals &) = delete;

	int fd() const { return fd_; }
	// One that has come; 0: none.
	int next() const;

private:
	sigset_t before_;
	int fd_;
};

// Ends the process as if the signal had not been caught: whoever started it sees the truth.
[[noreturn]] void dieOf(int signal);
