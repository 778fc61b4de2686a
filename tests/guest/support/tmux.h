// SPDX-License-Identifier: LGPL-2.1-or-later
// A program on a terminal that the test can read, type on and resize.
#pragma once

#include "shell.h"

#include <string>
#include <vector>

namespace guest {

class Tmux {
public:
	// Runs the command, a simple one without quotes, in a terminal of that size. What it leaves there stays to be
	// read.
	explicit Tmux(const std::string &command, unsigned columns = 160, unsigned lines = 40);
	~Tmux();
	Tmux(const Tmux &) = delete;
	Tmux &operator=(const Tmux &) = delete;

	std::string screen() const;
	// The line of the screen with that text; empty: there is none.
	std::string line(const std::string &text) const;
	bool shows(const std::string &text, Millis timeout = 10s) const;
	// As tmux names keys: "q", "Down", "PPage"
	void type(const std::string &keys) const;
	void resize(unsigned columns, unsigned lines) const;

	int pid() const; // of the command; it has to be running
	bool running() const { return !exists(file("status")); }
	// -1: it did not end.
	int wait(Millis timeout = 10s) const;
	// How the terminal was set before the command and after it; the same when it was restored.
	std::string before() const { return readFile(file("before")); }
	std::string after() const { return readFile(file("after")); }

private:
	std::string file(const std::string &what) const { return "/tmp/" + name_ + "." + what; }
	std::string tmux(const std::string &command) const;

	std::string name_;
};

// Words of a line
std::vector<std::string> words(const std::string &line);

} // namespace guest
