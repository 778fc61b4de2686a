// SPDX-License-Identifier: LGPL-2.1-or-later
// Event loop and output of "monitor".
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include <nvmeof/result.h>
#include <nvmeof/topology.h>

#include "format.h"

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
