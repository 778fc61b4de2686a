// SPDX-License-Identifier: LGPL-2.1-or-later
// The events that nvmeofd keeps: read, chosen, and told.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "json.h"

struct EventChoice {
	std::optional<std::chrono::system_clock::time_point> since, until;
	std::string name;                   // of an object, or an NQN, that it is about; empty: any
	std::optional<std::uint32_t> count; // the last ones
};

// Of the lines of a file those that are events and are chosen, oldest first. Others are left out.
std::vector<Json> chooseEvents(std::string_view lines, const EventChoice &choice);
// One line, no newline, in the local time.
std::string keptEventText(const Json &event);
Json eventsDocument(const std::string &file, const std::vector<Json> &events);
