// SPDX-License-Identifier: LGPL-2.1-or-later
// The terminal: full-screen mode, signals, and a progress line.
#pragma once

#include <atomic>
#include <chrono>
#include <csignal>
#include <functional>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <nvmeof/client.h>
#include <nvmeof/result.h>

#include "top_view.h"

// The terminal in full-screen mode, which is restored by the destructor.
class Terminal {
public:
	// Fails if stdin or stdout is not a terminal, or if TERM is not known.
	static nvmeof::Result<Terminal> open();

	Terminal(Terminal &&) noexcept;
	Terminal &operator=(Terminal &&) noexcept;
	~Terminal();

	TopSize size() const;
	void draw(const std::vector<TopLine> &lines);
	// TopKey::none if no known key is pending. Does not wait.
	TopKey key();
	// Adopts the current size of the terminal; called after SIGWINCH.
	void resize();
	// The next draw() repaints the whole screen.
	void redraw();

private:
	struct Impl;
	explicit Terminal(std::unique_ptr<Impl> impl);
	std::unique_ptr<Impl> impl_;
};

// Signals as a file descriptor for poll(2), so that an event loop can end in order.
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

// Turns SIGINT, SIGTERM and SIGHUP into a stop request, so that a library call can clean up before it returns.
// The signals do not end the process while this object exists. Its owner ends the process if caught() returns one.
class Interruption {
public:
	Interruption();

	std::stop_token token() const { return stop_.get_token(); }
	// Stops watching. Returns the signal caught, or 0.
	int caught();

private:
	void watch(const std::stop_token &end);

	Signals signals_;
	std::stop_source stop_;
	std::atomic<int> caught_ = 0;
	std::jthread watcher_;
};

/*
 * A progress line on the terminal for long operations. Redrawn in place on stderr every 250 ms, and erased at the end.
 * It appears after 500 ms, and only if stderr is a terminal, so that logs have the result alone.
 */
class Progress {
public:
	// Returns the progress so far: "1 of 2 live". Called from the drawing thread, with a Client of its own.
	using Look = std::function<std::string(nvmeof::Client &client)>;

	Progress(std::string what, Look look);
	~Progress();
	Progress(const Progress &) = delete;
	Progress &operator=(const Progress &) = delete;

private:
	void draw(const std::stop_token &end);

	const std::string what_;
	const Look look_;
	std::mutex mutex_; // for the pauses of draw() only
	std::jthread drawer_;
};

// "connect: 1 of 2 live, 12 s"
std::string progressLine(const std::string &what, const std::string &soFar, std::chrono::seconds passed);
