// SPDX-License-Identifier: LGPL-2.1-or-later
#include "monitor.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <deque>
#include <iterator>
#include <ostream>
#include <poll.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nvmeof/name.h>

#include "context.h"
#include "documents.h"
#include "libctl/base/file.h"
#include "libctl/base/text.h"
#include "when.h"

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

// ---- recorded events

namespace {

bool isAbout(const Json &event, const std::string &name)
{
	static constexpr std::array members{"name", "nqn", "controller", "namespace", "wwid", "traddr"};
	return std::ranges::any_of(members, [&](const char *key) { return textIn(event, key) == name; });
}

bool isChosen(const Json &event, const EventChoice &choice)
{
	const auto when = parseUtc(textIn(event, "time"));
	return when && event.contains("event") && (!choice.since || *when >= *choice.since) &&
	       (!choice.until || *when < *choice.until) && (choice.name.empty() || isAbout(event, choice.name));
}

void addDetails(std::vector<std::string> &details, const Json &event)
{
	auto text = [&](const char *member) {
		auto found = event.find(member);
		return found == event.end() ? "" : found->is_string() ? found->get<std::string>() : found->dump();
	};
	const std::string state = text("state"), before = text("old_state");
	if (!state.empty())
		details.push_back(before.empty() ? state : before + " -> " + state);
	if (event.contains("traddr"))
		details.push_back(fmt::format("{} {}:{}", text("transport"), text("traddr"), text("trsvcid")));
	if (event.contains("ana_state"))
		details.push_back(fmt::format("{}{}{}", text("ana_state"),
					      text("usable") == "true" ? "" : ", not usable",
					      text("suspect") == "true" ? ", suspect" : ""));
	if (event.contains("expected_paths"))
		details.push_back(fmt::format("{} of {} paths connected, {} usable", text("live_paths"),
					      text("expected_paths"), text("usable_paths")));
	if (auto failover = event.find("failover"); failover != event.end() && failover->is_object())
		details.push_back(
			fmt::format("{} requests failed over from {}, the slowest in {:.1f} ms",
				    failover->value("ios", 0u), failover->value("path", ""),
				    static_cast<double>(failover->value("duration_ns", std::int64_t(0))) / 1e6));
	if (auto aen = event.find("aen"); aen != event.end() && aen->is_object())
		details.push_back(fmt::format("type {}, info {}, log page {}", aen->value("type", 0u),
					      aen->value("info", 0u), aen->value("log_page", 0u)));
	if (event.contains("scan_errno"))
		details.push_back("errno " + text("scan_errno"));
	for (const char *member : {"reason", "last_error"})
		if (const std::string words = text(member); !words.empty()) {
			details.push_back(words);
			break;
		}
	if (event.contains("times"))
		details.push_back("attempt " + text("times"));
	if (event.contains("nqn") && text("kind") != "daemon")
		details.push_back(text("nqn"));
}

Result<std::optional<std::chrono::system_clock::time_point>> timeOf(const Context &context, const char *option)
{
	std::optional<std::string> text = context.args().text(option);
	if (!text)
		return std::optional<std::chrono::system_clock::time_point>();
	Result<std::chrono::system_clock::time_point> when = parseWhen(*text, std::chrono::system_clock::now());
	if (when)
		return std::optional(*when);
	Error error = when.error();
	error.message = fmt::format("--{}: {}", option, error.message);
	return error;
}

} // namespace

std::vector<Json> chooseEvents(std::string_view lines, const EventChoice &choice)
{
	std::vector<Json> events;
	while (!lines.empty()) {
		const std::size_t end = std::min(lines.find('\n'), lines.size());
		Json event = Json::parse(lines.substr(0, end), nullptr, false);
		lines.remove_prefix(std::min(end + 1, lines.size()));
		if (isChosen(event, choice))
			events.push_back(std::move(event));
	}
	if (choice.count && events.size() > *choice.count)
		events.erase(events.begin(), events.end() - *choice.count);
	return events;
}

std::string keptEventText(const Json &event)
{
	std::vector<std::string> details;
	try {
		addDetails(details, event);
	} catch (const Json::exception &) { // not a line of nvmeofd: print the details read so far
	}
	const std::string name = memberText(event, "name");
	return nofctl::printable(fmt::format("{}  {:<14} {}{}{}", localTime(memberText(event, "time")),
					     name.empty() ? "-" : name, memberText(event, "event"),
					     details.empty() ? "" : ": ", fmt::join(details, ", ")));
}

Json eventsDocument(const std::string &file, const std::vector<Json> &events)
{
	return {{"file", file}, {"events", events}};
}

int runEvents(Context &context)
{
	EventChoice choice;
	choice.name = plainName(context.args().textOr("NAME", ""));
	choice.count = context.args().number("count");
	for (auto [to, option] : {std::pair(&choice.since, "since"), std::pair(&choice.until, "until")}) {
		auto when = timeOf(context, option);
		if (!when)
			return context.fail("", when.error());
		*to = *when;
	}
	const std::string file = context.args().textOr("file", recordedEventsFile);
	Result<std::string> text = nofctl::readSmallFile(file, largestEventsFile);
	if (!text) {
		Error error = text.error();
		error.object = {ErrorObject::Kind::file, file};
		return context.fail(
			"", error,
			error.code == ErrorCode::noSuchObject
				? "nvmeofd records events while it runs; 'nvmeofctl monitor' prints them as they happen"
				: "");
	}
	const std::vector<Json> events = chooseEvents(*text, choice);
	if (context.json()) {
		context.print(eventsDocument(file, events));
		return 0;
	}
	for (const Json &event : events)
		context.out() << keptEventText(event) << "\n";
	return 0;
}
