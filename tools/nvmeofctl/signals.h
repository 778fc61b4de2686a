// SPDX-License-Identifier: LGPL-2.1-or-later
// Signals as a file descriptor for poll(2), so that an event loop can end in order.
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
	// The next pending signal, or 0. Does not wait.
	int next() const;

private:
	sigset_t before_;
	int fd_;
};

// Ends the process by @signal with its default action, so that the parent sees it in the wait status.
[[noreturn]] void exitBySignal(int signal);
