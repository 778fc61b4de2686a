// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The event loop and its event sources; destroying a source unregisters it. A loop belongs to one thread; other threads
 * may only call Mailbox::post(). Callbacks may throw: see guard.h.
 */
#pragma once

#include <chrono>
#include <functional>
#include <mutex>
#include <vector>

#include <systemd/sd-event.h>

namespace serving {

class Loop {
public:
	enum class Watchdog { none, fed };
	explicit Loop(Watchdog watchdog = Watchdog::fed); // throws std::system_error
	~Loop();
	Loop(const Loop &) = delete;
	Loop &operator=(const Loop &) = delete;

	sd_event *event() const { return event_; }
	// Runs until end() and returns its code. Also feeds the watchdog of the service manager, if enabled.
	int run();
	void end(int code);

private:
	sd_event *event_ = nullptr;
};

class Source {
public:
	Source(const Source &) = delete;
	Source &operator=(const Source &) = delete;

protected:
	explicit Source(std::function<void()> call) : call_(std::move(call)) {}
	~Source();

	std::function<void()> call_;
	sd_event_source *source_ = nullptr;
};

// Calls back whenever the descriptor is readable
class Readable : Source {
public:
	Readable(Loop &loop, int fd, std::function<void()> call);
};

// Calls back with the epoll events of a descriptor
class Watched {
public:
	Watched(Loop &loop, int fd, std::uint32_t events, std::function<void(std::uint32_t events)> call);
	~Watched();
	Watched(const Watched &) = delete;
	Watched &operator=(const Watched &) = delete;

	void want(std::uint32_t events);

private:
	std::function<void(std::uint32_t)> call_;
	std::uint32_t wanted_;
	sd_event_source *source_ = nullptr;
};

// Calls back on a signal, which it blocks in the process
class OnSignal : Source {
public:
	OnSignal(Loop &loop, int signal, std::function<void()> call);
};

// A one-shot timer
class Timer : Source {
public:
	Timer(Loop &loop, std::function<void()> call);

	void start(std::chrono::milliseconds delay); // restarts a running timer
	void startUnlessRunning(std::chrono::milliseconds delay);
	void stop();
	bool running() const;
};

// Work that other threads post to the thread of the loop
class Mailbox {
public:
	explicit Mailbox(Loop &loop);
	~Mailbox();

	void post(std::function<void()> work); // from any thread

private:
	void open();

	int fd_;
	std::mutex mutex_;
	std::vector<std::function<void()>> work_;
	Readable readable_;
};

} // namespace serving
