// SPDX-License-Identifier: LGPL-2.1-or-later
#include <cerrno>
#include <ostream>

#include <nvmeof/event_stream.h>

#include "context.h"
#include "exit_code.h"
#include "format.h"

using namespace nvmeof;

namespace {

struct Limits {
	std::optional<std::uint32_t> count;
	std::optional<std::chrono::milliseconds> timeout;
};

Result<Limits> limitsOf(const Args &args)
{
	Result<std::optional<std::uint32_t>> count = args.number("count", UINT32_MAX);
	if (!count)
		return count.error();
	Result<std::optional<std::chrono::milliseconds>> timeout = args.seconds("timeout");
	if (!timeout)
		return timeout.error();
	return Limits{*count, *timeout};
}

// Each line is flushed: whoever reads a pipe sees it at once.
void printEvent(Context &context, const Event &event)
{
	if (context.json())
		context.out() << dump(withSchema(toJson(event)), -1) << std::endl;
	else
		context.out() << formatEvent(event) << std::endl;
}

using Clock = std::chrono::steady_clock;

// How long to wait for the next event; negative for ever.
std::chrono::milliseconds leftUntil(const std::optional<Clock::time_point> &end)
{
	if (!end)
		return std::chrono::milliseconds(-1);
	return std::max(std::chrono::ceil<std::chrono::milliseconds>(*end - Clock::now()),
			std::chrono::milliseconds(0));
}

} // namespace

int runMonitor(Context &context)
{
	Result<Limits> limits = limitsOf(context.args());
	if (!limits)
		return context.fail("", limits.error());
	Result<EventStream> events = EventStream::subscribe();
	if (!events)
		return context.fail("", events.error());
	std::optional<Clock::time_point> end;
	if (limits->timeout)
		end = Clock::now() + *limits->timeout;
	std::uint32_t seen = 0;
	while (!limits->count || seen < *limits->count) {
		Result<std::optional<Event>> event = events->next(leftUntil(end));
		if (!event)
			return context.fail("", event.error());
		if (!*event && end && Clock::now() >= *end)
			return limits->count
				       ? context.complain("", errorFromErrno(ETIMEDOUT, "fewer events than asked for"))
				       : 0;
		if (!*event)
			continue;
		printEvent(context, **event);
		if (!context.out()) // nobody reads any more
			return static_cast<int>(ExitCode::failed);
		seen++;
	}
	return 0;
}
