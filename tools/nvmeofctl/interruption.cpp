// SPDX-License-Identifier: LGPL-2.1-or-later
#include "interruption.h"

#include <csignal>
#include <poll.h>
#include <system_error>

namespace {

constexpr int stopCheckInterval = 20; // ms, between checks of the stop token

} // namespace

Interruption::Interruption() : signals_{SIGINT, SIGTERM, SIGHUP}
{
	try {
		watcher_ = std::jthread([this](const std::stop_token &end) { watch(end); });
	} catch (const std::system_error &) { // no thread: caught() reads the signals after the call
	}
}

void Interruption::watch(const std::stop_token &end)
{
	pollfd poll{signals_.fd(), POLLIN, 0};
	while (!end.stop_requested() && !caught_)
		if (::poll(&poll, 1, stopCheckInterval) > 0 && (caught_ = signals_.next()))
			stop_.request_stop();
}

int Interruption::caught()
{
	watcher_ = {};
	return caught_ ? caught_.load() : signals_.next();
}
