// SPDX-License-Identifier: LGPL-2.1-or-later
#include "progress.h"

#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <system_error>
#include <unistd.h>

#include <fmt/format.h>

#include "table.h"

using namespace std::chrono_literals;

namespace {

constexpr auto beforeFirst = 500ms, updateInterval = 250ms;
constexpr auto answerTimeout = 1s; // the destructor waits for a request under way
constexpr const char *wipe = "\r\033[K";

bool onTerminal()
{
	const char *term = std::getenv("TERM");
	return ::isatty(STDERR_FILENO) && term && std::string_view(term) != "dumb";
}

// Bypasses the streams, which the working thread uses.
void put(const std::string &text)
{
	[[maybe_unused]] ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
}

} // namespace

std::string progressLine(const std::string &what, const std::string &soFar, std::chrono::seconds passed)
{
	return nofctl::printable(fmt::format("{}: {}{}{} s", what, soFar, soFar.empty() ? "" : ", ", passed.count()));
}

Progress::Progress(std::string what, Look look) : what_(std::move(what)), look_(std::move(look))
{
	if (!onTerminal())
		return;
	try {
		drawer_ = std::jthread([this](const std::stop_token &end) { draw(end); });
	} catch (const std::system_error &) { // without a thread there is no progress line
	}
}

Progress::~Progress() = default;

void Progress::draw(const std::stop_token &end)
{
	std::condition_variable_any wake;
	std::unique_lock lock(mutex_);
	auto begin = std::chrono::steady_clock::now();
	nvmeof::Result<nvmeof::Client> client = nvmeof::Client::open({{}, answerTimeout});
	bool drawn = false;
	auto pause = [&](auto time) { wake.wait_for(lock, end, time, [] { return false; }); };
	for (pause(beforeFirst); !end.stop_requested(); pause(updateInterval)) {
		auto passed =
			std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - begin);
		put(wipe + progressLine(what_, client ? look_(*client) : "", passed));
		drawn = true;
	}
	if (drawn)
		put(wipe);
}
