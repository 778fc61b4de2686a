// SPDX-License-Identifier: LGPL-2.1-or-later
#include "process.h"

#include <ctime>
#include <fstream>
#include <sstream>
#include <string>

#include <fmt/format.h>

namespace storm {

namespace {

// The fields from the third on: proc_pid_stat(5)
std::string fieldsOf(int pid)
{
	std::ifstream stat(fmt::format("/proc/{}/stat", pid));
	std::string line;
	std::getline(stat, line);
	const std::size_t name = line.rfind(") "); // the command name may have any characters
	return name == line.npos ? "" : line.substr(name + 2);
}

} // namespace

std::uint64_t memoryOf(int pid)
{
	std::ifstream status(fmt::format("/proc/{}/status", pid));
	for (std::string line; std::getline(status, line);)
		if (line.starts_with("VmRSS:"))
			return std::stoull(line.substr(6)) * 1024;
	return 0;
}

std::chrono::nanoseconds CpuTime::user() const
{
	const std::uint64_t ticks = userTicks + systemTicks;
	const double part = ticks ? static_cast<double>(userTicks) / static_cast<double>(ticks) : 0;
	return std::chrono::nanoseconds(static_cast<std::int64_t>(static_cast<double>(sum.count()) * part));
}

std::optional<CpuTime> cpuTimeOf(int pid)
{
	constexpr int fieldsBeforeTimes = 11; // fields, from the third on
	std::istringstream fields(fieldsOf(pid));
	std::string skipped;
	for (int i = 0; i < fieldsBeforeTimes; i++)
		fields >> skipped;
	CpuTime its;
	clockid_t clock{};
	timespec time{};
	if (!(fields >> its.userTicks >> its.systemTicks) || ::clock_getcpuclockid(pid, &clock) ||
	    ::clock_gettime(clock, &time))
		return {};
	its.sum = std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
	return its;
}

} // namespace storm
