// SPDX-License-Identifier: LGPL-2.1-or-later
// The table of commands.
#include "command.h"

#include <algorithm>
#include <utility>

#include "options.h"

using namespace opt;

namespace {

Option controllerName(std::string help)
{
	return positional("NAME", std::move(help), Completes::controllers);
}

Option onlyOf()
{
	return positional("NAME", "Object to show, with everything that belongs to it; all if not given",
			  Completes::objects);
}

Option policyOption()
{
	return preset("the configuration",
		      value("", "--policy-file", "FILE",
			    "File with settings of subsystems; each line is NQN-PATTERN NAME=VALUE...",
			    Completes::files));
}

Option waitOption()
{
	return preset(
		"ns",
		oneOf({"none", "ctrl", "ns", "udev"},
		      value("", "--wait", "STAGE",
			    "Stage to wait for: none - the kernel has accepted the request; ctrl - the controller is "
			    "live; ns - its namespaces are scanned; udev - udev has created their links")));
}

std::vector<Option> connectOptions()
{
	std::vector<Option> options{
		transportOption(),
		required(of(Type::nqn, value("-n", "--nqn", "NQN", "NQN of the subsystem"))),
		required(addresses("Address of the target, or a host name for all of its addresses; an IPv6 one with a "
				   "port is [ADDR]:PORT. Repeat for more paths")),
		portOption("4420"),
	};
	for (Option &option : settingOptions())
		options.push_back(std::move(option));
	for (Option &option : std::vector<Option>{
		     value("", "--rail", "GPU",
			   "Connect through the network card nearest to this GPU (a PCI address); all: one path "
			   "through the card of each GPU"),
		     flag("-D", "--duplicate-connect",
			  "Create another controller for an address that is already connected"),
		     waitOption(),
		     preset("30", time(0, anyTime,
				       value("", "--timeout", "SECONDS",
					     "Maximum time to wait. A first attempt that still runs then goes on until "
					     "--connect-tmo, and is repeated only with --keep-trying"))),
		     preset("any",
			    oneOf({"any", "all"},
				  value("", "--require", "WHICH",
					"With several addresses: succeed if any is connected, or only if all are"))),
		     flag("", "--idempotent", "Succeed if the controller exists already"),
		     flag("", "--force", "Connect although the in-tree driver is connected to the subsystem"),
		     policyOption(),
	     })
		options.push_back(std::move(option));
	return withHost(std::move(options));
}

std::vector<Option> connectAllOptions()
{
	std::vector<Option> options{
		addresses("Address of a discovery service, or a host name for all of its addresses, instead of those "
			  "that are configured. Repeat for more services"),
		transportOption(),
		preset("the well-known discovery NQN",
		       of(Type::nqn, value("-n", "--nqn", "NQN", "NQN of the discovery service"))),
		portOption("8009"),
		configOption(),
		flag("", "--dry-run", "Read the logs and print what would be done"),
		waitOption(),
		preset("30", time(0, anyTime,
				  value("", "--timeout", "SECONDS",
					"Maximum time to wait for all paths. Controllers keep retrying after that"))),
		flag("", "--idempotent", "Also wait for paths that are already connected"),
		flag("-p", "--persistent", "Stay connected to the discovery services, to receive their change events"),
		flag("", "--force", "Connect although the in-tree driver is connected to a subsystem"),
	};
	for (Option &option : settingOptions())
		options.push_back(std::move(option));
	return withHost(std::move(options));
}

Option nbftFiles()
{
	return preset("the tables of the firmware, /sys/firmware/acpi/tables/NBFT*",
		      repeated(positional("FILE", "A table", Completes::files)));
}

std::vector<Option> connectNbftOptions()
{
	std::vector<Option> options{
		nbftFiles(),
		flag("", "--all", "Also connect to subsystems that the firmware could not reach"),
		flag("", "--dry-run", "Print what would be done"),
		waitOption(),
		preset("30", time(0, anyTime,
				  value("", "--timeout", "SECONDS",
					"Maximum time to wait for a path to each subsystem. Controllers keep retrying "
					"after that"))),
		flag("", "--force", "Connect although the in-tree driver is connected to a subsystem"),
		preset("that of the table", of(Type::nqn, value("-q", "--hostnqn", "NQN", "NQN of this host"))),
		preset("that of the table", of(Type::uuid, value("-I", "--hostid", "UUID", "ID of this host"))),
	};
	for (Option &option : settingOptions()) {
		if (option.longName == "--keep-trying" || option.longName == "--ctrl-loss-tmo")
			option.preset = "-1";
		options.push_back(std::move(option));
	}
	return options;
}

std::vector<Option> discoverOptions()
{
	return withHost({
		addresses("Address of the discovery service, or a host name for all of its addresses; an IPv6 one with "
			  "a port is [ADDR]:PORT. Repeat for more services"),
		controllerName("Existing discovery controller to use instead of an address"),
		aliasOf("NAME", value("-d", "--device", "NAME", "The same as NAME", Completes::controllers)),
		transportOption(),
		preset("the well-known discovery NQN",
		       of(Type::nqn, value("-n", "--nqn", "NQN", "NQN of the discovery service"))),
		portOption("8009"),
		setting("", "connect-tmo", "SECONDS"),
		setting("", "dhchap-key", "FILE"),
		setting("", "dhchap-ctrl-key", "FILE"),
		setting("", "tls", ""),
		setting("", "tls-key", "FILE"),
		setting("", "concat", ""),
		preset("30",
		       time(0, anyTime, value("", "--timeout", "SECONDS", "Maximum time to wait for each service"))),
	});
}

std::vector<Command> connectionCommands()
{
	return {
		{"connect",
		 "connect to a subsystem",
		 "Connects to the subsystem through all given addresses in parallel, and waits for the stage given by "
		 "--wait.",
		 connectOptions(),
		 runConnect,
		 {{"two paths to one subsystem",
		   "nvmeofctl connect -n nqn.2024-01.com.example:flash1 -a 192.168.10.5 -a 192.168.20.5"},
		  {"at boot, when the target may come later",
		   "nvmeofctl connect -n nqn.2024-01.com.example:flash1 -a 192.168.10.5 --keep-trying --wait none"},
		  {"never give up, and have /dev/disk/by-id when it returns",
		   "nvmeofctl connect -n nqn.2024-01.com.example:flash1 -a 192.168.10.5 -l -1 --wait udev"}}},
		{"connect-all",
		 "connect to all that discovery services report",
		 "Reads the logs of all discovery services in parallel, follows referrals, and connects to every "
		 "reported address that is usable and not excluded, and to the connections of the configuration. "
		 "Prints the result for each path, and the entries that were not used, with the reason. Exit code: 0 "
		 "if all paths are connected; 6 if all failures are timeouts; if no path is connected, the common "
		 "code of the failures; else 1.",
		 connectAllOptions(),
		 runConnectAll,
		 {{"everything that one service reports", "nvmeofctl connect-all -a 192.168.10.5"},
		  {"show what the configuration would connect", "nvmeofctl connect-all --dry-run"}}},
		{"connect-nbft",
		 "connect to the subsystems in the firmware boot table",
		 "Connects in parallel to each subsystem of the NVMe Boot Firmware Table, with its host NQN and host "
		 "ID, from each interface listed there. One live path per subsystem is enough; the others are retried "
		 "in the background. Paths that are already connected are waited for as well. Subsystems that the "
		 "firmware could not reach, or that require authentication or TLS, are skipped and reported.",
		 connectNbftOptions(),
		 runConnectNbft,
		 {{"show what would be connected", "nvmeofctl connect-nbft --dry-run"},
		  {"a table of another machine", "nvmeofctl connect-nbft --dry-run ./NBFT"}}},
		{"disconnect",
		 "disconnect controllers",
		 "Disconnects the named controllers, those of one subsystem, or all, and returns when they are "
		 "removed. "
		 "If a disk that would lose its last path is in use (mounted, swap, part of another device, or open), "
		 "nothing is disconnected and the exit code is 10, unless --force is given.",
		 withName(repeated(controllerName("Controller; more than one may be given")),
			  {value("-n", "--nqn", "NQN", "All controllers of the subsystem with this NQN",
				 Completes::nqns),
			   flag("", "--all", "All controllers"),
			   flag("", "--dry-run",
				"Show the controllers that would be disconnected, and the disks that would lose their "
				"last path"),
			   flag("", "--force", "Disconnect even if a disk in use loses its last path")}),
		 runDisconnect,
		 {{"one path", "nvmeofctl disconnect nvmeof0c1"},
		  {"a subsystem", "nvmeofctl disconnect -n nqn.2024-01.com.example:flash1"},
		  {"show which disks would lose their last path", "nvmeofctl disconnect --all --dry-run"}}},
		{"disconnect-all",
		 "disconnect all controllers, with exceptions",
		 "Disconnects all controllers in parallel, also those of disks in use, and returns when they are "
		 "removed. Keeps the controllers given by --except and, unless --owned is given, those owned by a "
		 "service such as nvmeofd, and lists them with the reason.",
		 {repeated(value("", "--except", "NAME|NQN",
				 "Keep this controller, or all controllers of the subsystems whose NQN matches this "
				 "shell pattern",
				 Completes::controllers)),
		  flag("", "--owned", "Also disconnect controllers that are owned by a service"),
		  flag("", "--dry-run",
		       "Show the controllers that would be disconnected, and the disks that would lose their last "
		       "path")},
		 runDisconnectAll,
		 {{"all but the subsystem of the system disk",
		   "nvmeofctl disconnect-all --except nqn.2024-01.com.example:boot"}}},
	};
}

std::vector<Command> viewCommands()
{
	return {
		{"list",
		 "list namespaces",
		 "Lists the namespaces, one line each.",
		 {},
		 runList,
		 {{"the disks, for a program", "nvmeofctl list --json | jq -r '.namespaces[].device'"}}},
		{"list-subsys",
		 "list subsystems with their controllers",
		 "Lists the subsystems, and under each its controllers with address, state and, where the target "
		 "reports it, the ANA state of each path.",
		 {flag("", "--verbose",
		       "Also show how each controller is authenticated and encrypted, by which keys, and since when")},
		 runListSubsys,
		 {{"connections without TLS", "nvmeofctl list-subsys --verbose | grep -B 2 'tls: no'"}}},
		{"show",
		 "show one object in detail",
		 "Shows a subsystem (nvmeof0), controller (nvmeof0c1), namespace (nvmeof0n1) or path (nvmeof0c1n1), "
		 "and its paths: time in the ANA state, p50 and p99 latency, and the numbers of requests that failed "
		 "over from and to each.",
		 withName(required(positional("NAME", "Name of the object", Completes::objects))),
		 runShow,
		 {{"a disk and its paths", "nvmeofctl show nvmeof0n1"}}},
		{"nbft",
		 "show the NVMe Boot Firmware Table",
		 "Shows the NVMe Boot Firmware Table, which firmware provides after booting over NVMe/TCP: host "
		 "identity, interfaces, subsystems and discovery services. Invalid parts are reported.",
		 {nbftFiles(), flag("", "--network",
				    "Only the interfaces, for scripts: one line each with MAC, VLAN, ADDRESS/PREFIX, "
				    "gateway, metric, and dhcp or static; - for a missing value")},
		 runNbft,
		 {{"connections of the firmware", "nvmeofctl nbft --json | jq -r '.tables[].subsystems[].nqn'"}}},
		{"reservation",
		 "show the reservation of a namespace",
		 "Reads the reservation report from the target: registered hosts (by host ID) with their keys, the "
		 "holder, and the type of the reservation.",
		 withName(required(positional("NAME", "Name of the disk", Completes::objects))),
		 runReservation,
		 {{"the holder of a reservation", "nvmeofctl reservation nvmeof0n1"}}},
	};
}

std::vector<Command> changeCommands()
{
	return {
		{"reset", "reset a controller", "Drops the connection of a controller and connects it again.",
		 withName(required(controllerName("Name of the controller"))), runReset},
		{"rescan", "look for new namespaces",
		 "Scans the namespaces of a controller, and returns when that is done.",
		 withName(required(controllerName("Name of the controller"))), runRescan},
		{"set",
		 "change settings of an object",
		 "Changes settings. If one of them is invalid, none is changed. Times are in seconds, or with a unit "
		 "as in 300ms.",
		 withName(required(positional("NAME", "Name of the subsystem or controller", Completes::objects)),
			  {required(repeated(
				  positional("NAME=VALUE", "Setting; see the lists below", Completes::settings)))}),
		 runSet,
		 {{"choose paths by latency, and leave out slow ones",
		   "nvmeofctl set nvmeof0 iopolicy=latency degrade=on"},
		  {"wait for a controller for ever", "nvmeofctl set nvmeof0c1 ctrl-loss-tmo=-1"}},
		 true},
		{"apply-policy", "apply the configuration to subsystems",
		 "Applies to one subsystem, or to all, the [[defaults]] of the configuration whose pattern matches the "
		 "NQN. 'connect' does this with --new for a subsystem that it creates, and a udev rule for each new "
		 "subsystem.",
		 withName(positional("NAME", "Name of the subsystem; all if not given", Completes::objects),
			  {policyOption(), flag("", "--new", "Keep settings that differ from the module's defaults"),
			   flag("", "--syslog", "Also report errors to syslog")}),
		 runApplyPolicy},
		{"upgrade",
		 "replace a transport's module while disks are in use",
		 "Unloads the module of a transport and loads another build of it. Controllers, disks, mounts and open "
		 "files remain: I/O waits during the exchange, as after the loss of a path, and does not fail. The new "
		 "module is checked first, also by the kernel (signature, lockdown, version); if it does not match, "
		 "nothing is changed. The exchange completes even if the terminal is lost.",
		 {required(oneOf({"tcp", "rdma"}, positional("TRANSPORT", "Transport whose module is replaced"))),
		  preset("the one that is installed", value("", "--file", "FILE", "The module", Completes::files)),
		  preset("30", time(1, day,
				    value("", "--timeout", "SECONDS",
					  "Maximum time to wait until the controllers are live again"))),
		  flag("", "--dry-run", "Show which module would be loaded, or why it cannot be"),
		  flag("", "--force", "Replace the module even if this build is already loaded")},
		 runUpgrade,
		 {{"after a newer version was installed", "nvmeofctl upgrade tcp"},
		  {"a build that is not installed", "nvmeofctl upgrade tcp --file /root/nvmeof_tcp.ko"}}},
		{"shutdown",
		 "limit the wait for a path before a shutdown",
		 "Limits how long I/O waits for a lost path: lowers fast-io-fail-tmo of all controllers and "
		 "delayed-removal-secs of all subsystems to the limit. nvmeof-shutdown.service, which comes with the "
		 "units that connect, runs this before file systems are unmounted.",
		 {preset("15", time(0, day, value("", "--limit", "SECONDS", "Maximum time that I/O waits")))},
		 runShutdown,
		 {{"by hand, where the unit is not enabled", "nvmeofctl shutdown --limit 5"}}},
	};
}

std::vector<Command> discoveryCommands()
{
	return {
		{"discover",
		 "list the discovery log of a service",
		 "Reads the log of each given discovery service and lists its entries: subsystems with the addresses "
		 "of their ports, other discovery services, and the service itself. Unusable entries are marked. "
		 "Connects temporarily, or uses an existing discovery controller. Referrals are listed, but not "
		 "followed.",
		 discoverOptions(),
		 runDiscover,
		 {{"the log of a service", "nvmeofctl discover -a 192.168.10.5"},
		  {"stay connected to a service, so that 'monitor' shows its change events",
		   "nvmeofctl connect -n nqn.2014-08.org.nvmexpress.discovery -a 192.168.10.5:8009 --wait ctrl"}}},
		daemonCommand(),
		cdcCommand(),
	};
}

std::vector<Option> topOptions()
{
	std::vector<Option> options = withName(
		onlyOf(), {preset("1", time(100, anyTime, value("", "--delay", "SECONDS", "Interval between frames"))),
			   number(0, anyNumber, value("-n", "--iterations", "N", "End after N intervals")),
			   flag("-b", "--batch", "Print plain frames; needs no terminal")});
	std::ranges::find(options, "--device", &Option::longName)->wasNumber = "--delay";
	return options;
}

std::vector<Command> statisticsCommands()
{
	return {
		{.name = "doctor",
		 .summary = "find out what is wrong, and what to do next",
		 .description =
			 "Examines controllers, paths, disks and their links, the network to TCP targets, versions "
			 "of command and modules, the clock, nvmeofd and nvmeof-cdc. Prints a line for each "
			 "finding, the worst first, with the next step. Problem: I/O waits, or data is at risk. "
			 "Warning: I/O works, but less safely or slower than it should, or not after the next "
			 "boot. It changes nothing, and takes a few seconds at most. It sends pings to each TCP "
			 "target to find a smaller MTU on the way.",
		 .options = {flag("", "--no-probe", "Send no pings, and skip the check of the MTU")},
		 .run = runDoctor,
		 .examples =
			 {{"in a script: is anything wrong", "nvmeofctl doctor --no-probe"},
			  {"the problems, for a program",
			   "nvmeofctl doctor --json | jq -r '.findings[] | select(.severity == \"problem\") | .object, "
			   ".finding'"}},
		 .exitStatus = "0 without findings, 1 with warnings only, 2 with at least one problem."},
		{"events",
		 "print events recorded by nvmeofd",
		 "Prints recorded events with date and time, oldest first. nvmeofd keeps at least the last 1,000 "
		 "events, across restarts and reboots. Of successive connect attempts that fail for the same reason, "
		 "the 1st, 2nd, 4th, 8th, ... are recorded. With NAME only those of that subsystem, controller, "
		 "namespace, path, NQN, wwid or address.",
		 withName(positional("NAME", "Object of the events; all if not given", Completes::objects),
			  {value("", "--since", "WHEN",
				 "Only events at or after this time: 2026-11-27, '2026-11-27 05:14', 05:14, 2h (ago), "
				 "@SECONDS"),
			   value("", "--until", "WHEN", "Only events before this time"),
			   number(1, anyNumber, value("-n", "--count", "N", "The last N")),
			   preset("/var/lib/nvmeof/events",
				  value("", "--file", "FILE", "File with the recorded events", Completes::files))}),
		 runEvents,
		 {{"events of the last two hours", "nvmeofctl events --since 2h"},
		  {"of one path, during an outage",
		   "nvmeofctl events nvmeof0c1 --since 2026-11-27T03:00 --until 2026-11-27T04:00"}}},
		{"monitor",
		 "print events as they happen",
		 "Prints a line for each event until interrupted: objects added and removed, state changes and, after "
		 "a failover, the number of requests moved and the duration. With --json each line is an object of its "
		 "own.",
		 {number(0, anyNumber, value("", "--count", "N", "End after N events")),
		  time(0, anyTime,
		       value("", "--timeout", "SECONDS",
			     "End after this time; with --count, exit code 6 if there were fewer events"))},
		 runMonitor,
		 {{"the longest that an application has waited in each failover",
		   "nvmeofctl monitor --json | jq -r 'select(.event == \"failover\") | .name, "
		   ".failover.duration_ns'"}}},
		{"stats",
		 "print counters and latencies",
		 "Prints, for each namespace and its paths, the counters since the path was created: I/Os, bytes, "
		 "errors, retries, aborts, requests that failed over from and to the path, and how long reads and "
		 "writes took; then the controllers with their reconnects and last errors. With --prometheus the same "
		 "as metrics for the textfile collector of node_exporter. Percentiles are estimated from histogram "
		 "buckets that double in width, and are accurate to a factor of two.",
		 withName(onlyOf(),
			  {flag("", "--prometheus", "Print metrics in the text format of Prometheus"),
			   flag("", "--histograms",
				"With --prometheus: print latency histograms; the default in this version"),
			   flag("", "--no-histograms",
				"With --prometheus: print only count and sum of latencies, 46 series fewer per path"),
			   value("", "--output", "FILE",
				 "Write to a file, which is replaced atomically, and kept if the counters cannot be "
				 "read. Metrics of lost disks are computed by comparison with its old content",
				 Completes::files)}),
		 runStats,
		 {{"for node_exporter, from a timer",
		   "nvmeofctl stats --prometheus --output /var/lib/prometheus/node-exporter/nvmeof.prom"}}},
		{"top",
		 "watch paths live",
		 "Shows controller and ANA states, I/Os and bytes per second, latency percentiles of the last "
		 "interval, requests in flight, waiting for a path or held by fencing, and failovers from and to each "
		 "path, until q is pressed. Keys: s sort by the next column, r reverse, p pause, n namespaces or "
		 "paths, arrows and page keys scroll. Keeps retrying while the kernel module is not loaded, or NAME "
		 "does not exist. With --json each frame is an object on a line of its own.",
		 topOptions(),
		 runTop,
		 {{"ten frames into a file", "nvmeofctl top --batch -n 10"}}},
	};
}

// A number with or without a unit. The command parses it, so the parser does not check it.
Option quantity(std::string name, std::string called, std::string presetText, std::string help)
{
	return preset(std::move(presetText), value("", std::move(name), std::move(called), std::move(help)));
}

std::vector<Option> planOptions()
{
	constexpr std::int64_t many = 1'000'000;
	return {
		preset("8", number(1, many, value("", "--gpus", "N", "GPUs of a host"))),
		preset("8", number(1, many, value("", "--cards", "N", "Network cards of a host"))),
		quantity("--card-gbps", "GBPS", "400", "Gb/s of a card"),
		preset("rdma", oneOf({"tcp", "rdma"}, value("", "--transport", "TRANSPORT", "Transport"))),
		preset("5",
		       number(1, 6, value("", "--pcie-generation", "N", "PCI Express generation of cards and GPUs"))),
		preset("16", number(1, 16, value("", "--pcie-lanes", "N", "PCI Express lanes of cards and GPUs"))),
		preset("256",
		       number(128, 4096,
			      value("", "--max-payload", "BYTES", "Smallest MaxPayload between cards and GPUs"))),
		preset("4", number(1, many, value("", "--targets", "N", "Targets"))),
		quantity("--target-gbps", "GBPS", "800", "Gb/s of a target"),
		preset("16", number(1, many, value("", "--namespaces", "N", "Namespaces of all targets"))),
		quantity("--read-rate", "RATE", "12G", "Bytes a second that a namespace reads"),
		quantity("--write-rate", "RATE", "6G", "Bytes a second that a namespace writes"),
		preset("2", number(1, many, value("", "--paths", "N", "Paths of a host to each target"))),
		preset("16", number(1, 65535, value("", "--queues", "N", "I/O queues of a controller"))),
		preset("128", number(2, 65536, value("", "--depth", "N", "Entries of a queue"))),
		preset("32", number(1, many,
				    value("", "--agents", "N", "Agents per GPU that submit requests independently"))),
		quantity("--io", "SIZE", "1M", "Bytes of a request"),
		quantity("--chunk", "SIZE", "128K", "Bytes of a stripe's chunk"),
		preset("0.0002 s", time(1, anyTime, value("", "--latency", "SECONDS", "Latency of a request"))),
		quantity("--parameters", "N", "none", "Parameters of the model that a checkpoint saves, such as 10T"),
		preset("900", time(1, anyTime, value("", "--window", "SECONDS", "Maximum duration of the checkpoint"))),
		preset("1",
		       number(1, many, value("", "--hosts", "N", "Hosts that share the targets and the checkpoint"))),
		quantity("--target-connect-rate", "RATE", "none", "Connections a second that a target accepts"),
		flag("", "--sources", "Show the source of each constant"),
		flag("", "--compare",
		     "Compare with this system, and show what is insufficient; exit code 1 if anything is"),
		flag("", "--csv", "Print as comma-separated values"),
		value("", "--svg", "FILE", "Write a picture of the stages", Completes::files),
		rootOption(),
	};
}

std::vector<Command> storageCommands()
{
	return {
		volumeCommand(),
		stripeCommand(),
		gdsCommand(),
		{"map",
		 "show which network card serves which GPU",
		 "Shows GPUs, network cards and local drives by socket and root port, the disk paths of each card, "
		 "and the rails: the card assigned to each GPU, as near as possible, with the GPUs spread evenly over "
		 "the cards. 'connect --rail' connects over them.",
		 {gpuOption(), value("", "--svg", "FILE", "Write a picture", Completes::files), rootOption()},
		 runMap,
		 {{"as a picture", "nvmeofctl map --svg map.svg"}}},
		{"plan",
		 "compute the size of a system of GPUs and storage",
		 "Computes the bandwidth of each stage from drives to GPUs, the width of a stripe, the time of a "
		 "checkpoint, queues and their memory, the efficiency of PCI Express, the cost of a failure, and a "
		 "boot storm of all hosts, from measurements of this project. Values that were measured in an "
		 "emulator are marked. Numbers may have units: 12G, 10T.",
		 planOptions(),
		 runPlan,
		 {{"a model of 10 trillion parameters in 15 minutes, over 8 cards of 400 Gb/s",
		   "nvmeofctl plan --parameters 10T --window 900 --sources"},
		  {"is this system as planned", "nvmeofctl plan --gpus 8 --cards 8 --namespaces 16 --compare"}}},
	};
}

std::vector<Command> setupCommands()
{
	return {
		configCommand(),
		keyCommand(),
		{"import",
		 "import the configuration of nvme-cli or nvme-stas",
		 "Reads discovery.conf, config.json and nvme-fabrics.conf of nvme-cli, stafd.conf, stacd.conf, "
		 "sys.conf and nvme-stas.conf of nvme-stas, and policy.conf of older versions, and prints it as "
		 "nvmeof.toml. Keys without an equivalent are listed in the file and on stderr. Secrets are not "
		 "imported.",
		 {repeated(positional("FILE", "File to import; if not given, all that exist in the default locations",
				      Completes::files)),
		  value("", "--output", "FILE", "Write to a file instead", Completes::files),
		  flag("", "--force", "Overwrite an existing file")},
		 runImport,
		 {{"migrate; 'nvmeofctl connect-all --dry-run' then shows what would be connected",
		   "nvmeofctl import --output /etc/nvmeof/nvmeof.toml"}}},
		{"gen-hostnqn",
		 "generate a host NQN",
		 "Prints a host NQN derived from the machine's UUID, or a random one. Does not save it.",
		 {},
		 runGenHostnqn},
		{"show-hostnqn",
		 "print this host's NQN",
		 "Prints the host NQN stored in /etc/nvme/hostnqn.",
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
		{.name = "names",
		 .summary = "names for completion",
		 .options = {required(oneOf({"controllers", "nqns", "objects"}, positional("KIND", "What to list")))},
		 .run = runNames,
		 .hidden = true},
		{.name = "link-rank",
		 .summary = "for a udev rule: which disk comes first",
		 .options = {positional("DISK", "Name of the disk")},
		 .run = runLinkRank,
		 .hidden = true},
		{.name = "link-filter",
		 .summary = "for a udev rule: which links to make",
		 .run = runLinkFilter,
		 .hidden = true},
		{.name = "link-name",
		 .summary = "for a udev rule: which name nvme-cli opens",
		 .options = {positional("NODE", "Name of the node")},
		 .run = runLinkName,
		 .hidden = true},
		{.name = "generate",
		 .summary = "completion scripts and manual pages",
		 .options = {required(oneOf({"bash", "zsh", "fish", "man", "commands"},
					    positional("WHAT", "Text to print; commands: the names of all commands"))),
			     positional("COMMAND", "With man: the command of the page; without: the overview")},
		 .run = runGenerate,
		 .hidden = true},
	};
}

// @others: the commands that "help" accepts, besides itself
Command helpCommand(const std::vector<Command> &others)
{
	std::vector<std::string> names;
	for (const Command &command : others)
		names.push_back(command.name);
	names.emplace_back("help");
	return {"help",
		"show help for a command",
		"Prints the purpose of a command, its options with ranges and defaults, and examples. Without a "
		"command, lists all commands.",
		{oneOf(names, positional("COMMAND", "Name of the command")),
		 repeated(positional("VERB", "Name of its verb"))},
		runHelp};
}

void complete(std::vector<Command> &table, const std::string &above)
{
	for (Command &command : table) {
		command.path = above + command.name;
		command.all = command.options;
		if (!command.hidden)
			command.all.insert(command.all.end(), commonOptions().begin(), commonOptions().end());
		complete(command.verbs, command.path + " ");
	}
}

struct CommandGroup {
	const char *title;
	std::vector<Command> (*commands)();
};

constexpr CommandGroup commandGroups[] = {
	{"Connect", connectionCommands}, {"Show", viewCommands},           {"Monitor", statisticsCommands},
	{"Control", changeCommands},     {"Discovery", discoveryCommands}, {"Storage", storageCommands},
	{"Setup", setupCommands},
};

std::vector<Command> wholeTable()
{
	std::vector<Command> table;
	for (const CommandGroup &group : commandGroups)
		for (Command &command : group.commands()) {
			table.push_back(std::move(command));
			table.back().group = group.title;
		}
	table.push_back(helpCommand(table));
	table.back().group = table[table.size() - 2].group;
	for (Command &command : hiddenCommands())
		table.push_back(std::move(command));
	complete(table, "");
	return table;
}

void collect(const std::vector<Command> &from, std::vector<const Command *> &into)
{
	for (const Command &command : from) {
		into.push_back(&command);
		collect(command.verbs, into);
	}
}

} // namespace

const std::vector<Command> &commands()
{
	static const std::vector<Command> table = wholeTable();
	return table;
}

const std::vector<const Command *> &everyCommand()
{
	static const std::vector<const Command *> every = [] {
		std::vector<const Command *> found;
		collect(commands(), found);
		return found;
	}();
	return every;
}

std::vector<std::string> namesOf(const std::vector<Command> &commands)
{
	std::vector<std::string> names;
	for (const Command &command : commands)
		if (!command.hidden)
			names.push_back(command.name);
	return names;
}

const Command *findCommand(const std::vector<Command> &among, std::string_view name)
{
	auto found = std::ranges::find(among, name, &Command::name);
	return found == among.end() ? nullptr : &*found;
}

const Command *findCommand(std::string_view path)
{
	auto found = std::ranges::find(everyCommand(), path, &Command::path);
	return found == everyCommand().end() ? nullptr : *found;
}

Command oldSpelling(std::string name, std::string instead)
{
	return {.name = std::move(name),
		.summary = "the former spelling of '" + instead + "'",
		.hidden = true,
		.instead = std::move(instead)};
}

const Command &currentOf(const Command &command)
{
	return command.instead.empty() ? command : *findCommand(command.instead);
}

bool sameFamily(const Command &one, const Command &other)
{
	return one.path.substr(0, one.path.find(' ')) == other.path.substr(0, other.path.find(' '));
}

const std::vector<Option> &commonOptions()
{
	static const std::vector<Option> common{
		preset("normal",
		       oneOf({"normal", "json", "text"}, value("-o", "--output-format", "FORMAT",
							       "Output format; text is another word for normal"))),
		flag("", "--json", "The same as -o json"),
		flag("-h", "--help", "Print this help"),
	};
	return common;
}

const std::vector<Option> &optionsOf(const Command &command)
{
	return command.all;
}
