// SPDX-License-Identifier: LGPL-2.1-or-later
#include "monitor.h"

#include <cerrno>
#include <ostream>

#include <nvmeof/client.h>
#include <nvmeof/event_stream.h>

#include "ana_history.h"
#include "context.h"
#include "exit_code.h"

using namespace nvmeof;

namespace {

using Clock = std::chrono::steady_clock;

// Read after the subscription, so that no change falls between the two.
AnaHistory historyNow()
{
	AnaHistory history;
	Result<Client> client = Client::open();
	if (!client)
		return history;
	if (Result<std::vector<Path>> paths = client->paths())
		for (const Path &path : *paths)
			history.learn(path);
	return history;
}

// How long to wait for the next event; negative for ever.
std::chrono::milliseconds leftUntil(const std::optional<Clock::time_point> &end)
{
	if (!end)
		return std::chrono::milliseconds(-1);
	return std::max(std::chrono::ceil<std::chrono::milliseconds>(*end - Clock::now()),
			std::chrono::milliseconds(0));
}

int endOf(Context &context, const MonitorLimits &limits, MonitorEnd end)
{
	if (end == MonitorEnd::unread)
		return static_cast<int>(ExitCode::failed);
	if (end == MonitorEnd::timeOver && limits.count)
		return context.fail("", errorFromErrno(ETIMEDOUT, "fewer events than asked for"));
	return 0;
}

} // namespace

Result<MonitorEnd> followEvents(const MonitorLimits &limits, const NextEvent &next, const TakeEvent &take)
{
	std::optional<Clock::time_point> end;
	if (limits.timeout)
		end = Clock::now() + *limits.timeout;
	std::uint32_t seen = 0;
	while (!limits.count || seen < *limits.count) {
		if (end && Clock::now() >= *end)
			return MonitorEnd::timeOver;
		Result<std::optional<Event>> event = next(leftUntil(end));
		if (!event)
			return event.error();
		if (!*event)
			continue;
		if (!take(**event))
			return MonitorEnd::unread;
		seen++;
	}
	return MonitorEnd::counted;
}

std::string monitorLine(const Event &event, const std::optional<AnaBefore> &before, bool json)
{
	if (!json)
		return formatEvent(event, before);
	Json line = toJson(event);
	if (before)
		line["ana_before"] = {{"state", toString(before->state)}, {"lasted_ns", before->lasted.count()}};
	return dump(withSchema(line), -1);
}

int runMonitor(Context &context)
{
	const MonitorLimits limits{context.args().number("count"), context.args().seconds("timeout")};
	Result<EventStream> events = EventStream::subscribe();
	if (!events)
		return context.fail("", events.error());
	AnaHistory history = historyNow();
	auto take = [&](const Event &event) {
		// Flushed: whoever reads a pipe sees it at once.
		context.out() << monitorLine(event, history.update(event), context.json()) << std::endl;
		return static_cast<bool>(context.out());
	};
	auto next = [&](std::chrono::milliseconds time) { return events->next(time); };
	Result<MonitorEnd> end = followEvents(limits, next, take);
	return end ? endOf(context, limits, *end) : context.fail("", end.error());
}
