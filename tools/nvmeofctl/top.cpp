// SPDX-License-Identifier: LGPL-2.1-or-later
#include <chrono>
#include <ostream>
#include <thread>

#include <poll.h>
#include <unistd.h>

#include <nvmeof/event_stream.h>

#include "context.h"
#include "exit_code.h"
#include "format.h"
#include "signals.h"
#include "terminal.h"
#include "top_sampler.h"
#include "top_view.h"

using namespace nvmeof;
using namespace std::chrono_literals;

namespace {

using Clock = std::chrono::steady_clock;
using Millis = std::chrono::milliseconds;

struct TopOptions {
	Millis interval = 1s;
	bool batch = false;
	std::optional<std::uint32_t> frames;
	std::string object;
};

TopOptions optionsOf(const Context &context)
{
	const Args &args = context.args();
	return {.interval = args.seconds("delay").value_or(1s),
		.batch = args.has("batch") || context.json(),
		.frames = args.number("iterations"),
		.object = args.textOr("NAME", "")};
}

// The first frame comes after one interval, so that it has rates.
int runBatch(Context &context, const TopOptions &options)
{
	TopSampler sampler(options.object);
	TopView view;
	sampler.read(true);
	for (std::uint32_t i = 0; !options.frames || i < *options.frames; i++) {
		std::this_thread::sleep_for(options.interval);
		sampler.read(true);
		if (context.json())
			context.out() << dump(withSchema(toJson(sampler.model())), -1) << std::endl;
		else
			context.out() << view.batch(sampler.model()) << std::flush;
		if (!context.out()) // nobody reads any more
			return static_cast<int>(ExitCode::failed);
	}
	return sampler.exitCode();
}

// Events make states show at once, between two ticks. Without them the view is as old as the last tick.
class Events {
public:
	int fd() const { return stream_ ? stream_->fd() : -1; }

	// The subscription ends with the module.
	void follow(bool readable)
	{
		if (!readable)
			stream_.reset();
		else if (!stream_)
			if (Result<EventStream> stream = EventStream::subscribe())
				stream_.emplace(*std::move(stream));
	}

	// Takes what has come; the text of the last one.
	std::optional<std::string> take()
	{
		std::optional<std::string> last;
		for (int i = 0; stream_ && i < 1000; i++) {
			Result<std::optional<Event>> event = stream_->next(Millis(0));
			if (!event)
				stream_.reset();
			else if (!*event)
				break;
			else if ((*event)->type != EventType::present && (*event)->type != EventType::synced)
				last = formatEvent(**event);
		}
		return last;
	}

private:
	std::optional<EventStream> stream_;
};

class Live {
public:
	Live(Terminal &terminal, const Signals &signals, const TopOptions &options)
		: terminal_(terminal), signals_(signals), options_(options), sampler_(options.object)
	{
	}

	// The signal that ended it; 0: a key did.
	int run()
	{
		tick();
		while (!done_ && !signal_) {
			terminal_.draw(view_.draw(shown_, terminal_.size()));
			wait();
			readSignals();
			readKeys();
			readEvents();
			if (Clock::now() >= nextTick_)
				tick();
			else if (refreshAt_ && Clock::now() >= *refreshAt_)
				read(false);
		}
		return signal_;
	}

private:
	static constexpr Millis leastPause = 100ms; // between readings, however many events come

	void read(bool tick)
	{
		events_.follow(sampler_.read(tick));
		refreshAt_.reset();
		lastRead_ = Clock::now();
		if (!view_.paused())
			shown_ = sampler_.model();
	}

	void tick()
	{
		read(true);
		nextTick_ = std::max(nextTick_ + options_.interval, lastRead_ + options_.interval / 2);
		if (++ticks_; options_.frames && ticks_ > *options_.frames)
			done_ = true;
	}

	void wait()
	{
		Clock::time_point until = refreshAt_ ? std::min(*refreshAt_, nextTick_) : nextTick_;
		Millis left = std::max(std::chrono::ceil<Millis>(until - Clock::now()), Millis(0));
		pollfd fds[] = {{STDIN_FILENO, POLLIN, 0}, {signals_.fd(), POLLIN, 0}, {events_.fd(), POLLIN, 0}};
		// Interrupted, by a stop and its end: as if the time were over.
		if (::poll(fds, 3, static_cast<int>(std::min<Millis::rep>(left.count(), 60000))) > 0)
			done_ = fds[0].revents & (POLLHUP | POLLERR | POLLNVAL); // the terminal is gone
	}

	void readSignals()
	{
		while (int signal = signals_.next()) {
			if (signal == SIGWINCH)
				terminal_.resize();
			else
				signal_ = signal;
		}
	}

	void readKeys()
	{
		for (TopKey key; (key = terminal_.key()) != TopKey::none;) {
			bool was = view_.paused();
			if (key == TopKey::redraw)
				terminal_.redraw();
			if (!view_.key(key))
				done_ = true;
			if (was && !view_.paused())
				shown_ = sampler_.model();
		}
	}

	void readEvents()
	{
		std::optional<std::string> last = events_.take();
		if (!last)
			return;
		sampler_.note(*std::move(last));
		refreshAt_ = std::max(Clock::now(), lastRead_ + leastPause);
	}

	Terminal &terminal_;
	const Signals &signals_;
	const TopOptions options_;
	TopSampler sampler_;
	Events events_;
	TopView view_;
	TopModel shown_; // stays while paused
	Clock::time_point nextTick_ = Clock::now(), lastRead_;
	std::optional<Clock::time_point> refreshAt_;
	std::uint32_t ticks_ = 0;
	bool done_ = false;
	int signal_ = 0;
};

// Signals are caught before the terminal is taken over, until after it is given back.
Result<int> runLive(const TopOptions &options)
{
	Signals signals{SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH};
	Result<Terminal> terminal = Terminal::open();
	if (!terminal)
		return terminal.error();
	return Live(*terminal, signals, options).run();
}

} // namespace

int runTop(Context &context)
{
	const TopOptions options = optionsOf(context);
	if (options.batch)
		return runBatch(context, options);
	Result<int> signal = runLive(options);
	if (!signal)
		return context.fail("", signal.error());
	if (*signal)
		dieOf(*signal);
	return 0;
}
