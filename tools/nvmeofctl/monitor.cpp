// SPDX-License-Identifier: LGPL-2.1-or-later
#include <cerrno>
#include <map>
#include <ostream>

#include <nvmeof/client.h>
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

// The ANA state that each path was seen in last, to tell how long one has lasted.
class AnaHistory {
public:
	void learn(const Path &path) { last_[path.name] = {path.anaState, path.anaSince}; }

	// What the event's path was before, when that has changed and is known.
	std::optional<AnaBefore> update(const Event &event)
	{
		const Path *path = event.path();
		if (!path)
			return std::nullopt;
		auto known = last_.find(path->name);
		std::optional<AnaBefore> before;
		if (known != last_.end() && known->second.before(*path))
			before = AnaBefore{known->second.state, *path->anaSince - *known->second.since};
		if (event.type == EventType::removed)
			last_.erase(path->name);
		else
			learn(*path);
		return before;
	}

private:
	struct Seen {
		AnaState state;
		std::optional<std::chrono::nanoseconds> since;

		// An event from before the first reading tells of a state that is over.
		bool before(const Path &path) const
		{
			return state != path.anaState && since && path.anaSince && *since < *path.anaSince;
		}
	};
	std::map<std::string, Seen> last_;
};

// Each line is flushed: whoever reads a pipe sees it at once.
void printEvent(Context &context, const Event &event, const std::optional<AnaBefore> &before)
{
	if (!context.json()) {
		context.out() << formatEvent(event, before) << std::endl;
		return;
	}
	Json json = toJson(event);
	if (before)
		json["ana_before"] = {{"state", toString(before->state)}, {"lasted_ns", before->lasted.count()}};
	context.out() << dump(withSchema(json), -1) << std::endl;
}

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
	AnaHistory history = historyNow();
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
		printEvent(context, **event, history.update(**event));
		if (!context.out()) // nobody reads any more
			return static_cast<int>(ExitCode::failed);
		seen++;
	}
	return 0;
}
