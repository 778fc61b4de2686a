// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The event loop and its event sources; destroying a source unregisters it. A loop belongs to one thread; other threads
 * may only call Mailbox::post(). Callbacks may throw: see guarded().
 */
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <sys/epoll.h>
#include <vector>

#include <systemd/sd-event.h>

namespace runtime {

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

/*
 * An exception in a callback of an event loop ends neither the loop nor the program: it is counted and logged, and the
 * peer on whose behalf the callback ran is closed by the caller. No exception may pass through sd-event, libmicrohttpd
 * or a thread's main function: std::terminate() would follow.
 */

// Number of exceptions caught in this process; from any thread
std::uint64_t caughtExceptions();
// Used by guarded(): counts an exception, and logs it with a rate limit.
void caughtException(const char *what) noexcept;

// Runs @call. False: it has thrown an exception.
template <typename Call> bool guarded(Call &&call) noexcept
{
	try {
		call();
		return true;
	} catch (const std::exception &e) {
		caughtException(e.what());
	} catch (...) {
		caughtException("an exception of an unknown type");
	}
	return false;
}

/*
 * Watches thousands of descriptors. sd-event makes a system call per event and uses some hundred bytes per descriptor;
 * a Poller is one event source of a loop, and one epoll_wait() returns the events of many descriptors.
 */
class Poller {
public:
	class Handler {
	public:
		virtual void ready(std::uint32_t events) = 0; // epoll events. May remove any handler, including itself.
		virtual void threw() = 0;                     // called after ready() has thrown: close the descriptor

	protected:
		~Handler() = default;
	};

	explicit Poller(Loop &loop); // throws std::system_error
	~Poller();
	Poller(const Poller &) = delete;
	Poller &operator=(const Poller &) = delete;

	// False: errno has the reason
	bool add(int fd, std::uint32_t events, Handler &handler);
	void want(int fd, std::uint32_t events, Handler &handler);
	// Called before the descriptor is closed. No events are delivered afterwards.
	void remove(int fd, const Handler &handler);

private:
	void poll();

	int fd_;
	std::array<epoll_event, 256> events_;
	std::size_t next_ = 0, count_ = 0; // range of events_ that is still to be delivered
	Handler *current_ = nullptr;       // handler whose ready() is running; null if it was removed
	Readable readable_;
};

} // namespace runtime
