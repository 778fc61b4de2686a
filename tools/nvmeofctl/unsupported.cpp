// SPDX-License-Identifier: LGPL-2.1-or-later
#include "unsupported.h"

#include <algorithm>

#include <fmt/format.h>

namespace {

struct UnsupportedName {
	std::string_view shortName, name;
	const char *instead;
};

constexpr const char *noKeys = "authentication is not supported yet: allow this host at the target by its NQN, which "
			       "'nvmeofctl show-hostnqn' prints, and keep the network closed to others";
constexpr const char *noTls = "encryption is not supported yet: use a trusted network, or IPsec";
constexpr const char *noFile = "the configuration is in /etc/nvmeof/nvmeof.toml: 'nvmeofctl import' converts such a "
			       "file, 'nvmeofctl connect-all' connects its targets";
constexpr const char *byIoctl = "use nvme-cli for it: its commands work on /dev/nvmeof0c1 and /dev/nvmeof0n1";

constexpr UnsupportedName options[] = {
	{"-S", "--dhchap-secret", noKeys},
	{"-C", "--dhchap-ctrl-secret", noKeys},
	{"", "--tls", noTls},
	{"", "--tls-key", noTls},
	{"", "--tls-key-identity", noTls},
	{"", "--keyring", noTls},
	{"", "--concat", noTls},
	{"-W", "--nr-write-queues",
	 "omit it: separate write queues are not supported, reads and writes share the queues"},
	{"", "--disable-sqflow", "omit it: SQ flow control is off unless --sq-flow is given"},
	{"-J", "--config", noFile},
	{"-O", "--dump-config", "'nvmeofctl list-subsys --json' shows what is connected"},
	{"", "--context", "omit it: connections have no context"},
	{"", "--application", "omit it: connections have no application name"},
	{"-m", "--matching", "omit it: another path joins its subsystem automatically"},
	{"-p", "--persistent", "use it with 'nvmeofctl connect-all', or connect to the discovery service"},
	{"-r", "--raw", "use --json"},
	{"-v", "--verbose", "omit it: 'nvmeofctl show NAME' and --json show all details"},
};

constexpr UnsupportedName verbs[] = {
	{"", "ns-rescan", "use 'nvmeofctl rescan'"},
	{"", "show-topology", "use 'nvmeofctl list-subsys' or 'nvmeofctl show NAME'"},
	{"", "id-ctrl", byIoctl},
	{"", "id-ns", byIoctl},
	{"", "list-ns", byIoctl},
	{"", "smart-log", byIoctl},
	{"", "error-log", byIoctl},
	{"", "get-log", byIoctl},
	{"", "get-feature", byIoctl},
	{"", "set-feature", byIoctl},
	{"", "format", byIoctl},
	{"", "flush", byIoctl},
	{"", "read", byIoctl},
	{"", "write", byIoctl},
};

std::optional<std::string> unsupportedText(const auto &habits, std::string name)
{
	std::ranges::replace(name, '_', '-'); // nvme-cli accepts both
	for (const UnsupportedName &habit : habits)
		if (name == habit.name || (name == habit.shortName && !name.empty()))
			return fmt::format("{} is not supported here; {}", habit.name, habit.instead);
	return std::nullopt;
}

} // namespace

std::optional<std::string> unsupportedOption(std::string_view name)
{
	return unsupportedText(options, std::string(name));
}

std::optional<std::string> unsupportedCommand(std::string_view name)
{
	return unsupportedText(verbs, std::string(name));
}
