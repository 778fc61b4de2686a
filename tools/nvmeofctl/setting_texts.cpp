// SPDX-License-Identifier: LGPL-2.1-or-later
#include "setting_texts.h"

#include <fmt/format.h>

#include "parse.h"

using namespace nvmeof;

Result<Settings> parseSettings(ObjectKind kind, const std::vector<std::string> &words)
{
	if (kind == ObjectKind::subsystem) {
		Result<SubsystemSettings> parsed = parseSubsystemSettings(words);
		return parsed ? Result<Settings>(Settings(*parsed)) : Result<Settings>(parsed.error());
	}
	if (kind == ObjectKind::controller) {
		Result<ControllerSettings> parsed = parseControllerSettings(words);
		return parsed ? Result<Settings>(Settings(*parsed)) : Result<Settings>(parsed.error());
	}
	return usageError(fmt::format("a {} has no settings", toString(kind)));
}

// ---- descriptions

namespace {

constexpr SettingText ofSubsystem[] = {
	{"iopolicy", "a path selector; 'nvmeofctl version' lists them", "numa",
	 "how the path of a request is selected among the usable paths in the best ANA state"},
	{"spill-us", "0 to 60000000 us, 0 for off", "0",
	 "use non-optimized paths, too, if the expected latency of every optimized path is longer than this"},
	{"spill-depth", "0 to 1024 commands, 0 for off", "0",
	 "use non-optimized paths, too, if every optimized path has more commands outstanding on the queue of the CPU"},
	{"degrade", "on or off", "off", "avoid a path that is an outlier in latency or errors"},
	{"fencing", "auto, immediate or safe", "auto",
	 "when a request that modifies data may be retried after its connection was lost"},
	{"delayed-removal-secs", "0 to 604800 s", "0",
	 "how long a namespace remains without a path before it is removed"},
	{"quiesce-tmo", "0 to 86400 s", "30",
	 "with fencing=safe: assumed time for which a target still executes requests of a lost connection, unless the "
	 "target reports it"},
};

constexpr SettingText ofController[] = {
	{"reconnect-delay", "0.001 to 86400 s", "10", "maximum delay between reconnect attempts"},
	{"ctrl-loss-tmo", "-1 (never), or 0 to 2147483.647 s", "600",
	 "time without a connection after which the controller is lost and its paths are removed"},
	{"fast-io-fail-tmo", "-1 (off), or 0 to 2147483.647 s", "-1",
	 "time without a connection after which waiting I/O fails"},
	{"stall-tmo", "0 (off) to 86400 s; 300ms is 0.3", "0.3",
	 "time without an answer after which the path is suspect"},
	{"dhchap-key", "FILE, credential:NAME or keyring:DESCRIPTION", "none",
	 "key by which this host authenticates itself; a live controller is authenticated again"},
	{"dhchap-ctrl-key", "likewise", "none", "key by which the controller has to authenticate itself"},
	{"tls-key", "FILE, credential:NAME or keyring:IDENTITY", "none",
	 "pre-shared key with which the next connections use TLS"},
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
