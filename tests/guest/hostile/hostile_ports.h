// SPDX-License-Identifier: LGPL-2.1-or-later
// What tests of several misbehaving ports share.
#pragma once

#include "support/ports.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <optional>
#include <vector>

namespace guest {

inline target::Config withAna(std::uint32_t groups = 4)
{
	target::Config config;
	config.ana = true;
	config.anaGroups = groups;
	return config;
}

// Drops the connections of these ports and waits until the host has reconnected.
inline void dropAndWaitReconnected(Ports &ports, const std::vector<std::size_t> &which)
{
	auto connects = [&] {
		std::uint64_t sum = 0;
		for (auto i : which)
			sum += ports[i].counters().adminConnects;
		return sum;
	};
	auto before = connects();
	for (auto i : which)
		ports[i].dropConnections();
	CHECK(eventually(
		[&] {
			return connects() == before + which.size() &&
			       std::ranges::all_of(ports.host.paths(), [](auto &p) { return p.usable; });
		},
		15s));
}

inline std::optional<nvmeof::Path> pathOf(Ports &ports, const std::string &controller)
{
	for (auto &p : ports.host.paths())
		if (p.controller == controller)
			return p;
	return {};
}

} // namespace guest
