// SPDX-License-Identifier: LGPL-2.1-or-later
// Event loop and output of "monitor", and recorded events.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nvmeof/result.h>
#include <nvmeof/topology.h>

#include "format.h"
#include "json.h"

struct MonitorLimits {
	std::optional<std::uint32_t> count;
	std::optional<std::chrono::milliseconds> timeout;
};

enum class MonitorEnd { counted, timeOver, unread };

// Returns the next event, or nothing, at the latest after that time. Waits without limit if negative.
using NextEvent = std::function<nvmeof::Result<std::optional<nvmeof::TopologyEvent>>(std::chrono::milliseconds)>;
// Returns false if the output cannot be written any more.
using TakeEvent = std::function<bool(const nvmeof::TopologyEvent &)>;

// Passes events to @take until a limit is reached. A steady stream of events does not extend the time limit.
nvmeof::Result<MonitorEnd> followEvents(const MonitorLimits &limits, const NextEvent &next, const TakeEvent &take);

// Without newline.
std::string monitorLine(const nvmeof::Event &event, const std::optional<nvmeof::AnaBefore> &before, bool json);

// Where nvmeofd records events
inline constexpr const char *recordedEventsFile = "/var/lib/nvmeof/events";
inline constexpr std::size_t largestEventsFile = 16 << 20; // bytes

// A selection of recorded events
struct EventChoice {
	std::optional<std::chrono::system_clock::time_point> since, until;
	std::string name;                   // object name, NQN, wwid or address; empty: any
	std::optional<std::uint32_t> count; // only the last N
};

// The events in @lines that match @choice, in file order (oldest first). Lines that are no events are skipped.
std::vector<Json> chooseEvents(std::string_view lines, const EventChoice &choice);
// One line without newline, in local time.
std::string keptEventText(const Json &event);
Json eventsDocument(const std::string &file, const std::vector<Json> &events);
