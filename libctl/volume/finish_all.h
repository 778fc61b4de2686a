// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <algorithm>
#include <poll.h>
#include <vector>

#include <nvmeof/client.h>

namespace nofctl::volume {

// Waits until all operations are complete or @over returns true. @look: interval for checking @over, ms; -1: only check
// after events.
template <typename T, typename Over>
void finishAll(nvmeof::Client &client, const std::vector<nvmeof::Pending<T>> &all, const Over &over, int look = -1)
{
	auto waits = [](const nvmeof::Pending<T> &one) { return !one.ready(); };
	for (client.dispatch(); std::ranges::any_of(all, waits) && !over(); client.dispatch()) {
		pollfd fd{client.fd(), POLLIN, 0};
		::poll(&fd, 1, look);
	}
}

} // namespace nofctl::volume
