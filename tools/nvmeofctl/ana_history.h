// SPDX-License-Identifier: LGPL-2.1-or-later
// The ANA state that each path was seen in last, to tell how long one has lasted.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>

#include <nvmeof/event.h>

#include "format.h"

class AnaHistory {
public:
	void learn(const nvmeof::Path &path);

	// What the event's path was before, when that has changed and is known.
	std::optional<nvmeof::AnaBefore> update(const nvmeof::Event &event);

private:
	struct Seen {
		nvmeof::AnaState state = nvmeof::AnaState::none;
		std::optional<std::chrono::nanoseconds> since;

		bool before(const nvmeof::Path &path) const;
	};
	std::map<std::string, Seen> last_;
};
