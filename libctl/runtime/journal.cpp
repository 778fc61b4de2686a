// SPDX-License-Identifier: LGPL-2.1-or-later
#include "journal.h"

#include <cerrno>
#include <cstdlib>
#include <sys/uio.h>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <systemd/sd-daemon.h>
#include <systemd/sd-journal.h>

#include "libctl/base/text.h"

namespace runtime {

namespace {

bool journalled()
{
	static const bool is = getenv("JOURNAL_STREAM") != nullptr;
	return is;
}

void add(std::vector<std::string> &lines, const char *name, const std::string &value)
{
	if (!value.empty())
		lines.push_back(fmt::format("{}={}", name, nofctl::printable(value)));
}

} // namespace

void say(int priority, std::string_view message, const Fields &fields)
{
	std::string text = nofctl::printable(message);
	if (!journalled()) {
		fmt::print(stderr, "{}: {}\n", program_invocation_short_name, text);
		return;
	}
	std::vector<std::string> lines{"MESSAGE=" + text, fmt::format("PRIORITY={}", priority),
				       "SYSLOG_IDENTIFIER=" + std::string(program_invocation_short_name)};
	add(lines, "NVMEOF_NQN", fields.nqn);
	add(lines, "NVMEOF_SERVICE", fields.service);
	add(lines, "NVMEOF_CONTROLLER", fields.controller);
	add(lines, "NVMEOF_ADDRESS", fields.address);
	std::vector<iovec> pieces;
	for (std::string &line : lines)
		pieces.push_back({line.data(), line.size()});
	sd_journal_sendv(pieces.data(), static_cast<int>(pieces.size()));
}

bool LogLimit::allow(std::uint64_t &leftOut, Clock::time_point now)
{
	std::lock_guard lock(mutex_);
	if (now - begun_ >= interval_) {
		begun_ = now;
		lines_ = 0;
	}
	if (lines_ >= max_) {
		leftOut_++;
		return false;
	}
	lines_++;
	leftOut = std::exchange(leftOut_, 0);
	return true;
}

bool LogLimit::full(Clock::time_point now)
{
	std::lock_guard lock(mutex_);
	return now - begun_ < interval_ && lines_ >= max_;
}

void say(LogLimit &limit, int priority, std::string_view message, const Fields &fields)
{
	std::uint64_t leftOut = 0;
	if (!limit.allow(leftOut))
		return;
	say(priority,
	    leftOut ? fmt::format("{} ({} more such messages were suppressed)", message, leftOut)
		    : std::string(message),
	    fields);
}

} // namespace runtime
