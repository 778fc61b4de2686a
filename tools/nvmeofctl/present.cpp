// SPDX-License-Identifier: LGPL-2.1-or-later
#include "present.h"

#include <algorithm>
#include <chrono>
#include <poll.h>

#include <nvmeof/difference.h>

#include "in_tree_driver.h"

using namespace nvmeof;
using namespace std::chrono_literals;

namespace {

constexpr std::chrono::milliseconds forRemoval = 10s;
constexpr int pollInterval = 50; // ms

} // namespace

Present::Present(Client &client) : client_(client)
{
	if (Result<std::vector<Controller>> all = client.controllers())
		controllers_ = *std::move(all);
}

const Controller *Present::find(const ConnectOptions &options, const std::string &hostnqn) const
{
	for (const Controller &one : controllers_)
		if (!isEnding(one.state) && isConnection(one, options, hostnqn))
			return &one;
	return nullptr;
}

std::optional<std::string> Present::inTreeConflict(const std::string &nqn) const
{
	if (std::ranges::any_of(controllers_, [&](const Controller &one) { return one.subsysnqn == nqn; }))
		return std::nullopt;
	return ::inTreeConflict(nqn, foreignControllers(nqn));
}

bool Present::has(const std::string &name) const
{
	return std::ranges::any_of(controllers_, [&](const Controller &one) { return one.name == name; });
}

void Present::awaitRemoval(const std::function<bool(const Controller &)> &ours) const
{
	auto isLeft = [&](const Controller &now) { return !has(now.name) && ours(now); };
	const auto end = std::chrono::steady_clock::now() + forRemoval;
	while (std::chrono::steady_clock::now() < end) {
		client_.dispatch();
		Result<std::vector<Controller>> all = client_.controllers();
		if (!all || std::ranges::none_of(*all, isLeft))
			return;
		pollfd fd{client_.fd(), POLLIN, 0};
		::poll(&fd, 1, pollInterval);
	}
}
