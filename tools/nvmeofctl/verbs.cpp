// SPDX-License-Identifier: LGPL-2.1-or-later
#include "verbs.h"

#include <utility>

#include "options.h"

using namespace opt;

namespace {

// ---- volume

std::vector<Option> volumeIds()
{
	return {
		required(of(Type::nqn, value("-n", "--nqn", "NQN", "NQN of the subsystem", Completes::nqns))),
		of(Type::uuid, value("", "--uuid", "UUID", "The volume: namespace with that UUID")),
		value("", "--nguid", "NGUID", "Or with that NGUID, 32 hexadecimal digits"),
		value("", "--eui64", "EUI64", "Or with that EUI-64, 16 hexadecimal digits"),
		number(1, anyNumber - 1, value("", "--nsid", "N", "Or of that number: it may be another one's later")),
	};
}

Option volumeTimeout()
{
	return preset("30", time(0, anyTime, value("", "--timeout", "SECONDS", "At most that long")));
}

Command attachVerb()
{
	return {"attach",
		"connect a volume's paths, and wait for its disk",
		"Connects all paths that are not connected, waits for the disk and its links, and prints them; it "
		"may be repeated. One live path is enough: the others are tried as long as the volume is attached.",
		withHost(joined({volumeIds(),
				 {required(addresses("Address of the target, or a host name for all of its addresses. "
						     "Repeat for more paths")),
				  transportOption(), portOption("4420"), volumeTimeout()},
				 settingOptions()})),
		runVolumeAttach,
		{{"a volume by two paths",
		  "nvmeofctl volume attach -n nqn.2024-01.com.example:flash1 --uuid "
		  "6f1b2c3d-0000-4000-8000-0123456789ab -a 192.168.10.5 -a 192.168.20.5 --json"}}};
}

Command detachVerb()
{
	return {"detach",
		"give a volume up, and disconnect where no other is attached",
		"Ends what attach began, unless the disk is used (exit code 10), and disconnects when no attached "
		"volume of the subsystem is left and no other disk of it is used. Connections that others made stay.",
		joined({volumeIds(), {volumeTimeout()}}),
		runVolumeDetach,
		{{"when the volume is no longer used", "nvmeofctl volume detach -n nqn.2024-01.com.example:flash1 "
						       "--uuid 6f1b2c3d-0000-4000-8000-0123456789ab"}}};
}

// ---- stripe

Option stripeName(std::string help)
{
	return of(Type::stripeName, positional("NAME", std::move(help)));
}

// Members and layout of a stripe
std::vector<Option> layoutOptions()
{
	constexpr std::int64_t mostMembers = 256;
	return {
		required(stripeName("Name of the stripe, as in /dev/mapper")),
		repeated(positional("MEMBER", "Disk that is to be a member", Completes::objects)),
		repeated(value("-n", "--nqn", "PATTERN",
			       "As members all disks of the subsystems whose NQN fits: * ? [...] as in a shell",
			       Completes::nqns)),
		number(2, mostMembers, value("", "--width", "N", "So many members; all that are named if not given")),
		preset("optimal I/O size of the members, or 128KiB",
		       value("", "--chunk", "SIZE", "Of a member in a row, a power of two from 4KiB to 16MiB")),
		flag("", "--keep-order", "Members in the order in which they are named"),
	};
}

// Options of verbs that change disks and configuration
std::vector<Option> buildOptions()
{
	return {
		flag("", "--transient", "Leave the configuration alone: at the next boot it is not there"),
		flag("", "--force", "Take members that have data on them"),
		configOption(),
	};
}

std::vector<Command> stripeVerbs()
{
	return {
		{"plan",
		 "show which members a stripe would have, and in which order",
		 "Shows the members, their order and the chunk: neighbours are of different subsystems, and of "
		 "different owners within one. Nothing is changed.",
		 layoutOptions(),
		 runStripePlan,
		 {{"over all disks of some subsystems",
		   "nvmeofctl stripe plan scratch -n 'nqn.2024-01.com.example:jbof*'"}}},
		{"create",
		 "make a stripe, and keep it in the configuration",
		 "Makes the stripe as 'stripe plan' shows it, in /dev/mapper, and keeps it in the configuration, by "
		 "which nvmeofd or 'stripe start' make it at the next boot.",
		 joined({layoutOptions(),
			 {oneOf({"xfs", "ext4"},
				value("", "--mkfs", "TYPE", "Make a file system that knows the stripe"))},
			 buildOptions()}),
		 runStripeCreate,
		 {{"16 namespaces of four targets, as xfs",
		   "nvmeofctl stripe create scratch -n 'nqn.2024-01.com.example:jbof*' --mkfs xfs"}}},
		{"show",
		 "show which stripes there are",
		 "Shows the stripes that are there or configured: their state, size and members, and which members "
		 "are missing.",
		 {stripeName("Name of the stripe; all if not given"), configOption()},
		 runStripeShow},
		{"start",
		 "make the stripes that are configured",
		 "Makes each stripe that is configured and not there, and prints its device. It is not made before "
		 "all of its members are there.",
		 {stripeName("Name of the stripe; all if not given"), configOption()},
		 runStripeStart},
		{"stop",
		 "remove a stripe, and leave its members as they are",
		 "Removes the device. Its members keep their data, and 'stripe start' makes it again where it is "
		 "configured.",
		 {required(stripeName("Name of the stripe")),
		  flag("", "--forget", "Take it out of the configuration, too"), configOption()},
		 runStripeStop},
		{"grow",
		 "move a stripe to other members while it is in use",
		 "Copies the stripe to members that together are as large or larger; writes go to both meanwhile. "
		 "When all is copied the old members are free.",
		 joined({layoutOptions(), {flag("", "--dry-run", "Tell what would be done")}, buildOptions()}),
		 runStripeGrow,
		 {{"to twice as many, in use", "nvmeofctl stripe grow scratch -n 'nqn.2024-01.com.example:new*'"}}},
	};
}

// ---- gds

std::vector<Option> gdsCheckOptions()
{
	return {gpuOption(),
		repeated(value("", "--dev", "DISK", "Disk to look at; all of this driver if not given",
			       Completes::objects)),
		flag("", "--all", "Tell also what is good"), rootOption()};
}

std::vector<Command> gdsVerbs()
{
	return {
		{"check",
		 "tell what keeps storage from the memory of GPUs",
		 "Looks at each GPU, each card and each disk path: how far they are from each other, what lies "
		 "between (ACS, IOMMU), their links and windows, drivers, kernel, file systems; and says of all that "
		 "is not good what to do, by which rule. Ends with 1 where something fails.",
		 gdsCheckOptions(),
		 runGdsCheck,
		 {{"why a disk is not read straight into a GPU", "nvmeofctl gds check --dev nvmeof0n1"},
		  {"a machine that is not here", "nvmeofctl gds check --root node17.rec"}}},
		{"config",
		 "write cufile.json for this machine",
		 "Shows what would change in cufile.json, and why, and with --write does it. P2PDMA is not enabled "
		 "where 'gds check' fails for the kernel or the drivers; each failure is shown.",
		 {preset("/etc/cufile.json", value("", "--file", "FILE", "The file", Completes::files)),
		  flag("", "--write", "Write it; what was there stays beside it"), rootOption()},
		 runGdsConfig,
		 {{"after a change of cards or mounts", "nvmeofctl gds config --write"}}},
		{"record",
		 "write down what check and config look at",
		 "Writes what 'gds check' and 'gds config' look at, for somebody else's --root.",
		 {value("", "--output", "FILE", "Write to a file", Completes::files), rootOption()},
		 runGdsRecord,
		 {{"a machine to be looked at elsewhere", "nvmeofctl gds record --output node17.rec"}}},
	};
}

// ---- nvmeofd

std::vector<Command> daemonVerbs()
{
	return {
		{"status",
		 "show discovery services, and what they led to",
		 "Shows the discovery services of nvmeofd, the connections that they led to, and what is refused and "
		 "why.",
		 {},
		 runDaemonStatus,
		 {{"which services there are, and how they are", "nvmeofctl daemon status"}}},
		{"reload",
		 "read the configuration again",
		 "Has nvmeofd read the configuration again, and reports what the reload changed.",
		 {},
		 runDaemonReload,
		 {{"after a change of /etc/nvmeof/nvmeof.toml", "nvmeofctl daemon reload"}}},
		{"rescan",
		 "read every discovery log again",
		 "Has nvmeofd read every discovery log again, and try at once what failed.",
		 {},
		 runDaemonCall},
		{"pause",
		 "connect and disconnect nothing until resume",
		 "Keeps nvmeofd from connecting and disconnecting until 'daemon resume'.",
		 {},
		 runDaemonCall},
		{"resume", "end a pause", "Ends what 'daemon pause' began.", {}, runDaemonCall},
	};
}

// ---- nvmeof-cdc

std::vector<Option> withSocket(std::vector<Option> options = {})
{
	options.push_back(preset("/run/nvmeof-cdc/control",
				 value("", "--socket", "PATH", "The service's control socket", Completes::files)));
	return options;
}

// Options of verbs that change what hosts see
std::vector<Option> withForce(std::vector<Option> options = {},
			      std::string force = "Also what takes more than half of its targets from a host")
{
	options.push_back(flag("", "--force", std::move(force)));
	options.push_back(flag("", "--dry-run", "Tell which hosts would lose what, and change nothing"));
	return withSocket(std::move(options));
}

std::vector<Option> targetPort()
{
	return {
		required(of(Type::nqn, positional("NQN", "NQN of the subsystem", Completes::nothing))),
		sameAs("NQN", of(Type::nqn, value("-n", "--nqn", "NQN", "The same as NQN"))),
		required(addresses("Address of a port; an IPv6 one with a port is [ADDR]:PORT. Repeat for more ports")),
		transportOption(),
		portOption("4420"),
	};
}

Option recordFile()
{
	return required(value("", "--file", "FILE",
			      "Records as 'cdc targets' and 'cdc zones' print them with --json; - for stdin",
			      Completes::files));
}

Command cdcView(std::string name, std::string summary, std::string description, std::vector<Example> examples = {})
{
	return {std::move(name), std::move(summary), std::move(description),
		withSocket(),    runCdcView,         std::move(examples)};
}

Command cdcSet()
{
	Command set{"set",
		    "set targets and zones by hand",
		    "Sets records. They hold against what configuration, registrations and other services tell, "
		    "until they are removed. A change that hides more than half of a host's targets from it needs "
		    "--force. Hosts register themselves: put them into a zone. Without a verb the records come from "
		    "a file.",
		    withForce({recordFile()}),
		    runCdcSetFile,
		    {{"records that were printed before", "nvmeofctl cdc set --file zones.json"}}};
	set.verbs = {
		{"target",
		 "set ports of a subsystem",
		 "Sets the ports of a subsystem that are given; its other ports stay.",
		 withForce(joined(
			 {targetPort(),
			  {preset("optimized",
				  oneOf({"optimized", "non-optimized", "inaccessible", "persistent-loss", "change"},
					value("", "--state", "STATE",
					      "The best ANA state that a namespace has there")))}})),
		 runCdcSetTarget,
		 {{"a subsystem with two ports",
		   "nvmeofctl cdc set target nqn.2024-01.com.example:flash1 -a 192.168.10.5 -a 192.168.20.5"},
		  {"a port that is out of order",
		   "nvmeofctl cdc set target nqn.2024-01.com.example:flash1 -a 192.168.10.5 --state inaccessible"}}},
		{"zone",
		 "set a zone, as a whole",
		 "Sets which hosts are in a zone and which subsystems they see, instead of what it was.",
		 withForce({required(positional("NAME", "Name of the zone")),
			    repeated(value("", "--host", "NQN",
					   "Hosts that are in it; * ? [...] as in a shell. Repeat for more")),
			    repeated(value("", "--target", "NQN",
					   "Subsystems that these hosts see; * ? [...] as in a shell. Repeat for "
					   "more"))}),
		 runCdcSetZone,
		 {{"a rack of hosts, and what they see",
		   "nvmeofctl cdc set zone rack1 --host nqn.2014-08.org.nvmexpress:uuid:1111* --target "
		   "nqn.2024-01.com.example:flash*"},
		  {"which hosts would lose targets by it",
		   "nvmeofctl cdc set zone rack1 --host nqn.2014-08.org.nvmexpress:uuid:1111* --dry-run"}}},
	};
	return set;
}

std::vector<Option> withRemoval(std::vector<Option> options)
{
	return withForce(std::move(options),
			 "Also what takes more than half of its targets from a host, or what another "
			 "service or configuration may tell again");
}

Command cdcRemove()
{
	Command remove{"remove", "remove targets, zones and hosts",
		       "Removes records. A change that hides more than half of a host's targets from it needs "
		       "--force. Without a verb the records come from a file.",
		       withRemoval({recordFile()}), runCdcRemoveFile};
	remove.verbs = {
		{"target", "remove ports of a subsystem", "Removes the ports of a subsystem that are given.",
		 withRemoval(targetPort()), runCdcRemoveTarget},
		{"zone", "remove a zone", "Removes a zone. Its hosts see what their other zones have.",
		 withRemoval({required(positional("NAME", "Name of the zone"))}), runCdcRemoveName},
		{"host", "remove what a host has registered",
		 "Removes the registration of a host, which may register again.",
		 withRemoval({required(positional("NAME", "NQN of the host"))}), runCdcRemoveName},
	};
	return remove;
}

Command cdcChanges()
{
	return {"changes",
		"show what has changed",
		"Shows the last 256 changes of records, each with its generation.",
		withSocket({flag("", "--follow", "Also those to come, until interrupted")}),
		runCdcView,
		{{"changes as they come, for a program", "nvmeofctl cdc changes --follow --json | jq -c .change.put"}}};
}

// ---- the configuration

std::vector<Command> configVerbs()
{
	return {
		{"check",
		 "tell what is wrong with the configuration",
		 "Tells all that is wrong with the configuration, with file and line.",
		 {configOption()},
		 runConfigCheck,
		 {{"before a change is put to use", "nvmeofctl config check --config new.toml"}}},
		{"show",
		 "print what the configuration comes to",
		 "Prints what all files of the configuration come to, as one.",
		 {configOption()},
		 runConfigShow},
	};
}

} // namespace

Command volumeCommand()
{
	Command volume{"volume", "attach and detach volumes, for orchestrators",
		       "Attaches a volume over all of its paths, and gives it up when nobody uses it any more."};
	volume.verbs = {attachVerb(),
			detachVerb(),
			{"list",
			 "show which volumes are attached",
			 "Shows each attached volume with its disk and users.",
			 {},
			 runVolumeList}};
	return volume;
}

Command stripeCommand()
{
	Command stripe{"stripe", "a disk over namespaces of several targets",
		       "A stripe spreads a disk over namespaces of several targets, in /dev/mapper. It stands in the "
		       "configuration, by which it is made at each boot."};
	stripe.verbs = stripeVerbs();
	return stripe;
}

Command gdsCommand()
{
	Command gds{
		"gds", "whether storage reaches the memory of GPUs",
		"Tells whether storage reaches the memory of GPUs, and what to do where it does not. Without a verb "
		"the same as 'gds check'.",
		gdsCheckOptions(), runGdsCheck};
	gds.verbs = gdsVerbs();
	return gds;
}

Command configCommand()
{
	Command config{"config",
		       "check or show the configuration",
		       "Checks or shows the configuration. Without a verb the same as 'config check'.",
		       {configOption()},
		       runConfigCheck};
	config.verbs = configVerbs();
	return config;
}

Command daemonCommand()
{
	Command daemon{"daemon", "what nvmeofd is at, and what it is to do",
		       "Shows what nvmeofd has found and connected, and tells it what to do."};
	daemon.verbs = daemonVerbs();
	return daemon;
}

Command cdcCommand()
{
	Command cdc{"cdc", "what nvmeof-cdc knows and does, and what it is to do",
		    "Shows what the centralized discovery controller on this machine knows, changes its records, and "
		    "tells it what to do."};
	cdc.verbs = {
		cdcView("status", "show the state of the service",
			"Shows the state of the service, and what is wrong."),
		cdcView("hosts", "show hosts, and what they see",
			"Shows the hosts that are known, with their connections, zones and number of targets.",
			{{"who has which generation", "nvmeofctl cdc hosts"}}),
		cdcView("targets", "show targets", "Shows the ports of subsystems, and who told of them."),
		cdcView("zones", "show zones", "Shows the zones with their hosts and targets."),
		cdcView("instances", "show services that share the records",
			"Shows the instances of nvmeof-cdc that share the records."),
		cdcChanges(),
		cdcView("backup", "print all records", "Prints all records as JSON, which 'nvmeof-cdc move' puts back.",
			{{"all records, which 'nvmeof-cdc move --from FILE.json' puts back", "nvmeofctl cdc backup"}}),
		cdcSet(),
		cdcRemove(),
		cdcView("drain", "hand its hosts over, and end it",
			"Has the service hand its hosts over to other instances, and end."),
		{"reload",
		 "read its configuration again",
		 "Has the service read its configuration again. A configuration that hides more than half of a host's "
		 "targets from it needs --force.",
		 withForce(),
		 runCdcView,
		 {{"which hosts would lose targets by the configuration as it is now",
		   "nvmeofctl cdc reload --dry-run"}}},
	};
	return cdc;
}
