// SPDX-License-Identifier: LGPL-2.1-or-later
// What "nvmeofctl monitor" does with a stream of events.
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

// The next event, or nothing when that time has passed; negative: for ever.
using NextEvent = std::function<nvmeof::Result<std::optional<nvmeof::TopologyEvent>>(std::chrono::milliseconds)>;
// False: nobody reads any more.
using TakeEvent = std::function<bool(const nvmeof::TopologyEvent &)>;

// Until as many events have come as were asked for, or the time is over, however fast they come.
nvmeof::Result<MonitorEnd> followEvents(const MonitorLimits &limits, const NextEvent &next, const TakeEvent &take);

// No newline.
std::string monitorLine(const nvmeof::Event &event, const std::optional<nvmeof::AnaBefore> &before, bool json);
