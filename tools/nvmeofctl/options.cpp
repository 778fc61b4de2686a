// SPDX-License-Identifier: LGPL-2.1-or-later
#include "options.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <nvmeof/connect_settings.h>

namespace opt {

static Option ranged(Type type, std::int64_t min, std::int64_t max, Option option)
{
	option.type = type;
	option.min = min;
	option.max = max;
	return option;
}

Option flag(std::string shortName, std::string longName, std::string help)
{
	return {.shortName = std::move(shortName),
		.longName = std::move(longName),
		.value = "",
		.help = std::move(help)};
}

Option value(std::string shortName, std::string longName, std::string name, std::string help, Completes completes)
{
	return {.shortName = std::move(shortName),
		.longName = std::move(longName),
		.value = std::move(name),
		.help = std::move(help),
		.completes = completes};
}

Option required(Option option)
{
	option.required = true;
	return option;
}

Option repeated(Option option)
{
	option.repeated = true;
	return option;
}

Option oneOf(std::vector<std::string> choices, Option option)
{
	option.choices = std::move(choices);
	return option;
}

Option of(Type type, Option option)
{
	option.type = type;
	return option;
}

Option number(std::int64_t min, std::int64_t max, Option option)
{
	return ranged(Type::number, min, max, std::move(option));
}

Option time(std::int64_t min, std::int64_t max, Option option)
{
	return ranged(Type::time, min, max, std::move(option));
}

Option preset(std::string holds, Option option)
{
	option.preset = std::move(holds);
	return option;
}

Option positional(const std::string &name, std::string help, Completes completes)
{
	return {.shortName = "", .longName = name, .value = name, .help = std::move(help), .completes = completes};
}

Option aliasOf(const std::string &name, Option option)
{
	option.aliasOf = name;
	return option;
}

Option oldSpelling(const std::string &longName, Option option)
{
	option.old = true;
	return aliasOf(longName.substr(2), std::move(option));
}

std::vector<Option> joined(std::vector<std::vector<Option>> all)
{
	std::vector<Option> options;
	for (std::vector<Option> &part : all)
		std::ranges::move(part, std::back_inserter(options));
	return options;
}

std::vector<Option> withName(Option name, std::vector<Option> more)
{
	std::vector<Option> options{std::move(name)};
	options.push_back(
		aliasOf("NAME", value("-d", "--device", "NAME", "The same as NAME", options.front().completes)));
	options.back().repeated = options.front().repeated;
	for (Option &option : more)
		options.push_back(std::move(option));
	return options;
}

Option addresses(std::string help)
{
	return repeated(value("-a", "--traddr", "ADDR[:PORT]", std::move(help)));
}

Option transportOption()
{
	return preset("tcp", oneOf({"tcp", "rdma"}, value("-t", "--transport", "TRANSPORT", "Transport")));
}

Option portOption(std::string usual)
{
	return preset(std::move(usual),
		      of(Type::port, value("-s", "--trsvcid", "PORT", "Port for addresses without one")));
}

std::vector<Option> withHost(std::vector<Option> options)
{
	for (Option &option : std::vector<Option>{
		     of(Type::address, value("-w", "--host-traddr", "ADDR", "Local address to connect from")),
		     value("-f", "--host-iface", "IFACE", "Network interface to connect through",
			   Completes::interfaces),
		     of(Type::nqn, value("-q", "--hostnqn", "NQN",
					 "NQN of this host; from /etc/nvme/hostnqn if not given, which is created "
					 "when absent")),
		     of(Type::uuid, value("-I", "--hostid", "UUID",
					  "ID of this host; from /etc/nvme/hostid if not given, which is created when "
					  "absent")),
	     })
		options.push_back(std::move(option));
	return options;
}

Option setting(std::string shortName, const std::string &name, const std::string &called)
{
	const nvmeof::ConnectSetting &known = *nvmeof::findConnectSetting(name);
	Option option = value(std::move(shortName), "--" + name, called, known.help);
	option.preset = known.preset;
	option.min = known.least;
	option.max = known.most;
	switch (known.kind) {
	case nvmeof::SettingKind::flag:
	case nvmeof::SettingKind::tlsUse: // "preferred" is for [[defaults]]
		return flag(option.shortName, option.longName, option.help);
	case nvmeof::SettingKind::number:
	case nvmeof::SettingKind::milliseconds:
		option.type = Type::number;
		break;
	case nvmeof::SettingKind::time:
		option.type = Type::time;
		break;
	case nvmeof::SettingKind::timeOrNever:
		option.type = Type::timeOrNever;
		break;
	case nvmeof::SettingKind::keySource:
		option.type = Type::keySource;
		option.completes = Completes::files;
		break;
	}
	return option;
}

std::vector<Option> settingOptions()
{
	Option keepTrying = setting("", "keep-trying", "SECONDS");
	keepTrying.help += "; without a value, for the time of --ctrl-loss-tmo";
	keepTrying.mayLackValue = true;
	return {
		setting("-i", "nr-io-queues", "N"),
		setting("-P", "nr-poll-queues", "N"),
		setting("-Q", "queue-size", "N"),
		setting("", "tags", "N"),
		setting("-k", "keep-alive-tmo", "SECONDS"),
		setting("-c", "reconnect-delay", "SECONDS"),
		setting("-l", "ctrl-loss-tmo", "SECONDS"),
		setting("-F", "fast-io-fail-tmo", "SECONDS"),
		setting("", "connect-tmo", "SECONDS"),
		setting("", "stall-tmo", "SECONDS"),
		keepTrying,
		setting("-g", "hdr-digest", ""),
		setting("-G", "data-digest", ""),
		setting("-T", "tos", "N"),
		setting("", "ack-tmo-ms", "MS"),
		setting("", "retry-count", "N"),
		setting("", "sq-flow", ""),
		setting("", "dhchap-key", "FILE"),
		setting("", "dhchap-ctrl-key", "FILE"),
		setting("", "tls", ""),
		setting("", "tls-key", "FILE"),
		setting("", "concat", ""),
	};
}

Option configOption()
{
	return preset("/etc/nvmeof/nvmeof.toml with nvmeof.d",
		      value("", "--config", "FILE", "Configuration", Completes::files));
}

Option rootOption()
{
	return value("", "--root", "PATH",
		     "Examine this instead of this machine: a directory with a copy of its files, or a recording of "
		     "'gds record'",
		     Completes::files);
}

Option gpuOption()
{
	return repeated(value("", "--gpu", "ADDRESS",
			      "PCI address of a GPU, or of a device to treat as one; all GPUs if not given"));
}

} // namespace opt
