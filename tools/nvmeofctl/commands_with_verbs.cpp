// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command.h"

#include <utility>

#include "cdc.h"
#include "options.h"

using namespace opt;

namespace {

// ---- volume

std::vector<Option> volumeIds()
{
	return {
		required(of(Type::nqn, value("-n", "--nqn", "NQN", "NQN of the subsystem", Completes::nqns))),
		of(Type::uuid, value("", "--uuid", "UUID", "UUID of the volume's namespace")),
		value("", "--nguid", "NGUID", "NGUID of the namespace, 32 hexadecimal digits"),
		value("", "--eui64", "EUI64", "EUI-64 of the namespace, 16 hexadecimal digits"),
		number(1, anyNumber - 1,
		       value("", "--nsid", "N", "NSID of the namespace; not recommended, as a target may reuse it")),
	};
}

Option volumeTimeout()
{
	return preset("30", time(0, anyTime, value("", "--timeout", "SECONDS", "Maximum time to wait")));
}

Command attachVerb()
{
	return {"attach",
		"connect a volume's paths, and wait for its disk",
		"Connects all missing paths, waits for the disk and its links, and prints them. Repeating it is "
		"harmless. One live path is enough; the others are retried while the volume is attached.",
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
		"detach a volume, and disconnect its subsystem after the last volume",
		"Detaches the volume, unless its disk is in use (exit code 10). Disconnects the subsystem if none of "
		"its volumes is attached and none of its disks is in use. Connections that 'volume attach' did not "
		"create remain.",
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
	constexpr std::int64_t maxMembers = 256;
	return {
		required(stripeName("Name of the stripe, as in /dev/mapper")),
		repeated(positional("MEMBER", "Member disk", Completes::objects)),
		repeated(value("-n", "--nqn", "PATTERN",
			       "Use all disks of the subsystems whose NQN matches this shell pattern as members",
			       Completes::nqns)),
		number(2, maxMembers, value("", "--width", "N", "Number of members; all given disks if not given")),
		preset("optimal I/O size of the members, or 128KiB",
		       value("", "--chunk", "SIZE", "Chunk size per member, a power of two from 4KiB to 16MiB")),
		flag("", "--keep-order", "Keep the order in which members are given"),
	};
}

// Options of verbs that change disks and configuration
std::vector<Option> buildOptions()
{
	return {
		flag("", "--transient", "Do not save the stripe in the configuration: it is gone after a reboot"),
		flag("", "--force", "Accept members that contain data"),
		configOption(),
	};
}

std::vector<Command> stripeVerbs()
{
	return {
		{"plan",
		 "show the members that a stripe would have, in order",
		 "Shows the members, their order and the chunk size, without changing anything. Adjacent members "
		 "belong to different subsystems, and within a subsystem to different owners: the controllers that "
		 "have optimized paths.",
		 layoutOptions(),
		 runStripePlan,
		 {{"over all disks of some subsystems",
		   "nvmeofctl stripe plan scratch -n 'nqn.2024-01.com.example:jbof*'"}}},
		{"create",
		 "create a stripe, and save it in the configuration",
		 "Creates the stripe as shown by 'stripe plan', in /dev/mapper, and saves it in the configuration, so "
		 "that nvmeofd or 'stripe start' create it again at the next boot.",
		 joined({layoutOptions(),
			 {oneOf({"xfs", "ext4"},
				value("", "--mkfs", "TYPE", "Create a file system aligned to the stripe"))},
			 buildOptions()}),
		 runStripeCreate,
		 {{"16 namespaces of four targets, as xfs",
		   "nvmeofctl stripe create scratch -n 'nqn.2024-01.com.example:jbof*' --mkfs xfs"}}},
		{"show",
		 "show stripes and their members",
		 "Shows existing and configured stripes: state, size, members and missing members.",
		 {stripeName("Name of the stripe; all if not given"), configOption()},
		 runStripeShow},
		{"start",
		 "create the configured stripes",
		 "Creates each configured stripe that does not exist and whose members are all present, and prints its "
		 "device.",
		 {stripeName("Name of the stripe; all if not given"), configOption()},
		 runStripeStart},
		{"stop",
		 "remove a stripe, and keep the data of its members",
		 "Removes the device. Its members keep their data; 'stripe start' creates it again if it is "
		 "configured.",
		 {required(stripeName("Name of the stripe")),
		  flag("", "--forget", "Also remove it from the configuration"), configOption()},
		 runStripeStop},
		{"grow",
		 "move a stripe to other members while it is in use",
		 "Copies the stripe to members with at least its size; until the copy is complete, writes go to old "
		 "and new members. Then the old members are free.",
		 joined({layoutOptions(), {flag("", "--dry-run", "Show what would be done")}, buildOptions()}),
		 runStripeGrow,
		 {{"to twice as many members, while in use",
		   "nvmeofctl stripe grow scratch -n 'nqn.2024-01.com.example:new*'"}}},
	};
}

// ---- gds

std::vector<Option> gdsCheckOptions()
{
	return {gpuOption(),
		repeated(value("-d", "--device", "DISK", "Disk to check; all disks of this driver if not given",
			       Completes::objects)),
		oldSpelling("--device",
			    repeated(value("", "--dev", "DISK", "The same as --device", Completes::objects))),
		flag("", "--all", "Also show passed checks"), rootOption()};
}

std::vector<Command> gdsVerbs()
{
	return {
		{"check",
		 "check whether storage can reach GPU memory directly",
		 "Checks each GPU, network card and disk path: PCI distance, ACS and IOMMU between them, links and BAR "
		 "windows, drivers, kernel and file systems. For each problem, prints the rule and the next step. Exit "
		 "code 1 if a check fails.",
		 gdsCheckOptions(),
		 runGdsCheck,
		 {{"why a disk is not read straight into a GPU", "nvmeofctl gds check -d nvmeof0n1"},
		  {"another machine, from a recording", "nvmeofctl gds check --root node17.rec"}}},
		{"config",
		 "write cufile.json for this machine",
		 "Shows changes to cufile.json, with reasons, and makes them if --write is given. P2PDMA is not "
		 "enabled "
		 "where 'gds check' fails for the kernel or the drivers; each failure is shown.",
		 {preset("/etc/cufile.json", value("", "--file", "FILE", "The file", Completes::files)),
		  flag("", "--write", "Write the file, and keep the old one as FILE.before-nvmeof"), rootOption()},
		 runGdsConfig,
		 {{"after a change of cards or mounts", "nvmeofctl gds config --write"}}},
		{"record",
		 "record the files that 'check' and 'config' read",
		 "Records the files that 'gds check' and 'gds config' read, for use with --root on another machine.",
		 {value("", "--output", "FILE", "Write to a file", Completes::files), rootOption()},
		 runGdsRecord,
		 {{"to examine this machine on another one", "nvmeofctl gds record --output node17.rec"}}},
	};
}

// ---- nvmeofd

std::vector<Command> daemonVerbs()
{
	return {
		{"status",
		 "show discovery services and their connections",
		 "Shows the discovery services of nvmeofd, their connections, and the log entries that it does not "
		 "use, with reasons.",
		 {},
		 runDaemonStatus,
		 {{"services and their state", "nvmeofctl daemon status"}}},
		{"reload",
		 "read the configuration again",
		 "Makes nvmeofd read the configuration again, and reports what the reload changed. Existing "
		 "controllers get changed keys; the journal of nvmeofd has the results.",
		 {},
		 runDaemonReload,
		 {{"after a change of /etc/nvmeof/nvmeof.toml", "nvmeofctl daemon reload"}}},
		{"rescan",
		 "read every discovery log again",
		 "Makes nvmeofd read every discovery log again, and retry failed connections at once.",
		 {},
		 runDaemonCall},
		{"pause",
		 "stop connecting and disconnecting until 'resume'",
		 "Keeps nvmeofd from connecting and disconnecting until 'daemon resume'.",
		 {},
		 runDaemonCall},
		{"resume", "end a pause", "Ends the pause started by 'daemon pause'.", {}, runDaemonCall},
	};
}

// ---- nvmeof-cdc

std::vector<Option> withSocket(std::vector<Option> options = {})
{
	options.push_back(preset(usualCdcSocket,
				 value("", "--socket", "PATH", "The service's control socket", Completes::files)));
	return options;
}

// Options of verbs that change what hosts see
std::vector<Option> withForce(std::vector<Option> options = {},
			      std::string force = "Make the change even if a host loses more than half of its targets")
{
	options.push_back(flag("", "--force", std::move(force)));
	options.push_back(flag("", "--dry-run", "Show which hosts would lose which targets, and change nothing"));
	return withSocket(std::move(options));
}

std::vector<Option> targetPort()
{
	return {
		required(of(Type::nqn, positional("NQN", "NQN of the subsystem", Completes::nothing))),
		aliasOf("NQN", of(Type::nqn, value("-n", "--nqn", "NQN", "The same as NQN"))),
		required(addresses("Address of a port; an IPv6 one with a port is [ADDR]:PORT. Repeat for more ports")),
		transportOption(),
		portOption("4420"),
	};
}

Option recordFile()
{
	return required(value("", "--file", "FILE",
			      "Records as 'cdc target list' and 'cdc zone list' print them with --json; - for stdin",
			      Completes::files));
}

Command cdcView(std::string name, std::string summary, std::string description, std::vector<Example> examples = {})
{
	return {std::move(name), std::move(summary), std::move(description),
		withSocket(),    runCdcView,         std::move(examples)};
}

// The verb "list" of a kind of records
Command cdcList(std::string summary, std::string description, std::vector<Example> examples = {})
{
	return {"list", std::move(summary), std::move(description), withSocket(), runCdcList, std::move(examples)};
}

std::vector<Option> withRemoval(std::vector<Option> options)
{
	return withForce(std::move(options), "Remove it even if a host loses more than half of its targets, or if "
					     "another service or the configuration may add the record again");
}

Command cdcHost()
{
	Command host{"host", "show and remove hosts",
		     "Shows the hosts that are known, and removes the registration of a host."};
	host.verbs = {
		cdcList("show hosts and their connections",
			"Shows the hosts that are known, with their connections, zones and number of targets.",
			{{"the generation that each host has read", "nvmeofctl cdc host list"}}),
		{"remove", "remove the registration of a host",
		 "Removes the registration of a host, which may register again.",
		 withRemoval({required(positional("NAME", "NQN of the host"))}), runCdcRemoveName},
	};
	return host;
}

Command cdcTarget()
{
	Command target{"target", "show, set and remove targets",
		       "Shows, sets and removes the ports of subsystems. Records that are set override records of the "
		       "configuration, of registrations and of other services until they are removed."};
	target.verbs = {
		cdcList("show targets", "Shows the ports of subsystems, and the source of each record."),
		{"set",
		 "set ports of a subsystem",
		 "Sets the given ports of a subsystem; its other ports remain. A change that hides more than half of a "
		 "host's targets from it needs --force.",
		 withForce(joined(
			 {targetPort(),
			  {preset("optimized",
				  oneOf({"optimized", "non-optimized", "inaccessible", "persistent-loss", "change"},
					value("", "--state", "STATE",
					      "Best ANA state of the namespaces on these ports")))}})),
		 runCdcSetTarget,
		 {{"a subsystem with two ports",
		   "nvmeofctl cdc target set nqn.2024-01.com.example:flash1 -a 192.168.10.5 -a 192.168.20.5"},
		  {"a port that is out of service",
		   "nvmeofctl cdc target set nqn.2024-01.com.example:flash1 -a 192.168.10.5 --state inaccessible"}}},
		{"remove", "remove ports of a subsystem",
		 "Removes the given ports of a subsystem. A change that hides more than half of a host's targets from "
		 "it needs --force.",
		 withRemoval(targetPort()), runCdcRemoveTarget},
	};
	return target;
}

Option demandOption(const std::string &name, const std::string &help)
{
	return preset("that of the service's configuration",
		      oneOf({"off", "preferred", "required"}, value("", name, "DEMAND", help)));
}

Command cdcZone()
{
	Command zone{"zone", "show, set and remove zones",
		     "Shows, sets and removes zones. A zone lists hosts, and the subsystems that they see."};
	zone.verbs = {
		cdcList("show zones", "Shows the zones with their hosts and targets."),
		{"set",
		 "set a zone, as a whole",
		 "Replaces the hosts of a zone and the subsystems that they see. A change that hides more than half of "
		 "a host's targets from it needs --force. Hosts register themselves: put them into a zone.",
		 withForce({required(positional("NAME", "Name of the zone")),
			    repeated(value("", "--host", "NQN",
					   "Hosts in the zone: an NQN or a shell pattern. Repeat for more")),
			    repeated(value("", "--target", "NQN",
					   "Subsystems that these hosts see: an NQN or a shell pattern. Repeat for "
					   "more")),
			    demandOption("--demand-auth",
					 "Whether these hosts must authenticate themselves: preferred, if "
					 "the service has a key"),
			    demandOption("--demand-tls",
					 "Whether these hosts must use TLS: preferred, if the service has a "
					 "key")}),
		 runCdcSetZone,
		 {{"a rack of hosts, and the subsystems that they see",
		   "nvmeofctl cdc zone set rack1 --host nqn.2014-08.org.nvmexpress:uuid:1111* --target "
		   "nqn.2024-01.com.example:flash*"},
		  {"show which hosts would lose targets",
		   "nvmeofctl cdc zone set rack1 --host nqn.2014-08.org.nvmexpress:uuid:1111* --dry-run"}}},
		{"remove", "remove a zone",
		 "Removes a zone. Its hosts then see only the targets of their other zones. A change that hides more "
		 "than half of a host's targets from it needs --force.",
		 withRemoval({required(positional("NAME", "Name of the zone"))}), runCdcRemoveName},
	};
	return zone;
}

Command cdcRecord()
{
	Command record{"record", "set and remove records from a file",
		       "Sets or removes all records of a file. Records that are set override records of the "
		       "configuration, of registrations and of other services until they are removed."};
	record.verbs = {
		{"set",
		 "set the records of a file",
		 "Sets the targets and zones of a file. A change that hides more than half of a host's targets from it "
		 "needs --force.",
		 withForce({recordFile()}),
		 runCdcSetFile,
		 {{"records that were printed before", "nvmeofctl cdc record set --file zones.json"}}},
		{"remove", "remove the records of a file",
		 "Removes the targets and zones of a file. A change that hides more than half of a host's targets from "
		 "it needs --force.",
		 withRemoval({recordFile()}), runCdcRemoveFile},
	};
	return record;
}

Command cdcChanges()
{
	return {"changes",
		"show the last changes of records",
		"Shows the last 256 changes of records, each with its generation.",
		withSocket({flag("", "--follow", "Also print new changes, until interrupted")}),
		runCdcView,
		{{"changes as they happen, for a program",
		  "nvmeofctl cdc changes --follow --json | jq -c .change.put"}}};
}

// Former spellings, in which the verb preceded the noun
Command cdcBefore(std::string name, std::string instead, const std::vector<std::string> &nouns = {})
{
	Command before = oldSpelling(std::move(name), std::move(instead));
	for (const std::string &noun : nouns)
		before.verbs.push_back(oldSpelling(noun, "cdc " + noun + " " + before.name));
	return before;
}

// ---- the configuration

std::vector<Command> configVerbs()
{
	return {
		{"check",
		 "check the configuration for errors",
		 "Reports all errors in the configuration, with file and line.",
		 {configOption()},
		 runConfigCheck,
		 {{"before using a changed configuration", "nvmeofctl config check --config new.toml"}}},
		{"show",
		 "print the effective configuration",
		 "Prints the configuration merged from all its files.",
		 {configOption()},
		 runConfigShow},
		{"keys",
		 "print where the keys for a subsystem are",
		 "Prints where the keys are that the configuration sets for connections to a subsystem: a line each "
		 "with "
		 "setting and file, credential:NAME or keyring:DESCRIPTION. No key is read. For the scripts that make "
		 "an "
		 "initramfs.",
		 {required(repeated(value("-n", "--nqn", "NQN", "NQN of the subsystem; more than one may be given"))),
		  configOption()},
		 runConfigKeys},
	};
}

// ---- keys

Option outputOption()
{
	return required(value("", "--output", "FILE",
			      "File to create, with mode 0600; - for stdout, unless it is a terminal",
			      Completes::files));
}

std::vector<Option> generateOptions()
{
	return {
		preset("sha256", oneOf({"none", "sha256", "sha384", "sha512"},
				       value("", "--hash", "HASH",
					     "Hash function that transforms the key, or none; with --tls not sha512"))),
		preset("that of the hash function, or 32",
		       oneOf({"32", "48", "64"}, value("", "--length", "BYTES", "Length of the key"))),
		flag("", "--tls", "Generate a pre-shared key of TLS instead"),
		outputOption(),
	};
}

std::vector<Command> keyVerbs()
{
	return {
		{"generate",
		 "generate a key, and write it into a file",
		 "Generates a random key of DH-HMAC-CHAP or TLS, and writes it into a new file, which only its owner "
		 "can "
		 "access. Does not overwrite a file. The key itself is never displayed.",
		 generateOptions(),
		 runKeyGenerate,
		 {{"a key of this host", "nvmeofctl key generate --output /etc/nvmeof/keys/host.key"},
		  {"onto a target", "nvmeofctl key generate --output - | ssh target 'umask 77; cat > host.key'"}}},
		{"check",
		 "check the file of a key",
		 "Checks owner, mode, format and checksum of a file with a key of DH-HMAC-CHAP or TLS, and prints its "
		 "hash function and length. The key itself is never displayed.",
		 {required(positional("FILE", "File with the key, or credential:NAME in a unit of systemd",
				      Completes::files))},
		 runKeyCheck,
		 {{"before using a file from somewhere else", "nvmeofctl key check /etc/nvmeof/keys/host.key"}}},
		{"insert",
		 "insert a key into a keyring of the kernel",
		 "Reads a key of DH-HMAC-CHAP or TLS and inserts it into a keyring of the kernel. Prints its "
		 "description and serial number. A key of DH-HMAC-CHAP goes into the user keyring, as a key of type "
		 "logon, which no process can read; 'connect --dhchap-key keyring:DESCRIPTION' uses it. If there is a "
		 "key with that description, it is replaced, and controllers that use it authenticate themselves with "
		 "the new one from their next connect on. Every process with the same user ID can replace a key there, "
		 "also one in a container without a user namespace. 'connect --dhchap-key FILE' needs no 'insert', and "
		 "no other process can reach the key that it gives to the kernel. For a TLS key, the key of this host "
		 "for "
		 "the subsystem is derived and inserted into the keyring .nvme. 'connect --tls' uses it there; on a "
		 "machine that is a target, so does the kernel's target.",
		 {required(of(Type::keySource, positional("SOURCE",
							  "File with the key, which begins with / or ./, or "
							  "credential:NAME in a systemd unit",
							  Completes::files))),
		  of(Type::nqn,
		     value("-q", "--hostnqn", "NQN", "NQN of the host; from /etc/nvme/hostnqn if not given")),
		  preset("all subsystems",
			 of(Type::nqn, value("-n", "--subsysnqn", "NQN", "NQN of the subsystem; a TLS key needs one",
					     Completes::nqns))),
		  flag("", "--controller", "It is the key of the controller, for --dhchap-ctrl-key"),
		  preset("1", oneOf({"0", "1"}, value("", "--identity-version", "VERSION",
						      "Version of the TLS key's identity; some targets know only 0"))),
		  flag("", "--compat",
		       "Derive the TLS key as nvme-cli before 2.16 does, for a target that uses such a version")},
		 runKeyInsert,
		 {{"a key for all subsystems", "nvmeofctl key insert /etc/nvmeof/keys/host.key"},
		  {"a changed key, for controllers that use it from the keyring",
		   "nvmeofctl key insert /etc/nvmeof/keys/host.key -n nqn.2024-01.com.example:flash1"},
		  {"a TLS key at a target, for one host",
		   "nvmeofctl key insert ./tls.key -n nqn.2024-01.com.example:flash1 -q "
		   "nqn.2014-08.org.nvmexpress:uuid:11111111-2222-3333-4444-555555555555"}}},
		{"import",
		 "insert the TLS keys of a key file",
		 "Inserts TLS keys into the keyring .nvme. Each line of the file is the identity of a key, a blank and "
		 "the key, as 'key export' and 'nvme tls-key --export' write it. The keys are used as they are: "
		 "nothing is derived. If a line is wrong, no key is inserted.",
		 {required(positional("FILE", "The key file, with mode 0600; - for stdin", Completes::files))},
		 runKeyImport,
		 {{"the keys of nvme-cli", "nvmeofctl key import /etc/nvme/tls-keys"}}},
		{"export",
		 "write TLS keys into a key file",
		 "Writes TLS keys of the keyring .nvme into a new file, which only its owner can access, or into a "
		 "pipe. 'key import' and 'nvme tls-key --import' read it, for example after a reboot.",
		 {positional("IDENTITY", "Identity of the key, as 'key list' prints it; all keys if not given"),
		  outputOption()},
		 runKeyExport,
		 {{"all TLS keys", "nvmeofctl key export --output /etc/nvmeof/keys/tls-keys"}}},
		{"list",
		 "list keys in the kernel's keyrings",
		 "Lists the keys that 'key insert' has put into the user keyring, by description, and the TLS keys in "
		 "the keyring .nvme, by identity. Keys of files and credentials, keys in other keyrings, and keys in "
		 "the user keyring whose description does not begin with 'nvmeof:' are not listed: see keyctl(1).",
		 {},
		 runKeyList,
		 {{"descriptions, for a program", "nvmeofctl key list --json | jq -r '.keys[].description'"}}},
		{"revoke",
		 "revoke a key in the kernel's keyrings",
		 "Revokes a key that 'key list' lists, and removes it from its keyring. Controllers that use it stay "
		 "connected, but cannot connect again until 'nvmeofctl set NAME dhchap-key=SOURCE' or 'nvmeofctl set "
		 "NAME tls-key=SOURCE' gives them another key.",
		 {required(positional("DESCRIPTION", "Description or identity of the key, as 'key list' prints it"))},
		 runKeyRevoke,
		 {{"a key that others may have read",
		   "nvmeofctl key revoke nvmeof:dhchap:host:nqn.2014-08.org.nvmexpress:uuid:"
		   "11111111-2222-3333-4444-555555555555:nqn.2024-01.com.example:flash1"}}},
	};
}

} // namespace

Command keyCommand()
{
	Command key{"key", "generate and insert keys for authentication and TLS",
		    "Generates and checks the keys by which hosts and controllers authenticate themselves "
		    "(DH-HMAC-CHAP) and those of TLS, and shows and changes those in the kernel's keyrings."};
	key.verbs = keyVerbs();
	return key;
}

Command volumeCommand()
{
	Command volume{"volume", "attach and detach volumes, for orchestrators",
		       "Attaches a volume over all of its paths, and detaches it unless it is in use."};
	volume.verbs = {attachVerb(),
			detachVerb(),
			{"list",
			 "list attached volumes",
			 "Shows each attached volume with its disk and users.",
			 {},
			 runVolumeList}};
	return volume;
}

Command stripeCommand()
{
	Command stripe{"stripe", "create and manage disks over several targets",
		       "A stripe is a device-mapper disk over namespaces of several targets. It is saved in the "
		       "configuration, and created again at each boot."};
	stripe.verbs = stripeVerbs();
	return stripe;
}

Command gdsCommand()
{
	Command gds{"gds", "check direct storage access of GPUs",
		    "Checks whether storage can reach GPU memory directly, and what to do if not. Without a verb, runs "
		    "'gds check'.",
		    gdsCheckOptions(), runGdsCheck};
	gds.verbs = gdsVerbs();
	return gds;
}

Command configCommand()
{
	Command config{"config",
		       "check or show the configuration",
		       "Checks or shows the configuration. Without a verb, runs 'config check'.",
		       {configOption()},
		       runConfigCheck};
	config.verbs = configVerbs();
	return config;
}

Command daemonCommand()
{
	Command daemon{"daemon", "show and control nvmeofd",
		       "Shows discovery services and connections of nvmeofd, and controls it."};
	daemon.verbs = daemonVerbs();
	return daemon;
}

Command cdcCommand()
{
	Command cdc{"cdc", "show and control nvmeof-cdc",
		    "Shows the records and hosts of the centralized discovery controller on this machine, changes its "
		    "records, and controls it."};
	cdc.verbs = {
		cdcView("status", "show the state of the service", "Shows the state of the service, and its problems."),
		cdcHost(),
		cdcTarget(),
		cdcZone(),
		cdcRecord(),
		cdcView("instances", "show instances that share the records",
			"Shows the instances of nvmeof-cdc that share the records."),
		cdcChanges(),
		cdcView("backup", "print all records", "Prints all records as JSON, which 'nvmeof-cdc move' puts back.",
			{{"all records, which 'nvmeof-cdc move --from FILE.json' puts back", "nvmeofctl cdc backup"}}),
		cdcView("drain", "hand hosts over to other instances, and stop",
			"Makes the service hand its hosts over to other instances, and stop."),
		{"reload",
		 "read its configuration again",
		 "Makes the service read its configuration again. A configuration that hides more than half of a "
		 "host's targets from it needs --force.",
		 withForce(),
		 runCdcView,
		 {{"show which hosts would lose targets under the changed configuration",
		   "nvmeofctl cdc reload --dry-run"}}},
		cdcBefore("hosts", "cdc host list"),
		cdcBefore("targets", "cdc target list"),
		cdcBefore("zones", "cdc zone list"),
		cdcBefore("set", "cdc record set", {"target", "zone"}),
		cdcBefore("remove", "cdc record remove", {"target", "zone", "host"}),
	};
	return cdc;
}
