// SPDX-License-Identifier: LGPL-2.1-or-later
#include "monitor.h"

#include <algorithm>
#include <cerrno>
#include <deque>
#include <iterator>
#include <ostream>

#include <poll.h>

#include "context.h"
#include "exit_code.h"

using namespace nvmeof;

namespace {

using Clock = std::chrono::steady_clock;

// Time left until @end; negative without an end.
std::chrono::milliseconds leftUntil(const std::optional<Clock::time_point> &end)
{
	if (!end)
		return std::chrono::milliseconds(-1);
	return std::max(std::chrono::ceil<std::chrono::milliseconds>(*end - Clock::now()),
			std::chrono::milliseconds(0));
}

// Returns events one by one. open() reads the existing objects, and drops their events.
class EventReader {
public:
	static Result<EventReader> open()
	{
		Result<Topology> topology = Topology::open();
		if (!topology)
			return topology.error();
		EventReader reader(*std::move(topology));
		while (!reader.topology_.synced()) {
			if (Result<void> taken = reader.take(std::chrono::milliseconds(-1)); !taken)
				return taken.error();
			while (!reader.events_.empty() && !reader.begun_)
				reader.begun_ = reader.pop().event.type == EventType::synced;
		}
		return reader;
	}

	Result<std::optional<TopologyEvent>> next(std::chrono::milliseconds timeout)
	{
		if (events_.empty())
			if (Result<void> taken = take(timeout); !taken)
				return taken.error();
		return events_.empty() ? std::optional<TopologyEvent>() : std::optional(pop());
	}

private:
	explicit EventReader(Topology topology) : topology_(std::move(topology)) {}

	// Waits, and dispatches once. That may yield no event.
	Result<void> take(std::chrono::milliseconds timeout)
	{
		pollfd poll{topology_.fd(), POLLIN, 0};
		::poll(&poll, 1, static_cast<int>(std::min<std::chrono::milliseconds::rep>(timeout.count(), 60000)));
		Result<std::vector<TopologyEvent>> told = topology_.dispatch();
		if (!told)
			return told.error();
		std::ranges::move(*told, std::back_inserter(events_));
		return {};
	}
	TopologyEvent pop()
	{
		TopologyEvent event = std::move(events_.front());
		events_.pop_front();
		return event;
	}

	Topology topology_;
	std::deque<TopologyEvent> events_;
	bool begun_ = false;
};

int endOf(Context &context, const MonitorLimits &limits, MonitorEnd end)
{
	if (end == MonitorEnd::unread)
		return static_cast<int>(ExitCode::failed);
	if (end == MonitorEnd::timeOver && limits.count)
		return context.fail("", errorFromErrno(ETIMEDOUT, "fewer events than requested by --count"));
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
		Result<std::optional<TopologyEvent>> event = next(leftUntil(end));
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
	Result<EventReader> reader = EventReader::open();
	if (!reader)
		return context.fail("", reader.error());
	auto take = [&](const TopologyEvent &one) {
		// Flushed, so that the reader of a pipe gets it at once.
		context.out() << monitorLine(one.event, one.before, context.json()) << std::endl;
		return static_cast<bool>(context.out());
	};
	auto next = [&](std::chrono::milliseconds time) { return reader->next(time); };
	Result<MonitorEnd> end = followEvents(limits, next, take);
	return end ? endOf(context, limits, *end) : context.fail("", end.error());
}
