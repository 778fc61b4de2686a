// SPDX-License-Identifier: LGPL-2.1-or-later
// The event loop, and what it calls back; each ends with the object that was made for it. One thread.
#pragma once

#include <chrono>
#include <functional>

#include <systemd/sd-event.h>

namespace nvmeofd {

class Loop {
public:
	Loop(); // throws std::system_error
	~Loop();
	Loop(const Loop &) = delete;
	Loop &operator=(const Loop &) = delete;

	sd_event *event() const { return event_; }
	// Until end(), which gives the result. The service manager's watchdog is fed meanwhile.
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

// Whenever the descriptor is readable
class Readable : Source {
public:
	Readable(Loop &loop, int fd, std::function<void()> call);
};

// SIGTERM and so on, which are blocked in the process from then on
class OnSignal : Source {
public:
	OnSignal(Loop &loop, int signal, std::function<void()> call);
};

// Once, after a time
class Timer : Source {
public:
	Timer(Loop &loop, std::function<void()> call);

	void start(std::chrono::milliseconds delay); // from now on, whether it ran or not
	void startUnlessRunning(std::chrono::milliseconds delay);
	void stop();
	bool running() const;
};

} // namespace nvmeofd
