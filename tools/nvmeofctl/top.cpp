// SPDX-License-Identifier: LGPL-2.1-or-later
// top: the paths, live or in batches.
#include <chrono>
#include <ostream>
#include <poll.h>
#include <unistd.h>

#include "context.h"
#include "terminal.h"
#include "top_model.h"
#include "top_view.h"

using namespace nvmeof;
using namespace std::chrono_literals;

namespace {

using Clock = std::chrono::steady_clock;
using Millis = std::chrono::milliseconds;

constexpr Millis maxWait = 60s; // longest wait for a sample

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

void read(TopSampler &sampler)
{
	sampler.tick();
	sampler.wait(maxWait);
}

// Dispatches events as they arrive, because the buffer of the socket is small.
void idle(TopSampler &sampler, Clock::time_point until)
{
	for (;;) {
		Millis left = std::chrono::ceil<Millis>(until - Clock::now());
		if (left <= 0ms)
			return;
		pollfd poll{sampler.fd(), POLLIN, 0};
		::poll(&poll, 1, static_cast<int>(std::min<Millis::rep>(left.count(), 60000)));
		sampler.dispatch();
	}
}

// The first frame comes after one interval, so that it has rates.
int runBatch(Context &context, const TopOptions &options)
{
	TopSampler sampler(options.object);
	TopView view;
	Clock::time_point next = Clock::now();
	read(sampler);
	for (std::uint32_t i = 0; !options.frames || i < *options.frames; i++) {
		next = std::max(next + options.interval, Clock::now());
		idle(sampler, next);
		read(sampler);
		if (context.json())
			context.out() << dump(withSchema(toJson(sampler.model())), -1) << std::endl;
		else
			context.out() << view.batch(sampler.model()) << std::flush;
		if (!context.out()) // the reader has gone
			return static_cast<int>(ExitCode::failed);
	}
	return sampler.exitCode();
}

class Live {
public:
	Live(Terminal &terminal, const Signals &signals, const TopOptions &options)
		: terminal_(terminal), signals_(signals), options_(options), sampler_(options.object)
	{
	}

	// Returns the signal that ended it, or 0.
	int run()
	{
		tick();
		sampler_.wait(maxWait); // so that the first frame has data
		show();
		while (!done_ && !signal_) {
			terminal_.draw(view_.draw(shown_, terminal_.size()));
			wait();
			readSignals();
			readKeys();
			readEvents();
			if (Clock::now() >= nextTick_)
				tick();
			else if (refreshAt_ && Clock::now() >= *refreshAt_)
				refresh();
		}
		return signal_;
	}

private:
	static constexpr Millis minPause = 100ms; // between samples that events cause

	void show()
	{
		if (!view_.paused())
			shown_ = sampler_.model();
	}

	void refresh()
	{
		sampler_.refresh();
		refreshAt_.reset();
		lastRead_ = Clock::now();
	}

	void tick()
	{
		sampler_.tick();
		refreshAt_.reset();
		lastRead_ = Clock::now();
		show(); // shows an error at once
		nextTick_ = std::max(nextTick_ + options_.interval, lastRead_ + options_.interval / 2);
		if (++ticks_; options_.frames && ticks_ > *options_.frames)
			done_ = true;
	}

	void wait()
	{
		Clock::time_point until = refreshAt_ ? std::min(*refreshAt_, nextTick_) : nextTick_;
		Millis left = std::max(std::chrono::ceil<Millis>(until - Clock::now()), Millis(0));
		pollfd fds[] = {{STDIN_FILENO, POLLIN, 0}, {signals_.fd(), POLLIN, 0}, {sampler_.fd(), POLLIN, 0}};
		// An interruption, as by SIGSTOP and SIGCONT, counts as a timeout.
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
		if (sampler_.dispatch() && !refreshAt_)
			refreshAt_ = std::max(Clock::now(), lastRead_ + minPause);
		show();
	}

	Terminal &terminal_;
	const Signals &signals_;
	const TopOptions options_;
	TopSampler sampler_;
	TopView view_;
	TopModel shown_; // not updated while paused
	Clock::time_point nextTick_ = Clock::now(), lastRead_;
	std::optional<Clock::time_point> refreshAt_;
	std::uint32_t ticks_ = 0;
	bool done_ = false;
	int signal_ = 0;
};

// The signals are blocked before full-screen mode begins, until it has ended, so that the terminal is always restored.
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
		exitBySignal(*signal);
	return 0;
}
