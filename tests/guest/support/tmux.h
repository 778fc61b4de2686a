// SPDX-License-Identifier: LGPL-2.1-or-later
// Runs a program on a terminal that the test can read, type on and resize.
#pragma once

#include "shell.h"

#include <string>
#include <vector>

namespace guest {

class Tmux {
public:
	// Runs a simple command without quotes in a terminal of this size. Its output stays readable after its end.
	explicit Tmux(const std::string &command, unsigned columns = 160, unsigned lines = 40);
	~Tmux();
	Tmux(const Tmux &) = delete;
	Tmux &operator=(const Tmux &) = delete;

	std::string screen() const;
	// The screen line that contains the text; empty: none
	std::string line(const std::string &text) const;
	bool shows(const std::string &text, Millis timeout = 10s) const;
	// tmux key names: "q", "Down", "PPage"
	void type(const std::string &keys) const;
	void resize(unsigned columns, unsigned lines) const;

	int pid() const; // of the command, which must be running
	bool running() const { return !exists(file("status")); }
	// Exit status; -1: timeout
	int wait(Millis timeout = 10s) const;
	// stty settings before and after the command: equal if the terminal was restored.
	std::string before() const { return readFile(file("before")); }
	std::string after() const { return readFile(file("after")); }

private:
	std::string file(const std::string &what) const { return "/tmp/" + name_ + "." + what; }
	std::string tmux(const std::string &command) const;

	std::string name_;
};

// Splits a line at blanks.
std::vector<std::string> words(const std::string &line);

} // namespace guest
