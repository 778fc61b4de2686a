// SPDX-License-Identifier: LGPL-2.1-or-later
// Output of the program for wrong command lines and requests for help
#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <sstream>

#include <nvmeof/settings.h>
#include <nvmeof/suggest.h>

#include "context.h"
#include "parse.h"
#include "setting_texts.h"

using namespace nvmeof;

namespace {

using Words = std::vector<std::string>;
using Options = std::vector<Option>;

Words split(const std::string &line)
{
	std::istringstream words(line);
	return {std::istream_iterator<std::string>(words), {}};
}

std::string said(const std::string &line)
{
	CommandLine read = parseCommandLine(split(line));
	CHECK_FALSE(read.command);
	return read.text;
}

bool helpHas(const std::string &text, const std::string &part)
{
	return text.find(part) != std::string::npos;
}

// The names in the list of commands: the second column of its lines, which are between two empty ones
Words listedCommands()
{
	std::size_t titleWidth = 0;
	for (const Command &command : commands())
		titleWidth = std::max(titleWidth, command.group.size());
	std::istringstream help(helpOfAll());
	Words names;
	std::string line;
	while (std::getline(help, line) && !line.empty())
		;
	while (std::getline(help, line) && !line.empty()) {
		REQUIRE(line.size() > titleWidth + 2);
		names.push_back(split(line.substr(titleWidth + 2)).front());
	}
	return names;
}

} // namespace

TEST_CASE("help is available for the program, each command and each verb", "[help]")
{
	for (const char *line : {"--help", "-h", "--json --help", "--help --json"})
		CHECK(said(line) == helpOfAll());
	CHECK(listedCommands() == namesOf(commands()));
	for (const char *line : {"", "--json"}) { // no command is a usage error
		CommandLine read = parseCommandLine(split(line));
		CHECK(read.exitCode == 2);
		CHECK((read.text == helpOfAll()) == std::string(line).empty());
	}
	for (const Command *each : everyCommand()) {
		const Command &command = *each;
		if (command.hidden)
			continue;
		CAPTURE(command.path);
		CHECK(said(command.path + " --help") == helpOf(command));
		CHECK(said("--help " + command.path) == helpOf(command));
		CHECK(said(command.path + " -h --bogus") == helpOf(command)); // other errors do not matter
		CHECK(said(command.path + " -o --help") == helpOf(command));
		for (const Command &verb : command.verbs)
			CHECK(helpHas(helpOf(command), "\n  " + verb.name + " ") != verb.hidden);
		std::ostringstream out, err;
		CommandLine line = parseCommandLine(split("help " + command.path));
		REQUIRE(line.command);
		Context context(*line.command, line.args, out, err);
		CHECK(line.command->run(context) == 0);
		CHECK(out.str() == helpOf(command));
		for (const Option &option : optionsOf(command))
			CHECK(helpHas(helpOf(command), "  " + option.heading() + "\n") != option.old);
		for (const std::string &one : Words{helpOf(command), helpOfAll()})
			CHECK(helpHas(one, "--help"));
	}
}

TEST_CASE("the list of commands is grouped, and fits one screen", "[help]")
{
	std::istringstream help(helpOfAll());
	std::size_t lines = 0;
	for (std::string line; std::getline(help, line); lines++) {
		CAPTURE(line);
		CHECK(line.size() <= 80);
	}
	CHECK(lines <= 40);
	std::map<std::string, Words> groups;
	std::string last;
	for (const Command &command : commands()) {
		CAPTURE(command.name);
		CHECK(command.group.empty() == command.hidden);
		if (command.hidden)
			continue;
		// A heading is printed once, before the first command of its group.
		const bool first = command.group != last;
		CHECK((groups.count(command.group) == 0) == first);
		CHECK(helpHas("\n" + helpOfAll(), "\n" + command.group + " "));
		groups[command.group].push_back(last = command.group);
	}
	CHECK(groups.size() >= 6);
}

TEST_CASE("lines of help fit a terminal, examples aside", "[help]")
{
	for (const Command *command : everyCommand()) {
		std::istringstream help(helpOf(*command));
		for (std::string line; std::getline(help, line) && line != "Examples:";)
			CHECK((line.size() <= 80 || line.starts_with("Usage: ")));
	}
}

TEST_CASE("the program accepts each example of the help", "[help]")
{
	for (const Command *command : everyCommand())
		for (const Example &example : command->examples) {
			Words words = split(example.line.substr(0, example.line.find(" |")));
			CAPTURE(example.line);
			REQUIRE(words.size() > 1);
			CHECK(words.front() == "nvmeofctl");
			words.erase(words.begin());
			CommandLine line = parseCommandLine(words);
			INFO(line.text);
			REQUIRE(line.command);
			CHECK(example.line.starts_with("nvmeofctl " + line.command->path));
		}
}

TEST_CASE("an option takes a value in all commands or in none", "[help]")
{
	std::map<std::string, bool> takes;
	for (const Command *command : everyCommand())
		for (const Option &option : optionsOf(*command))
			for (const std::string &name : {option.shortName, option.longName}) {
				CAPTURE(command->path, name);
				bool value = !option.flag() && !option.mayLackValue;
				if (!name.empty() && !option.positional())
					CHECK(takes.emplace(name, value).first->second == value);
			}
}

TEST_CASE("the version needs no command", "[help]")
{
	for (const char *line : {"--version", "-v", "--json --version", "-v list"}) {
		CommandLine read = parseCommandLine(split(line));
		CHECK(read.exitCode == 0);
		CHECK(read.text == std::string("nvmeofctl ") + libraryVersion() + "\n");
	}
	CHECK(helpHas(said("connect -v"), "--verbose is not supported here")); // -v is --verbose of nvme-cli
}

TEST_CASE("options may stand before or after the command, combined and with their values", "[parse]")
{
	CHECK(parseCommandLine(split("--json list")).args.has("json"));
	CHECK(parseCommandLine(split("-o json list")).args.text("output-format") == "json");
	CommandLine line = parseCommandLine(split("-a 10.0.0.1 -n nqn.a connect -gGk5 --tos=3 -a10.0.0.2"));
	INFO(line.text);
	REQUIRE(line.command == findCommand("connect"));
	CHECK(line.args.has("hdr-digest"));
	CHECK(line.args.has("data-digest"));
	CHECK(line.args.text("keep-alive-tmo") == "5");
	CHECK(line.args.number("tos") == 3u);
	CHECK(line.args.all("traddr") == Words{"10.0.0.1", "10.0.0.2"});
	CHECK(parseCommandLine(split("show -- nvmeof0")).args.text("NAME") == "nvmeof0");
	CHECK(parseCommandLine(split("-- show nvmeof0")).args.text("NAME") == "nvmeof0");
	CHECK(parseCommandLine(split("disconnect -n nqn.a -- -x --")).args.all("NAME") == Words{"-x", "--"});
}

TEST_CASE("an empty option value is valid and does not consume the next argument", "[parse]")
{
	CommandLine line = parseCommandLine(split("connect -n nqn.a --host-iface= -a 10.0.0.1 --rail="));
	INFO(line.text);
	REQUIRE(line.command);
	CHECK(line.args.text("host-iface") == "");
	CHECK(line.args.text("rail") == "");
	CHECK(line.args.all("traddr") == Words{"10.0.0.1"});
	CHECK(parseCommandLine(split("--host-iface= list-subsys")).command == nullptr);
	CHECK(helpHas(said("connect -n nqn.a -a 10.0.0.1 --hostnqn="), "--hostnqn: "));
	CHECK(parseCommandLine(split("disconnect -- --nqn=")).args.all("NAME") == Words{"--nqn="});
}

TEST_CASE("verbs have options of their own, which may also stand before them", "[parse]")
{
	for (const char *text :
	     {"stripe create scratch a b --mkfs xfs --json", "stripe --mkfs=xfs create --json scratch a b",
	      "--json --mkfs xfs stripe create scratch a b"}) {
		CAPTURE(text);
		CommandLine line = parseCommandLine(split(text));
		INFO(line.text);
		REQUIRE(line.command == findCommand("stripe create"));
		CHECK(line.args.text("NAME") == "scratch");
		CHECK(line.args.all("MEMBER") == Words{"a", "b"});
		CHECK(line.args.text("mkfs") == "xfs");
		CHECK(line.args.has("json"));
	}
	CommandLine target = parseCommandLine(split("cdc --socket /x target set -n nqn.a -a 10.0.0.1"));
	REQUIRE(target.command == findCommand("cdc target set"));
	CHECK(target.args.text("NQN") == "nqn.a");
	// commands that have a default without a verb
	CHECK(parseCommandLine(split("gds --all")).command->run == runGdsCheck);
	CHECK(parseCommandLine(split("config --config x")).command->run == runConfigCheck);
}

TEST_CASE("old spellings of commands are accepted with a notice, and not shown", "[parse]")
{
	struct Row {
		const char *line, *path, *notice;
	};
	Row row = GENERATE(values<Row>({
		{"cdc hosts", "cdc host list", "'cdc hosts' is an old spelling of 'cdc host list'"},
		{"cdc targets --json", "cdc target list", "'cdc targets' is an old spelling of 'cdc target list'"},
		{"--json cdc zones", "cdc zone list", "'cdc zones' is an old spelling of 'cdc zone list'"},
		{"cdc set --file x", "cdc record set", "'cdc set' is an old spelling of 'cdc record set'"},
		{"cdc set target nqn.a -a 10.0.0.1", "cdc target set",
		 "'cdc set target' is an old spelling of 'cdc target set'"},
		{"cdc set zone z --host nqn.*", "cdc zone set", "'cdc set zone' is an old spelling of 'cdc zone set'"},
		{"cdc remove --file x", "cdc record remove", "'cdc remove' is an old spelling of 'cdc record remove'"},
		{"cdc remove target nqn.a -a 10.0.0.1 --force", "cdc target remove",
		 "'cdc remove target' is an old spelling of 'cdc target remove'"},
		{"cdc remove zone z", "cdc zone remove", "'cdc remove zone' is an old spelling of 'cdc zone remove'"},
		{"cdc remove host nqn.a", "cdc host remove",
		 "'cdc remove host' is an old spelling of 'cdc host remove'"},
	}));
	CAPTURE(row.line);
	CommandLine line = parseCommandLine(split(row.line));
	INFO(line.text);
	REQUIRE(line.command);
	CHECK(line.command == findCommand(row.path));
	REQUIRE(line.notices == Words{row.notice});
	const std::string former = line.notices.front().substr(1); // cdc set target' ...
	const Command *old = findCommand(former.substr(0, former.find('\'')));
	REQUIRE(old);
	CHECK(old->hidden);
	CHECK(helpOf(*old) == helpOf(*line.command));
	CHECK(said(old->path + " --help") == helpOf(*line.command));
	CHECK(helpHas(helpOf(*line.command), std::string("Usage: nvmeofctl ") + row.path));
	CHECK(parseCommandLine(split(std::string(row.path) + " --bogus")).notices.empty());
}

TEST_CASE("each old spelling stands for a command that runs", "[parse]")
{
	for (const Command *command : everyCommand()) {
		CAPTURE(command->path);
		CHECK(&currentOf(*command) == (command->instead.empty() ? command : findCommand(command->instead)));
		if (command->instead.empty())
			continue;
		CHECK(command->hidden);
		REQUIRE(findCommand(command->instead));
		CHECK(findCommand(command->instead)->run);
		CHECK_FALSE(findCommand(command->instead)->hidden);
	}
}

TEST_CASE("old spellings of options are accepted with a notice", "[parse]")
{
	CommandLine line = parseCommandLine(split("gds check --dev nvmeof0n1 -d nvmeof1n1"));
	INFO(line.text);
	REQUIRE(line.command);
	auto disks = line.args.all("device");
	std::ranges::sort(disks);
	CHECK(disks == Words{"nvmeof0n1", "nvmeof1n1"});
	CHECK(line.notices == Words{"--dev is an old spelling of --device"});
	CHECK(parseCommandLine(split("gds check -d nvmeof0n1")).notices.empty());
	for (const char *text : {"top -d 0.5 nvmeof0n1", "top nvmeof0n1 -d0.5", "top -d nvmeof0n1 -d 0.5"}) {
		CAPTURE(text);
		CommandLine top = parseCommandLine(split(text));
		INFO(top.text);
		REQUIRE(top.command);
		CHECK(top.args.seconds("delay")->count() == 500);
		CHECK(top.args.text("NAME") == "nvmeof0n1");
		CHECK(top.notices == Words{"'-d SECONDS' is an old spelling of '--delay SECONDS'; -d names a device"});
	}
	CommandLine now = parseCommandLine(split("top -d nvmeof0 --delay 2"));
	REQUIRE(now.command);
	CHECK(now.args.text("NAME") == "nvmeof0");
	CHECK(now.notices.empty());
	CHECK(helpHas(said("top -d 1 --delay 2"), "--delay is given twice"));
}

TEST_CASE("-d means a device in all commands", "[parse]")
{
	for (const Command *command : everyCommand())
		for (const Option &option : optionsOf(*command)) {
			CAPTURE(command->path);
			if (option.shortName == "-d")
				CHECK(option.longName == "--device");
		}
}

TEST_CASE("a verb refuses an option of another verb and names that verb", "[parse]")
{
	CHECK(said("stripe create scratch a b --forget") == "nvmeofctl: stripe create: --forget is an option of "
							    "'stripe stop', not of 'stripe create' (see 'nvmeofctl "
							    "stripe create --help')\n");
	CHECK(helpHas(said("volume list -a 10.0.0.1"), "-a is an option of 'volume attach', not of 'volume list'"));
	CHECK(helpHas(said("gds check --write"), "--write is an option of 'gds config', not of"));
	CHECK(helpHas(said("daemon status --follow"), "daemon status: there is no option --follow"));
	for (const Command *one : everyCommand())
		for (const Command *other : everyCommand())
			for (const Option &option : other->options) {
				const Options &own = optionsOf(*one);
				bool known = std::ranges::count(own, option.longName, &Option::longName) != 0;
				if (one == other || !one->instead.empty() || one->verbs.size() ||
				    !sameFamily(*one, *other) || known || option.positional())
					continue;
				CAPTURE(one->path, option.longName);
				CHECK(helpHas(said(one->path + " " + option.longName), "'" + other->path + "'"));
			}
}

TEST_CASE("a name may be given with -d as in nvme-cli", "[parse]")
{
	for (const char *line :
	     {"reset nvmeof0c1", "reset -d nvmeof0c1", "reset --device=nvmeof0c1", "show -d nvmeof0c1",
	      "disconnect -dnvmeof0c1", "discover -d nvmeof0c1", "set -d nvmeof0c1 stall-tmo=1", "top -d nvmeof0c1",
	      "events -d nvmeof0c1", "stats -d nvmeof0c1"}) {
		CAPTURE(line);
		CommandLine read = parseCommandLine(split(line));
		INFO(read.text);
		REQUIRE(read.command);
		CHECK(read.args.text("NAME") == "nvmeof0c1");
	}
	CHECK(parseCommandLine(split("disconnect nvmeof0c1 -d nvmeof0c2")).args.all("NAME").size() == 2);
	CHECK(parseCommandLine(split("set stall-tmo=1 -d nvmeof0c1")).args.text("NAME=VALUE") == "stall-tmo=1");
	CHECK(helpHas(said("reset nvmeof0c1 -d nvmeof0c2"), "'nvmeof0c1' is not expected here"));
}

TEST_CASE("wrong command lines give an error with the next step", "[parse]")
{
	struct Row {
		const char *line, *words;
	};
	Row row = GENERATE(values<Row>({
		{"--json", "--json is given, but no command"},
		{"conect", "'conect' is not a command; did you mean 'connect'?"},
		{"lst-subsys", "did you mean 'list-subsys'?"},
		{"frobnicate", "'frobnicate' is not a command (see"},
		{"smart-log", "use nvme-cli for it"},
		{"connect --nqm x", "there is no option --nqm; did you mean --nqn?"},
		{"connect --trad x", "there is no option --trad; did you mean --traddr?"},
		{"connect --fast_io_fail_tmo 3", "did you mean --fast-io-fail-tmo?"},
		{"connect --bogus", "there is no option --bogus (see"},
		{"list -x", "there is no option -x"},
		{"connect", "--nqn NQN and --traddr ADDR[:PORT] are missing"},
		{"connect -n nqn.a", "--traddr ADDR[:PORT] is missing"},
		{"connect -n", "-n needs a value: -n NQN"},
		{"connect -n -a 1.2.3.4", "--nqn: needs a value, and -a is an option"},
		{"connect -gn", "-n needs a value: -n NQN"},
		{"connect -n nqn.a -n nqn.b", "--nqn is given twice"},
		{"connect -Q 5", "--queue-size: '5' is not a number from 16 to 1024"},
		{"connect -s 0", "--trsvcid: '0' is not a number from 1 to 65535"},
		{"connect -c 99999", "--reconnect-delay: '99999' is out of range: 0.001 to 86400 s"},
		{"connect --wait udv", "'udv' is none of none, ctrl, ns, udev; did you mean 'udev'?"},
		{"list --json=yes", "--json: takes no value"},
		{"list --json=true", "--json: takes no value"},
		{"list --json={}", "--json: takes no value"},
		{"list --json=", "--json: takes no value"},
		{"connect --keep-trying=true", "--keep-trying: "},
		{"stripe", "stripe: one of plan, create, show, start, stop, grow is missing"},
		{"stripe --json", "stripe: one of plan, create,"},
		{"stripe grwo",
		 "stripe: 'grwo' is none of plan, create, show, start, stop, grow; did you mean 'grow'?"},
		{"stripe -S hunter2 create", "stripe: --dhchap-secret is not supported here"},
		{"stripe create 'x", "NAME: ''x' is not a name of 1 to 64 letters"},
		{"cdc set", "cdc record set: --file FILE is missing"},
		{"cdc zone", "cdc zone: one of list, set, remove is missing"},
		{"cdc zone lsit", "cdc zone: 'lsit' is none of list, set, remove; did you mean 'list'?"},
		{"connect --nqn= -a 1.2.3.4", "--nqn: NQN is empty"},
		{"cdc set host x", "cdc set: 'host' is none of target, zone"},
		{"cdc instance", "cdc: 'instance' is none of status, host, target, zone, record, instances, changes"},
		{"cdc status zone", "cdc status: 'zone' is not expected here"},
		{"list -o xml", "'xml' is none of normal, json, text"},
		{"list all", "'all' is not expected here"},
		{"show", "NAME is missing"},
		{"top -d 0.05", "--delay: '0.05' is out of range: 0.1 s or more"},
		{"monitor --count -1", "--count: '-1' is not a number from 0 to 4294967295"},
	}));
	CAPTURE(row.line);
	std::string text = said(row.line);
	INFO(text);
	CHECK(helpHas(text, row.words));
}

TEST_CASE("unsupported options of nvme-cli are reported, without their secrets", "[parse]")
{
	for (const char *line : {"connect --tls-key-identity hunter2", "connect -S hunter2", "connect -Shunter2",
				 "connect --dhchap-secret=hunter2", "connect --dhchap-ctrl-secret hunter2",
				 "discover -C hunter2", "--keyring hunter2 connect"}) {
		CAPTURE(line);
		std::string text = said(line);
		INFO(text);
		CHECK(helpHas(text, "is not supported"));
		CHECK_FALSE(helpHas(text, "hunter2"));
	}
	// A misspelt name of the option does not reveal the value.
	CHECK_FALSE(helpHas(said("connect --dhchap-secrt=hunter2"), "hunter2"));
	Option secret{.shortName = "-S", .longName = "--secret", .value = "KEY", .help = "A key"};
	secret.secret = true;
	secret.choices = {"DHHC-1"};
	REQUIRE(refusalOf(secret, "hunter2"));
	CHECK_FALSE(helpHas(*refusalOf(secret, "hunter2"), "hunter2"));
	CHECK_FALSE(refusalOf(secret, "DHHC-1"));
}

TEST_CASE("a suggestion is made only for a similar word", "[help]")
{
	const Words words{"list", "list-subsys", "show", "reset", "rescan", "set"};
	CHECK(closest("lsit", words) == "list");
	CHECK(closest("shwo", words) == "show");
	CHECK(closest("rescn", words) == "rescan");
	CHECK(closest("list-s", words) == "list-subsys");
	CHECK(closest("list_subsys", words) == "list-subsys");
	CHECK_FALSE(closest("rese-", Words{"reset", "resel"})); // ambiguous
	CHECK_FALSE(closest("connect", words));
	CHECK_FALSE(closest("", words));
	CHECK_FALSE(closest(std::string(1000, 'l'), words));
}

TEST_CASE("the help lists exactly the existing settings", "[help]")
{
	auto names = [](auto texts) {
		std::string list;
		for (const SettingText &one : texts)
			list += (list.empty() ? "" : ", ") + std::string(one.name);
		return list;
	};
	Words none{"x=1"};
	CHECK(helpHas(parseSubsystemSettings(none).error().message, ": " + names(subsystemSettingTexts())));
	CHECK(helpHas(parseControllerSettings(none).error().message, ": " + names(controllerSettingTexts())));
	Words defaults;
	for (const SettingText &one : subsystemSettingTexts())
		defaults.push_back(std::string(one.name) + "=" + one.preset);
	CHECK(*parseSubsystemSettings(defaults) == defaultSettings());
	for (const SettingText &one : controllerSettingTexts()) {
		const bool none = std::string(one.preset) == "none"; // a key cannot be removed
		CHECK(parseControllerSettings(Words{std::string(one.name) + "=" + one.preset}).ok() != none);
		CHECK(helpHas(helpOf(*findCommand("set")), std::string("\n  ") + one.name + "\n"));
	}
}
