// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command.h"
#include <utility>

namespace {

Option flag(std::string shortName, std::string longName, std::string help)
{
	return {.shortName = std::move(shortName),
		.longName = std::move(longName),
		.value = "",
		.help = std::move(help)};
}

Option value(std::string shortName, std::string longName, std::string name, std::string help,
	     Completes completes = Completes::nothing)
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

Option positional(const std::string &name, std::string help, Completes completes = Completes::nothing)
{
	return {.shortName = "",
		.longName = name,
		.value = name,
		.help = std::move(help),
		.required = true,
		.completes = completes};
}

Option optional(Option option)
{
	option.required = false;
	return option;
}

Option controllerOption(std::string help)
{
	return value("-d", "--device", "NAME", std::move(help), Completes::controllers);
}

Option policyOption()
{
	return value("", "--policy-file", "FILE",
		     "Settings of subsystems by NQN; /etc/nvmeof/policy.conf, where there is one, if not given");
}

Option transportOption()
{
	return oneOf({"tcp"}, value("-t", "--transport", "TRANSPORT", "Transport; tcp if not given"));
}

// And who connects, and from where
std::vector<Option> withHost(std::vector<Option> options)
{
	for (Option &option : std::vector<Option>{
		     value("-w", "--host-traddr", "ADDR", "Local address to connect from"),
		     value("-f", "--host-iface", "IFACE", "Network interface to connect through",
			   Completes::interfaces),
		     value("-q", "--hostnqn", "NQN",
			   "NQN of this host; from /etc/nvme/hostnqn if not given, which is created when absent"),
		     value("-I", "--hostid", "UUID",
			   "ID of this host; from /etc/nvme/hostid if not given, which is created when absent"),
	     })
		options.push_back(std::move(option));
	return options;
}

std::vector<Option> connectOptions()
{
	return withHost({
		transportOption(),
		required(value("-n", "--nqn", "NQN", "NQN of the subsystem")),
		required(repeated(value("-a", "--traddr", "ADDR[:PORT]",
					"Address of the target, numeric; an IPv6 one with a port is [ADDR]:PORT. "
					"Repeat for more paths"))),
		value("-s", "--trsvcid", "PORT", "Port of each address that has none; 4420 if not given"),
		value("-i", "--nr-io-queues", "N", "I/O queues to ask for; as many as CPUs if not given"),
		value("-P", "--nr-poll-queues", "N", "Further queues for polled I/O"),
		value("-Q", "--queue-size", "N", "Entries of each I/O queue, 16 to 1024; 128 if not given"),
		value("-k", "--keep-alive-tmo", "SECONDS", "Keep-alive timeout; 0 for none"),
		value("-c", "--reconnect-delay", "SECONDS", "Longest pause between attempts to reconnect"),
		value("-l", "--ctrl-loss-tmo", "SECONDS",
		      "Give the controller up after that long without a connection; -1 for never"),
		value("-F", "--fast-io-fail-tmo", "SECONDS",
		      "Fail I/O after that long without a connection; -1 for off"),
		value("", "--connect-tmo", "SECONDS", "Bound on one attempt to connect"),
		value("", "--stall-tmo", "SECONDS",
		      "Count the path as lost after that long without a sign of life while one is due; 0 for off, 0.3 "
		      "if not given; 300ms is the same"),
		flag("-g", "--hdr-digest", "Protect headers by a digest"),
		flag("-G", "--data-digest", "Protect data by a digest"),
		value("-T", "--tos", "N", "IP type of service, 0 to 255"),
		flag("", "--sq-flow", "Keep submission queue flow control (default: ask the target to do without it)"),
		flag("-D", "--duplicate-connect", "Connect although this host is connected to that address already"),
		oneOf({"none", "ctrl", "ns", "udev"},
		      value("", "--wait", "STAGE",
			    "Return when: none - the kernel has accepted; ctrl - the controller is live; ns - its "
			    "namespaces are there (if not given); udev - udev has made their links")),
		value("", "--timeout", "SECONDS",
		      "Wait at most that long; 30 if not given. The controller goes on trying after that"),
		flag("", "--idempotent", "A controller that is there already is what was asked for"),
		policyOption(),
	});
}

std::vector<Option> discoverOptions()
{
	return withHost({
		transportOption(),
		value("-n", "--nqn", "NQN", "NQN of the discovery service; if not given the one that all go by"),
		repeated(value("-a", "--traddr", "ADDR[:PORT]",
			       "Address of the discovery service, numeric; an IPv6 one with a port is [ADDR]:PORT. "
			       "Repeat for more services")),
		controllerOption("Instead of an address: a discovery controller that is there"),
		value("-s", "--trsvcid", "PORT", "Port of each address that has none; 8009 if not given"),
		value("", "--connect-tmo", "SECONDS", "Bound on one attempt to connect"),
		value("", "--timeout", "SECONDS", "Wait at most that long for each service; 30 if not given"),
	});
}

std::vector<Command> visibleCommands()
{
	return {
		{"connect", "connect to a subsystem",
		 "Connects to the subsystem over each given address, all at once, and waits as --wait says.",
		 connectOptions(), runConnect},
		{"discover", "list what a discovery service tells",
		 "Reads the log of each given discovery service and lists its entries: subsystems with the addresses "
		 "of their ports, other discovery services, and the service itself. Entries that no host could use "
		 "are marked as such. Connects for that, and disconnects, or uses a discovery controller that is "
		 "there. Referrals are listed, not followed.",
		 discoverOptions(), runDiscover},
		{"disconnect",
		 "disconnect controllers",
		 "Disconnects one controller, those of one subsystem, or all. Returns when they are gone.",
		 {value("-n", "--nqn", "NQN", "All controllers of the subsystem of that NQN", Completes::nqns),
		  controllerOption("The controller of that name"), flag("", "--all", "All controllers")},
		 runDisconnect},
		{"list", "list namespaces", "Lists the namespaces, one line each.", {}, runList},
		{"list-subsys",
		 "list subsystems with their controllers",
		 "Lists the subsystems, and under each its controllers with address, state and, where the target "
		 "reports it, the ANA state of each path.",
		 {},
		 runListSubsys},
		{"show",
		 "show all about one object",
		 "Shows a subsystem (nvmeof0), controller (nvmeof0c1), namespace (nvmeof0n1) or path (nvmeof0c1n1), "
		 "and the paths that belong to it: since when they are in their ANA state, the latency that half and "
		 "99 % of their requests stayed within, how many requests failed over from and to them.",
		 {positional("NAME", "Name of the object", Completes::objects)},
		 runShow},
		{"reset",
		 "reset a controller",
		 "Drops the connection of a controller and connects it again.",
		 {required(controllerOption("Name of the controller"))},
		 runReset},
		{"rescan",
		 "look for new namespaces",
		 "Scans the namespaces of a controller, and returns when that is done.",
		 {required(controllerOption("Name of the controller"))},
		 runRescan},
		{"set",
		 "change settings of an object",
		 "Changes settings: all that are given or, when one is wrong, none. Of a subsystem: iopolicy (a path "
		 "selector; 'nvmeofctl version' lists them), spill-us (microseconds) and spill-depth (commands): how "
		 "busy every optimized path has to be before non-optimized ones join in, 0 for off; degrade (on, off): "
		 "leave out paths that are outliers in latency or errors; fencing (immediate, safe): whether requests "
		 "that modify data wait until a lost controller can no longer execute them; delayed-removal-secs "
		 "(seconds): how long a namespace outlives its last path. Of a controller, in seconds, or with a unit "
		 "as in 300ms: reconnect-delay, ctrl-loss-tmo, fast-io-fail-tmo, stall-tmo.",
		 {positional("NAME", "Name of the subsystem or controller", Completes::objects),
		  repeated(positional("NAME=VALUE", "Setting"))},
		 runSet},
		{"apply-policy",
		 "set subsystems as policy.conf says",
		 "Sets one subsystem, or all, as the first rule of the policy file says whose pattern fits the NQN. "
		 "'connect' does so with --new for a subsystem that it makes, and a udev rule for any that appears.",
		 {optional(positional("NAME", "Name of the subsystem; all if not given", Completes::objects)),
		  policyOption(), flag("", "--new", "Leave alone what has been changed already")},
		 runApplyPolicy},
		{"monitor",
		 "print events as they happen",
		 "Prints a line for each event until interrupted: what comes and goes, every change of a state, and "
		 "after a failover how many requests moved and how long that took. With --json each line is an object "
		 "of its own.",
		 {value("", "--count", "N", "End after N events"),
		  value("", "--timeout", "SECONDS",
			"End after that long; with --count, exit code 6 if there were fewer events")},
		 runMonitor},
		{"stats",
		 "print counters and latencies",
		 "Prints, for each namespace and its paths, what was counted since the path appeared: I/Os, bytes, "
		 "errors, retries, aborts, requests that failed over from and to the path, and how long reads and "
		 "writes took; then the controllers with their reconnects and last errors. With --prometheus the same "
		 "as metrics for the textfile collector of node_exporter. Percentiles are estimated from classes of "
		 "latency that double in width; they are exact to a factor of two.",
		 {optional(positional("OBJECT", "Only what belongs to the object of that name; all if not given",
				      Completes::objects)),
		  flag("", "--prometheus", "Print metrics in the text format of Prometheus"),
		  value("", "--output", "FILE",
			"Write to a file instead; whoever reads it sees the old text or the new one, never a part. "
			"What is there stays when the figures cannot be read")},
		 runStats},
		{"top",
		 "watch paths live",
		 "Shows controller and ANA states, I/Os and bytes per second, latency percentiles of the last "
		 "interval, requests in flight, waiting for a path or held by fencing, and failovers from and to each "
		 "path, until q is pressed. Keys: s sort by the next column, r reverse, p pause, n namespaces or "
		 "paths, arrows and page keys scroll. Goes on trying when the kernel module, or OBJECT, is not there. "
		 "With --json each frame is an object on a line of its own.",
		 {optional(positional("OBJECT", "Only what belongs to the object of that name; all if not given",
				      Completes::objects)),
		  value("-d", "--delay", "SECONDS", "Time from frame to frame, at least 0.1; 1 if not given"),
		  value("-n", "--iterations", "N", "End after N intervals"),
		  flag("-b", "--batch", "Print plain frames; needs no terminal")},
		 runTop},
		{"gen-hostnqn",
		 "make up a host NQN",
		 "Prints a host NQN made of the machine's UUID, or else a random one. Keeps nothing.",
		 {},
		 runGenHostnqn},
		{"show-hostnqn",
		 "print this host's NQN",
		 "Prints the host NQN kept in /etc/nvme/hostnqn.",
		 {},
		 runShowHostnqn},
		{"version",
		 "print versions",
		 "Prints the version of this program and of the loaded kernel module, with the transports and path "
		 "selectors it has.",
		 {},
		 runVersion},
	};
}

std::vector<Command> hiddenCommands()
{
	return {
		{"names",
		 "names for completion",
		 "",
		 {oneOf({"controllers", "nqns", "objects"}, positional("KIND", "What to list"))},
		 runNames,
		 true},
		{"generate",
		 "completion scripts and manual page",
		 "",
		 {oneOf({"bash", "zsh", "man"}, positional("WHAT", "What to write"))},
		 runGenerate,
		 true},
	};
}

} // namespace

const std::vector<Command> &commands()
{
	static const std::vector<Command> table = [] {
		std::vector<Command> all = visibleCommands();
		for (Command &command : hiddenCommands())
			all.push_back(std::move(command));
		return all;
	}();
	return table;
}

const Command *findCommand(std::string_view name)
{
	for (const Command &command : commands())
		if (command.name == name)
			return &command;
	return nullptr;
}

std::vector<Option> optionsOf(const Command &command)
{
	std::vector<Option> all = command.options;
	if (command.hidden)
		return all;
	all.push_back(
		oneOf({"text", "json"}, value("-o", "--output-format", "FORMAT", "Output format; text if not given")));
	all.push_back(flag("", "--json", "The same as -o json"));
	return all;
}
