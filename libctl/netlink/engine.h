// SPDX-License-Identifier: LGPL-2.1-or-later
// The event loop of a Client: its operations and their event sources. One thread, one descriptor to poll.
#pragma once

#include <chrono>
#include <exception>
#include <optional>
#include <stop_token>
#include <thread>
#include <vector>

#include <nvmeof/client.h>
#include <nvmeof/event_stream.h>

#include "libctl/base/epoll.h"
#include "session.h"
#include "udev.h"
#include "workers.h"

namespace nofctl {

// A long-running operation. The engine's thread calls all functions; none may block.
class Operation {
public:
	virtual ~Operation() = default;
	virtual void onEvent(const nvmeof::Event &) {}
	// The event stream has ended.
	virtual void onStreamEnd(const nvmeof::Error &) {}
	// Makes progress without blocking. True: the operation is complete and has delivered its result.
	virtual bool advance() = 0;
	// Latest time for the next advance() if no event arrives before.
	virtual Clock::time_point wake() const { return Clock::time_point::max(); }
	// The result is no longer needed.
	virtual void cancel() {}
};

class Engine {
public:
	// @answer: see OpenOptions::answer
	static nvmeof::Result<std::unique_ptr<Engine>> open(std::chrono::milliseconds answer = callTimeout);
	~Engine();

	Session &session() { return session_; }
	Workers &workers() { return workers_; }

	int fd() const { return epoll_.fd(); }
	void dispatch();

	// Passes events to operations from now on. Must be called before the request whose events matter.
	nvmeof::Result<void> listen();
	// Advances operations also when udev has processed a device. False: there is no udev monitor.
	bool followUdev();

	void add(std::shared_ptr<Operation> operation);
	// Queues the callback of a result that has become ready; dispatch() calls it.
	void notifyLater(std::function<void()> notify) { notifications_.push_back(std::move(notify)); }

	// Blocks until the result is ready or @stop is requested.
	template <typename T> void wait(const nvmeof::Pending<T> &pending, const std::stop_token &stop = {})
	{
		StopSignal signal(*this, stop);
		while (!pending.ready() && !stop.stop_requested()) {
			// without poll(), operations advance by polling until they complete or their time is over
			if (!waitReadable(fd(), Clock::time_point::max()))
				std::this_thread::sleep_for(pollRetry);
			dispatch();
		}
	}

private:
	static constexpr std::chrono::milliseconds pollRetry{10};

	// Makes fd() readable when another thread requests a stop.
	class StopSignal {
	public:
		StopSignal(Engine &engine, const std::stop_token &stop);

	private:
		struct Wake {
			int fd;
			void operator()() const;
		};
		std::stop_callback<Wake> callback_;
	};

	Engine(Session session, Epoll epoll, Workers workers, OwnedFd timer)
		: session_(std::move(session)), epoll_(std::move(epoll)), workers_(std::move(workers)),
		  timer_(std::move(timer))
	{
	}

	void end();
	void hear();
	void advance();
	void setTimer();

	Session session_;
	Epoll epoll_;
	Workers workers_;
	OwnedFd timer_;
	std::optional<nvmeof::EventStream> events_;
	bool more_ = false;   // more events may be queued
	bool missed_ = false; // an exception may have dropped an event: operations must query the kernel
	std::optional<UdevMonitor> udev_;
	std::vector<std::shared_ptr<Operation>> operations_, fresh_;
	std::vector<std::function<void()>> notifications_;
};

// The producer side of a Pending. Copies share one state. An operation holds a Promise; destroying the Pending cancels
// the operation.
template <typename T> class Promise {
public:
	Promise() : state_(std::make_shared<nvmeof::detail::PendingState<T>>()) {}

	nvmeof::Pending<T> pending(std::weak_ptr<Operation> operation)
	{
		// Also called by destructors. If undoing needs memory and there is none, the object stays.
		state_->cancel = [operation = std::move(operation)] {
			try {
				if (auto there = operation.lock())
					there->cancel();
			} catch (const std::exception &) {
			}
		};
		return nvmeof::Pending<T>(state_);
	}

	// May be called again after an exception: the first value stays.
	void finish(Engine &engine, T value)
	{
		if (state_->value)
			return;
		state_->cancel = nullptr;
		state_->value = std::move(value);
		engine.notifyLater([state = state_] {
			if (auto notify = std::exchange(state->notify, nullptr))
				notify();
		});
	}

private:
	std::shared_ptr<nvmeof::detail::PendingState<T>> state_;
};

} // namespace nofctl
