// SPDX-License-Identifier: LGPL-2.1-or-later
#include "settings_table.h"

namespace {

constexpr SettingText ofSubsystem[] = {
	{"iopolicy", "a path selector; 'nvmeofctl version' lists them", "numa",
	 "which of the best paths a request takes"},
	{"spill-us", "0 to 60000000 us, 0 for off", "0",
	 "non-optimized paths join in when every optimized one is expected to take longer"},
	{"spill-depth", "0 to 1024 commands, 0 for off", "0",
	 "the same, when each has more outstanding on the queue of that CPU"},
	{"degrade", "on or off", "off", "leave out a path that is an outlier in latency or errors"},
	{"fencing", "auto, immediate or safe", "auto",
	 "when a request that modifies data may be sent again after its connection was lost"},
	{"delayed-removal-secs", "0 to 604800 s", "0", "how long a namespace outlives its last path"},
	{"quiesce-tmo", "0 to 86400 s", "30",
	 "with fencing=safe: how long a target that does not say so may execute requests of a connection it has ended"},
};

constexpr SettingText ofController[] = {
	{"reconnect-delay", "0.001 to 86400 s", "10", "longest pause between attempts to reconnect"},
	{"ctrl-loss-tmo", "-1 (never), or 0 to 2147483.647 s", "600",
	 "take the paths away after that long without a connection"},
	{"fast-io-fail-tmo", "-1 (off), or 0 to 2147483.647 s", "-1", "fail I/O after that long without a connection"},
	{"stall-tmo", "0 (off) to 86400 s; 300ms is 0.3", "0.3", "silence after which the path is suspect"},
};

} // namespace

std::span<const SettingText> subsystemSettingTexts()
{
	return ofSubsystem;
}

std::span<const SettingText> controllerSettingTexts()
{
	return ofController;
}
