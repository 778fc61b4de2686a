// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command.h"

#include <algorithm>
#include <utility>

#include "options.h"
#include "verbs.h"

using namespace opt;

namespace {

Option controllerName(std::string help)
{
	return positional("NAME", std::move(help), Completes::controllers);
}

Option onlyOf()
{
	return positional("NAME", "Only what belongs to the object of that name; all if not given", Completes::objects);
}

Option policyOption()
{
	return preset("/etc/nvmeof/nvmeof.toml, where there is one,",
		      value("", "--policy-file", "FILE",
			    "Settings of subsystems by NQN, as lines of PATTERN NAME=VALUE...", Completes::files));
}

Option waitOption()
{
	return preset("ns", oneOf({"none", "ctrl", "ns", "udev"},
				  value("", "--wait", "STAGE",
					"Return when: none - the kernel has accepted; ctrl - the controller is live; "
					"ns - its namespaces are there; udev - udev has made their links")));
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
			   "Over the network card next to that GPU, a PCI address; all: a path over each GPU's card"),
		     flag("-D", "--duplicate-connect",
			  "Connect although this host is connected to that address already"),
		     waitOption(),
		     preset("30", time(0, anyTime,
				       value("", "--timeout", "SECONDS",
					     "Wait at most that long. The controller goes on trying after that"))),
		     preset("any",
			    oneOf({"any", "all"},
				  value("", "--require", "WHICH",
					"Of several addresses: succeed when any is connected, or only when all are"))),
		     flag("", "--idempotent", "A controller that is there already is what was asked for"),
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
		preset("the one that all go by",
		       of(Type::nqn, value("-n", "--nqn", "NQN", "NQN of the discovery service"))),
		portOption("8009"),
		configOption(),
		flag("", "--dry-run", "Read the logs and print what would be done"),
		waitOption(),
		preset("30", time(0, anyTime,
				  value("", "--timeout", "SECONDS",
					"Wait at most that long for all. Controllers go on trying after that"))),
		flag("", "--idempotent", "What is connected already is waited for like the rest"),
		flag("-p", "--persistent", "Stay connected to the services, to be told of changes"),
		flag("", "--force", "Connect although the in-tree driver is connected to a subsystem"),
	};
	for (Option &option : settingOptions())
		options.push_back(std::move(option));
	return withHost(std::move(options));
}

Option nbftFiles()
{
	return preset("those of the firmware, /sys/firmware/acpi/tables/NBFT*",
		      repeated(positional("FILE", "A table", Completes::files)));
}

std::vector<Option> connectNbftOptions()
{
	std::vector<Option> options{
		nbftFiles(),
		flag("", "--all", "Also to what the firmware could not reach"),
		flag("", "--dry-run", "Print what would be done"),
		waitOption(),
		preset("30", time(0, anyTime,
				  value("", "--timeout", "SECONDS",
					"Wait at most that long for a path to each. Controllers go on trying after "
					"that"))),
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
		controllerName("Instead of an address: a discovery controller that is there"),
		sameAs("NAME", value("-d", "--device", "NAME", "The same as NAME", Completes::controllers)),
		transportOption(),
		preset("the one that all go by",
		       of(Type::nqn, value("-n", "--nqn", "NQN", "NQN of the discovery service"))),
		portOption("8009"),
		setting("", "connect-tmo", "SECONDS"),
		preset("30",
		       time(0, anyTime, value("", "--timeout", "SECONDS", "Wait at most that long for each service"))),
	});
}

std::vector<Command> connectionCommands()
{
	return {
		{"connect",
		 "connect to a subsystem",
		 "Connects to the subsystem over each given address, all at once, and waits as --wait says.",
		 connectOptions(),
		 runConnect,
		 {{"two paths to one subsystem",
		   "nvmeofctl connect -n nqn.2024-01.com.example:flash1 -a 192.168.10.5 -a 192.168.20.5"},
		  {"at boot, when the target may come later",
		   "nvmeofctl connect -n nqn.2024-01.com.example:flash1 -a 192.168.10.5 --keep-trying --wait none"},
		  {"never give up, and have /dev/disk/by-id when it returns",
		   "nvmeofctl connect -n nqn.2024-01.com.example:flash1 -a 192.168.10.5 -l -1 --wait udev"}}},
		{"discover",
		 "list what a discovery service tells",
		 "Reads the log of each given discovery service and lists its entries: subsystems with the addresses "
		 "of their ports, other discovery services, and the service itself. Entries that no host could use "
		 "are marked as such. Connects for that, and disconnects, or uses a discovery controller that is "
		 "there. Referrals are listed, not followed.",
		 discoverOptions(),
		 runDiscover,
		 {{"what a service tells", "nvmeofctl discover -a 192.168.10.5"},
		  {"connect to a service for good, to be told of changes by 'monitor'",
		   "nvmeofctl connect -n nqn.2014-08.org.nvmexpress.discovery -a 192.168.10.5:8009 --wait ctrl"}}},
		{"connect-all",
		 "connect to all that discovery services tell of",
		 "Reads the logs of all discovery services at once, follows their referrals, and connects to each "
		 "subsystem at each address that is told and may be used, all at once; and to what the configuration "
		 "names itself. Says of each path what has become of it, and what was told and is not connected to. "
		 "Ends with 0 when all are connected, with 6 when the time was over for those that are not, else "
		 "with 1.",
		 connectAllOptions(),
		 runConnectAll,
		 {{"all that one service tells of", "nvmeofctl connect-all -a 192.168.10.5"},
		  {"what would be connected by the configuration", "nvmeofctl connect-all --dry-run"}}},
		{"connect-nbft",
		 "connect to what the firmware has booted from",
		 "Connects to each subsystem of the NVMe Boot Firmware Table, as the host that it names, from the "
		 "address of each interface that it names, all at once. One path is enough for each, the others are "
		 "tried on and on. What is connected already is waited for like the rest. What the firmware itself "
		 "could not reach, and what wants authentication or TLS, is left out, and told.",
		 connectNbftOptions(),
		 runConnectNbft,
		 {{"what would be connected to", "nvmeofctl connect-nbft --dry-run"},
		  {"a table that somebody has sent", "nvmeofctl connect-nbft --dry-run ./NBFT"}}},
		{"disconnect-all",
		 "disconnect all controllers but some",
		 "Disconnects all controllers, all at once, and returns when they are gone. Those stay that --except "
		 "names, and those that a service such as nvmeofd has made for itself, unless --owned is given.",
		 {repeated(value("", "--except", "NAME|NQN",
				 "Leave a controller, or all of the subsystems whose NQN fits: * ? [...] as in a shell",
				 Completes::controllers)),
		  flag("", "--owned", "Also what a service has made for itself")},
		 runDisconnectAll,
		 {{"all but the disk with the system on it",
		   "nvmeofctl disconnect-all --except nqn.2024-01.com.example:boot"}}},
		{"disconnect",
		 "disconnect controllers",
		 "Disconnects the named controllers, those of one subsystem, or all. Returns when they are gone.",
		 withName(repeated(controllerName("A controller; more than one may be named")),
			  {value("-n", "--nqn", "NQN", "All controllers of the subsystem of that NQN", Completes::nqns),
			   flag("", "--all", "All controllers")}),
		 runDisconnect,
		 {{"one path", "nvmeofctl disconnect nvmeof0c1"},
		  {"a subsystem", "nvmeofctl disconnect -n nqn.2024-01.com.example:flash1"}}},
		volumeCommand(),
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
		 {},
		 runListSubsys},
		{"show",
		 "show all about one object",
		 "Shows a subsystem (nvmeof0), controller (nvmeof0c1), namespace (nvmeof0n1) or path (nvmeof0c1n1), "
		 "and the paths that belong to it: since when they are in their ANA state, the latency that half and "
		 "99 % of their requests stayed within, how many requests failed over from and to them.",
		 withName(required(positional("NAME", "Name of the object", Completes::objects))),
		 runShow,
		 {{"a disk and its paths", "nvmeofctl show nvmeof0n1"}}},
		{"nbft",
		 "show what the firmware has booted from",
		 "Shows the NVMe Boot Firmware Table, which firmware leaves that has booted over NVMe/TCP: who this "
		 "host is, its interfaces, subsystems and discovery services. What is of no use in it is told.",
		 {nbftFiles(), flag("", "--network",
				    "Only the interfaces, for scripts: a line of MAC, VLAN, ADDRESS/PREFIX, gateway, "
				    "metric, and dhcp or static for each; - for none")},
		 runNbft,
		 {{"what the firmware was connected to",
		   "nvmeofctl nbft --json | jq -r '.tables[].subsystems[].nqn'"}}},
		{"reservation",
		 "show who holds a disk",
		 "Asks the target which hosts are registered with the namespace, with which keys, and who holds a "
		 "reservation of what type. Hosts are told by their identifier; the keys are those of the cluster "
		 "software.",
		 withName(required(positional("NAME", "Name of the disk", Completes::objects))),
		 runReservation,
		 {{"who has it", "nvmeofctl reservation nvmeof0n1"}}},
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
		 "Changes settings: all that are given or, when one is wrong, none. Times are in seconds, or with a "
		 "unit as in 300ms.",
		 withName(required(positional("NAME", "Name of the subsystem or controller", Completes::objects)),
			  {required(repeated(positional("NAME=VALUE", "Setting; which there are see below",
							Completes::settings)))}),
		 runSet,
		 {{"choose paths by latency, and leave out slow ones",
		   "nvmeofctl set nvmeof0 iopolicy=latency degrade=on"},
		  {"wait for a controller for ever", "nvmeofctl set nvmeof0c1 ctrl-loss-tmo=-1"}},
		 true},
		{"apply-policy", "set subsystems as the configuration says",
		 "Sets one subsystem, or all, as those [[defaults]] of the configuration say whose pattern fits the "
		 "NQN. 'connect' does so with --new for a subsystem that it makes, and a udev rule for any that "
		 "appears.",
		 withName(positional("NAME", "Name of the subsystem; all if not given", Completes::objects),
			  {policyOption(), flag("", "--new", "Leave alone what has been changed already"),
			   flag("", "--syslog", "Tell the system's log, too, of what is wrong")}),
		 runApplyPolicy},
		daemonCommand(),
		cdcCommand(),
		{"upgrade",
		 "exchange the module of a transport under disks in use",
		 "Unloads the module of a transport and loads another build of it. Its controllers stay, and so do "
		 "disks, mounts and open files: I/O waits for the moment that it takes, as when a path is lost, and "
		 "none fails. What would be loaded is looked at first, by the kernel, too (signature, lockdown, "
		 "version); where it does not fit nothing is changed. Once begun it is brought to its end, whatever "
		 "becomes of the terminal.",
		 {required(oneOf({"tcp", "rdma"}, positional("TRANSPORT", "Whose module it is"))),
		  preset("the one that is installed", value("", "--file", "FILE", "The module", Completes::files)),
		  preset("30", time(1, day,
				    value("", "--timeout", "SECONDS",
					  "Most that is waited for the controllers to be live again"))),
		  flag("", "--dry-run", "Tell what would be loaded, or what is against it"),
		  flag("", "--force", "Also where that build is running already")},
		 runUpgrade,
		 {{"after 'make dkms' of a newer version", "nvmeofctl upgrade tcp"},
		  {"a build that is not installed", "nvmeofctl upgrade tcp --file /root/nvmeof_tcp.ko"}}},
		{"shutdown",
		 "bound the wait for a path ahead of a shutdown",
		 "From now on no I/O waits for longer than the limit for a path that is gone: fast-io-fail-tmo of "
		 "all controllers and delayed-removal-secs of all subsystems are lowered to it. "
		 "nvmeof-shutdown.service, which comes with the units that connect, runs this ahead of unmounting.",
		 {preset("15", time(0, day, value("", "--limit", "SECONDS", "Longest wait")))},
		 runShutdown,
		 {{"by hand, where the unit is not enabled", "nvmeofctl shutdown --limit 5"}}},
	};
}

std::vector<Command> statisticsCommands()
{
	return {
		{"doctor",
		 "find out what is wrong, and what to do next",
		 "Examines controllers, paths, disks and their links, the network to TCP targets, versions of command "
		 "and modules, the clock, nvmeofd and nvmeof-cdc. Prints a line for each finding, the worst first, "
		 "with "
		 "the next step. Problem: I/O waits, or data is at risk. Warning: I/O works, but less safely or slower "
		 "than it should, or not after the next boot. Exit codes of this command: 0 - no findings; 1 - "
		 "warnings; "
		 "2 - at least one problem. It changes nothing, and takes a few seconds at most. To find an MTU that "
		 "differs on the way it sends pings to each TCP target.",
		 {flag("", "--no-probe", "Send no pings: leaves out the MTU")},
		 runDoctor,
		 {{"in a script: is anything wrong", "nvmeofctl doctor --no-probe"},
		  {"the problems, for a program",
		   "nvmeofctl doctor --json | jq -r '.findings[] | select(.severity == \"problem\") | .object, "
		   ".finding'"}}},
		{"events",
		 "print events that nvmeofd has kept",
		 "Prints the last events with the time of day, oldest first: 1,000 at least, once there have been as "
		 "many, over restarts of the daemon and of the machine. Of attempts to connect that failed one after "
		 "the other for one reason the first, second, fourth, ... is there. With NAME only those of that "
		 "subsystem, controller, namespace, path, NQN, wwid or address.",
		 {positional("NAME", "What they are about; all if not given", Completes::objects),
		  value("", "--since", "WHEN", "Not before: 2026-11-27, '2026-11-27 05:14', 05:14, 2h, @SECONDS"),
		  value("", "--until", "WHEN", "Before that"),
		  number(1, anyNumber, value("-n", "--count", "N", "The last N")),
		  preset("/var/lib/nvmeof/events",
			 value("", "--file", "FILE", "Where they are kept", Completes::files))},
		 runEvents,
		 {{"what has happened in the last two hours", "nvmeofctl events --since 2h"},
		  {"of one path, during an outage",
		   "nvmeofctl events nvmeof0c1 --since 2026-11-27T03:00 --until 2026-11-27T04:00"}}},
		{"monitor",
		 "print events as they happen",
		 "Prints a line for each event until interrupted: what comes and goes, every change of a state, and "
		 "after a failover how many requests moved and how long that took. With --json each line is an "
		 "object of its own.",
		 {number(0, anyNumber, value("", "--count", "N", "End after N events")),
		  time(0, anyTime,
		       value("", "--timeout", "SECONDS",
			     "End after that long; with --count, exit code 6 if there were fewer events"))},
		 runMonitor,
		 {{"the longest that an application has waited in each failover",
		   "nvmeofctl monitor --json | jq -r 'select(.event == \"failover\") | .name, "
		   ".failover.duration_ns'"}}},
		{"stats",
		 "print counters and latencies",
		 "Prints, for each namespace and its paths, what was counted since the path appeared: I/Os, bytes, "
		 "errors, retries, aborts, requests that failed over from and to the path, and how long reads and "
		 "writes took; then the controllers with their reconnects and last errors. With --prometheus the "
		 "same as metrics for the textfile collector of node_exporter. Percentiles are estimated from "
		 "classes of latency that double in width; they are exact to a factor of two.",
		 withName(onlyOf(),
			  {flag("", "--prometheus", "Print metrics in the text format of Prometheus"),
			   flag("", "--histograms",
				"With --prometheus: how latencies are spread; as without it in this version"),
			   flag("", "--no-histograms",
				"With --prometheus: only how many and how long, 46 series less for each path"),
			   value("", "--output", "FILE",
				 "Write to a file instead; whoever reads it sees the old text or the new one, never "
				 "a part. What is there stays when the figures cannot be read. Metrics go on from "
				 "it: disks that it has and that were lost since, and their number",
				 Completes::files)}),
		 runStats,
		 {{"for node_exporter, from a timer",
		   "nvmeofctl stats --prometheus --output /var/lib/node_exporter/textfile/nvmeof.prom"}}},
		{"top",
		 "watch paths live",
		 "Shows controller and ANA states, I/Os and bytes per second, latency percentiles of the last "
		 "interval, requests in flight, waiting for a path or held by fencing, and failovers from and to "
		 "each path, until q is pressed. Keys: s sort by the next column, r reverse, p pause, n namespaces "
		 "or paths, arrows and page keys scroll. Goes on trying when the kernel module, or NAME, is not "
		 "there. With --json each frame is an object on a line of its own.",
		 {onlyOf(),
		  preset("1", time(100, anyTime, value("-d", "--delay", "SECONDS", "Time from frame to frame"))),
		  number(0, anyNumber, value("-n", "--iterations", "N", "End after N intervals")),
		  flag("-b", "--batch", "Print plain frames; needs no terminal")},
		 runTop,
		 {{"ten frames into a file", "nvmeofctl top --batch -n 10"}}},
	};
}

// A number with or without a unit. The command parses it, so the parser does not check it.
Option quantity(std::string name, std::string called, std::string preset_, std::string help)
{
	return preset(std::move(preset_), value("", std::move(name), std::move(called), std::move(help)));
}

std::vector<Option> planOptions()
{
	constexpr std::int64_t many = 1'000'000;
	return {
		preset("8", number(1, many, value("", "--gpus", "N", "GPUs of a host"))),
		preset("8", number(1, many, value("", "--cards", "N", "Network cards of a host"))),
		quantity("--card-gbps", "GBPS", "400", "Gb/s of a card"),
		preset("rdma", oneOf({"tcp", "rdma"}, value("", "--transport", "TRANSPORT", "Transport"))),
		preset("5", number(1, 6, value("", "--pcie-generation", "N", "PCI Express of cards and GPUs"))),
		preset("16", number(1, 16, value("", "--pcie-lanes", "N", "Their lanes"))),
		preset("256", number(128, 4096, value("", "--max-payload", "BYTES", "MaxPayload on the way"))),
		preset("4", number(1, many, value("", "--targets", "N", "Targets"))),
		quantity("--target-gbps", "GBPS", "800", "Gb/s of a target"),
		preset("16", number(1, many, value("", "--namespaces", "N", "Namespaces of all targets"))),
		quantity("--read-rate", "RATE", "12G", "Bytes a second that a namespace reads"),
		quantity("--write-rate", "RATE", "6G", "Bytes a second that a namespace writes"),
		preset("2", number(1, many, value("", "--paths", "N", "Paths of a host to each target"))),
		preset("16", number(1, 65535, value("", "--queues", "N", "I/O queues of a controller"))),
		preset("128", number(2, 65536, value("", "--depth", "N", "Entries of a queue"))),
		preset("32",
		       number(1, many, value("", "--agents", "N", "Of each GPU, that submit requests by themselves"))),
		quantity("--io", "SIZE", "1M", "Bytes of a request"),
		quantity("--chunk", "SIZE", "128K", "Bytes of a stripe's chunk"),
		preset("0.0002 s", time(1, anyTime, value("", "--latency", "SECONDS", "Time that a request takes"))),
		quantity("--parameters", "N", "none", "Parameters of a model whose state is written: 10T"),
		preset("900", time(1, anyTime, value("", "--window", "SECONDS", "Time that this may take"))),
		preset("1", number(1, many, value("", "--hosts", "N", "Hosts that share targets and state"))),
		flag("", "--sources", "Tell the source of each constant"),
		flag("", "--compare", "Compare with this system, and say what is short"),
		flag("", "--csv", "Print as comma-separated values"),
		value("", "--svg", "FILE", "Write a picture of the stages", Completes::files),
		rootOption(),
	};
}

std::vector<Command> gpuCommands()
{
	return {
		gdsCommand(),
		{"map",
		 "which card serves which GPU",
		 "Shows GPUs, network cards and local drives by socket and root port, the disk paths of each card, "
		 "and the rails: the card of each GPU, the nearest that is left. 'connect --rail' connects over "
		 "them.",
		 {gpuOption(), value("", "--svg", "FILE", "Write a picture", Completes::files), rootOption()},
		 runMap,
		 {{"as a picture", "nvmeofctl map --svg map.svg"}}},
		stripeCommand(),
		{"plan",
		 "what a system of GPUs and storage takes",
		 "Computes the bandwidth of each stage from drives to GPUs, the width of a stripe, the time of a "
		 "checkpoint, queues and their memory, the part of PCI Express that is data, and what boots and "
		 "failures cost, by what this project has measured. Numbers may have units: 12G, 10T.",
		 planOptions(),
		 runPlan,
		 {{"a model of 10 trillion parameters in 15 minutes, over 8 cards of 400 Gb/s",
		   "nvmeofctl plan --parameters 10T --window 900 --sources"},
		  {"is this system as planned", "nvmeofctl plan --gpus 8 --cards 8 --namespaces 16 --compare"}}},
	};
}

std::vector<Command> otherCommands()
{
	return {
		configCommand(),
		{"import",
		 "take over what nvme-cli or nvme-stas was told",
		 "Reads discovery.conf, config.json and nvme-fabrics.conf of nvme-cli, stafd.conf, stacd.conf, "
		 "sys.conf and nvme-stas.conf of nvme-stas, and policy.conf of older versions, and prints the same "
		 "as nvmeof.toml. Every key that has no place there is named, in the file and on stderr. Secrets are "
		 "not taken over.",
		 {repeated(positional("FILE", "What to read; where none is given, those that are in their usual places",
				      Completes::files)),
		  value("", "--output", "FILE", "Write to a file instead", Completes::files),
		  flag("", "--force", "Write over a file that is there")},
		 runImport,
		 {{"move over; 'nvmeofctl connect-all --dry-run' then tells what would be connected",
		   "nvmeofctl import --output /etc/nvmeof/nvmeof.toml"}}},
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
		 .summary = "completion scripts and manual page",
		 .options = {required(oneOf({"bash", "zsh", "fish", "man"}, positional("WHAT", "What to write")))},
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
		"tell about a command",
		"Prints what a command does, its options with their ranges and defaults, and examples; or which "
		"commands there are.",
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

std::vector<Command> wholeTable()
{
	std::vector<Command> table;
	for (auto part :
	     {connectionCommands, viewCommands, changeCommands, statisticsCommands, gpuCommands, otherCommands})
		for (Command &command : part())
			table.push_back(std::move(command));
	table.push_back(helpCommand(table));
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
