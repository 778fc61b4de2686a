// SPDX-License-Identifier: LGPL-2.1-or-later
// The events that nvmeofd has recorded: selection and output.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "json.h"

// Where nvmeofd records them
inline constexpr const char *recordedEventsFile = "/var/lib/nvmeof/events";
inline constexpr std::size_t largestEventsFile = 16 << 20; // bytes

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
