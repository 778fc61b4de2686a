// SPDX-License-Identifier: LGPL-2.1-or-later
// What a Client does over time: operations, and what moves them on. One thread, one descriptor to poll.
#pragma once

#include <exception>
#include <optional>
#include <stop_token>
#include <vector>

#include <nvmeof/client.h>
#include <nvmeof/event_stream.h>

#include "epoll.h"
#include "session.h"
#include "udev.h"
#include "workers.h"

namespace nofctl {

// Something that takes a while. Each of these functions is called by the thread of the engine, and none waits.
class Operation {
public:
	virtual ~Operation() = default;
	virtual void onEvent(const nvmeof::Event &) {}
	// There will be none any more.
	virtual void onDeaf(const nvmeof::Error &) {}
	// As far as it goes now. True: it is over, and its result has been handed over.
	virtual bool advance() = 0;
	// When advance() has to be called, should nothing happen before.
	virtual Clock::time_point wake() const { return Clock::time_point::max(); }
	// Nobody waits for its result any more.
	virtual void cancel() {}
};

class Engine {
public:
	// @answer: see OpenOptions
	static nvmeof::Result<std::unique_ptr<Engine>> open(std::chrono::milliseconds answer = callTimeout);
	~Engine();

	Session &session() { return session_; }
	Workers &workers() { return workers_; }

	int fd() const { return epoll_.fd(); }
	void dispatch();

	// From here on operations are told of events. Before what they tell of is asked for.
	nvmeof::Result<void> listen();
	// From here on whatever udev has handled moves operations on. False: it is not there to do so.
	bool followUdev();

	void add(std::shared_ptr<Operation> operation);
	// Calls the callbacks of what has become ready; for start...().
	void notifyLater(std::function<void()> notify) { notifications_.push_back(std::move(notify)); }

	// Waits. @stop: returns without it.
	template <typename T> void wait(const nvmeof::Pending<T> &pending, const std::stop_token &stop = {})
	{
		StopSignal signal(*this, stop);
		while (!pending.ready() && !stop.stop_requested()) {
			waitReadable(fd(), Clock::time_point::max());
			dispatch();
		}
	}

private:
	// Makes fd() readable when another thread asks to stop.
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
	bool more_ = false;   // there may be events that were not read yet
	bool missed_ = false; // an exception may have cost one: operations look for themselves
	std::optional<UdevMonitor> udev_;
	std::vector<std::shared_ptr<Operation>> operations_, fresh_;
	std::vector<std::function<void()>> notifications_;
};

/*
 * The other end of a Pending. Copied, it is the same one; an operation holds one, so that a handle that is let go of
 * cancels it.
 */
template <typename T> class Promise {
public:
	Promise() : state_(std::make_shared<nvmeof::detail::PendingState<T>>()) {}

	nvmeof::Pending<T> pending(std::weak_ptr<Operation> operation)
	{
		// By destructors, too: where there is no memory for undoing it, it stays.
		state_->cancel = [operation = std::move(operation)] {
			try {
				if (auto there = operation.lock())
					there->cancel();
			} catch (const std::exception &) {
			}
		};
		return nvmeof::Pending<T>(state_);
	}

	// Again after it has thrown: what was there first stays
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
