// SPDX-License-Identifier: LGPL-2.1-or-later
#include <catch2/catch.hpp>
#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>

#include "connect_plan.h"
#include "context.h"
#include "tests/unit/scratch.h"
#include "when.h"
#include "generate.h"
#include "parse.h"
#include "setting_texts.h"

using namespace nvmeof;

namespace {

CommandLine parse(std::vector<std::string> words)
{
	return parseCommandLine(words);
}

Result<ConnectPlan> plan(std::vector<std::string> more)
{
	std::vector<std::string> words{"connect", "-n", "nqn.a", "-a", "10.0.0.1"};
	words.insert(words.end(), more.begin(), more.end());
	CommandLine line = parseCommandLine(words);
	INFO(line.text);
	REQUIRE(line.command);
	return planConnect(line.args);
}

// Whether @text has @name without a letter or dash next to it
bool hasWord(const std::string &text, const std::string &name)
{
	for (std::size_t at = text.find(name); at != text.npos; at = text.find(name, at + 1)) {
		char after = text[at + name.size()];
		if (!std::isalnum(static_cast<unsigned char>(after)) && after != '-')
			return true;
	}
	return false;
}

std::string withoutEscapes(std::string text)
{
	for (std::size_t at = text.find("\\-"); at != text.npos; at = text.find("\\-"))
		text.erase(at, 1);
	return text;
}

// The manual page of the command that @path begins with
std::string pageFor(const std::string &path)
{
	return withoutEscapes(manPage(*findCommand(path.substr(0, path.find(' ')))));
}

} // namespace

TEST_CASE("times are parsed", "[duration]")
{
	CHECK(parseSeconds("2", Never::refused)->count() == 2000);
	CHECK(parseSeconds("0.25", Never::refused)->count() == 250);
	CHECK(parseSeconds("0", Never::refused)->count() == 0);
	CHECK(parseSeconds("-1", Never::allowed)->count() == -1);
	CHECK(parseSeconds("2147483.647", Never::refused)->count() == INT32_MAX);
	for (const char *text : {"", "-1", "-0.5", "x", "1x", "1e3", "inf", "nan", "2147483.648", "0.0001", " 1", "-0"})
		CHECK_FALSE(parseSeconds(text, Never::refused));
	CHECK_FALSE(parseSeconds("-2", Never::allowed));
	CHECK(formatSeconds(std::chrono::milliseconds(1500)) == "1.5 s");
}

TEST_CASE("errors have their exit codes", "[exit]")
{
	CHECK(static_cast<int>(exitCodeOf(ErrorCode::failed)) == 1);
	CHECK(static_cast<int>(exitCodeOf(ErrorCode::invalid)) == 2);
	CHECK(static_cast<int>(exitCodeOf(errorFromErrno(ENODEV).code)) == 3);
	CHECK(static_cast<int>(exitCodeOf(errorFromErrno(EALREADY).code)) == 4);
	CHECK(static_cast<int>(exitCodeOf(ErrorCode::refused)) == 5);
	CHECK(static_cast<int>(exitCodeOf(errorFromErrno(ETIMEDOUT).code)) == 6);
	CHECK(static_cast<int>(exitCodeOf(errorFromErrno(EPERM).code)) == 7);
	CHECK(static_cast<int>(exitCodeOf(ErrorCode::noModule)) == 8);
	CHECK(static_cast<int>(exitCodeOf(errorFromErrno(EIO).code)) == 1);
}

TEST_CASE("every command and option is in completions and manual pages", "[command]")
{
	std::string bash = bashCompletion(), zsh = zshCompletion(), fish = fishCompletion(),
		    overview = withoutEscapes(manPage());
	std::set<std::string> seen;
	for (int code = 0; code <= static_cast<int>(ExitCode::inUse); code++)
		CHECK(hasWord(overview, describe(static_cast<ExitCode>(code))));
	for (const Command *each : everyCommand()) {
		const Command &command = *each;
		CAPTURE(command.path);
		CHECK(seen.insert(command.path).second);
		CHECK((command.run || !command.verbs.empty() || !command.instead.empty()));
		CHECK_FALSE(command.summary.empty());
		CHECK((bash.find("\t'" + command.path + "')\n") != bash.npos) != command.hidden);
		if (!command.hidden) {
			CHECK(zsh.find("'" + command.name + ":") != zsh.npos);
			CHECK(hasWord(fish, "-a " + command.name));
		}
		CHECK((zsh.find("\t('" + command.path + "')\n") != zsh.npos) != command.hidden);
		CHECK((fish.find("-n '__nvmeofctl_at " + command.path + "'") != fish.npos ||
		       fish.find("-n '__nvmeofctl_at " + command.path + ";") != fish.npos) != command.hidden);
		const bool verb = command.path != command.name;
		const std::string page = pageFor(command.path), section = "\n.SS " + command.path + "\n";
		if (verb)
			CHECK((page.find(section) != page.npos) != command.hidden);
		else
			CHECK((overview.find("\n.BR nvmeofctl-" + command.name + " (8)\n" + command.summary + "\n") !=
			       overview.npos) != command.hidden);
		for (const Option &option : optionsOf(command)) {
			CAPTURE(option.longName);
			CHECK_FALSE(option.help.empty());
			if (command.hidden || option.positional() || option.old)
				continue;
			CHECK(hasWord(bash, option.longName));
			CHECK(hasWord(zsh, option.longName));
			CHECK(hasWord(page, option.longName));
			CHECK(hasWord(fish, "-l " + option.longName.substr(2)));
		}
	}
}

TEST_CASE("each command has a manual page that names it, its verbs and its examples", "[command]")
{
	for (const Command &command : commands()) {
		if (command.hidden)
			continue;
		CAPTURE(command.name);
		const std::string raw = manPage(command), page = withoutEscapes(raw);
		std::string upper = command.name;
		std::ranges::transform(upper, upper.begin(), [](unsigned char c) { return std::toupper(c); });
		CHECK(page.find("\n.TH NVMEOFCTL-" + upper + " 8 ") != page.npos);
		CHECK(raw.find(" \\- ") != raw.npos); // whatis and apropos read the line of NAME
		CHECK(page.find("\n.SH NAME\nnvmeofctl-" + command.name + " - " + command.summary + "\n") != page.npos);
		for (const char *title : {"SYNOPSIS", "DESCRIPTION", "COMMON OPTIONS", "EXIT STATUS", "SEE ALSO"})
			CHECK(page.find("\n.SH " + std::string(title) + "\n") != page.npos);
		CHECK((page.find("\n.SH VERBS\n") != page.npos) == !command.verbs.empty());
		CHECK((page.find("\n.SH OPTIONS\n") != page.npos) == !command.options.empty());
		CHECK((page.find("\n.SH EXAMPLES\n") != page.npos) == !command.examples.empty());
		CHECK(page.find("\n.BR nvmeofctl (8)") != page.npos);
		CHECK(page.ends_with('\n'));
		// Two empty lines, or an empty macro, would leave gaps on the page.
		CHECK(page.find("\n\n") == page.npos);
	}
	CHECK(pageFor("set").find("iopolicy") != std::string::npos);
	CHECK(pageFor("cdc").find("spelling") == std::string::npos);
}

TEST_CASE("generate prints the overview, the page of a command, and the names of all commands", "[command]")
{
	struct Run {
		int code;
		std::string out;
	};
	auto generate = [](std::vector<std::string> words) {
		words.insert(words.begin(), "generate");
		CommandLine line = parseCommandLine(words);
		INFO(line.text);
		REQUIRE(line.command);
		std::ostringstream out, err;
		Context context(*line.command, line.args, out, err);
		const int code = line.command->run(context);
		return Run{code, out.str()};
	};
	CHECK(generate({"man"}).out == manPage());
	CHECK(generate({"man", "connect"}).out == manPage(*findCommand("connect")));
	CHECK(generate({"bash"}).out == bashCompletion());
	std::istringstream names(generate({"commands"}).out);
	std::vector<std::string> listed{std::istream_iterator<std::string>(names), {}};
	CHECK(listed == namesOf(commands()));
	for (const std::vector<std::string> &bad :
	     {std::vector<std::string>{"man", "frobnicate"}, {"man", "generate"}, {"bash", "connect"}}) {
		Run run = generate(bad);
		CHECK(run.code == 2);
		CHECK(run.out.empty());
	}
}

// The words that bash offers for a line whose last word is incomplete. Object names are those that the program @names
// prints.
class Completion {
public:
	explicit Completion(const std::string &names)
	{
		dir_.write("completion", bashCompletion());
		dir_.write("script", "cd \"${0%/*}\" && . ./completion\nnvmeofctl() { " + names + R"(; }
COMP_WORDS=(nvmeofctl "$@") COMP_CWORD=$#
_nvmeofctl
printf '%s\n' "${COMPREPLY[@]}"
)");
	}

	std::string offered(const std::vector<std::string> &typed) const
	{
		std::string text, command = "bash " + (dir_.path() / "script").string();
		for (const std::string &word : typed)
			command += " '" + word + "'";
		FILE *pipe = popen(command.c_str(), "r");
		REQUIRE(pipe);
		std::array<char, 4096> piece;
		for (std::size_t n; (n = fread(piece.data(), 1, piece.size(), pipe)) > 0;)
			text.append(piece.data(), n);
		pclose(pipe);
		return text;
	}
	bool has(const std::string &file) const { return std::filesystem::exists(dir_.path() / file); }

private:
	Scratch dir_;
};

TEST_CASE("bash offers names verbatim and does not execute their content", "[command]")
{
	Completion bash(R"(printf '%s\n' 'nqn.a:$(touch${IFS}ran)' 'nqn.a:`touch${IFS}ran`' nqn.b:plain)");
	CHECK(bash.offered({"disconnect", "-n", "nqn.b"}) == "nqn.b:plain\n");
	CHECK(bash.offered({"disconnect", "-n", "nqn.a:$"}) == "nqn.a:\\$\\(touch\\$\\{IFS\\}ran\\)\n");
	CHECK(bash.offered({"disconnect", "-n", "nqn.c"}) == "\n");
	CHECK_FALSE(bash.has("ran"));
}

TEST_CASE("bash offers the verbs of a command, and the options of each", "[command]")
{
	Completion bash("echo nvmeof0n1");
	CHECK(bash.offered({"stri"}) == "stripe\n");
	CHECK(bash.offered({"stripe", "s"}) == "show\nstart\nstop\n");
	CHECK(bash.offered({"stripe", "stop", "--for"}) == "--forget\n");
	CHECK(bash.offered({"stripe", "create", "--for"}) == "--force\n");
	CHECK(bash.offered({"stripe", "create", "--mkfs", ""}) == "xfs\next4\n");
	CHECK(bash.offered({"stripe", "create", "scratch", "nv"}) == "nvmeof0n1\n");
	CHECK(bash.offered({"cdc", "zone", ""}) == "list\nset\nremove\n");
	CHECK(bash.offered({"cdc", "zone", "set", "rack1", "--ta"}) == "--target\n");
	CHECK(bash.offered({"cdc", "zone", "list", "--ta"}) == "\n");
	CHECK(bash.offered({"cdc", "z"}) == "zone\n"); // not the old spelling "zones"
	CHECK(bash.offered({"gds", "check", "--de"}) == "--device\n");
	CHECK(bash.offered({"gds", "check", "-d", "nv"}) == "nvmeof0n1\n");
	CHECK(bash.offered({"top", "-d", "nv"}) == "nvmeof0n1\n");
	CHECK(bash.offered({"gds", "--wr"}) == "\n");
	CHECK(bash.offered({"gds", "config", "--wr"}) == "--write\n");
	CHECK(bash.offered({"show", "nv"}) == "nvmeof0n1\n");
}

TEST_CASE("no two options of a command have the same name", "[command]")
{
	for (const Command *command : everyCommand()) {
		std::set<std::string> names;
		for (const Option &option : optionsOf(*command)) {
			CAPTURE(command->path, option.longName);
			CHECK(names.insert(option.longName).second);
			CHECK((option.shortName.empty() || names.insert(option.shortName).second));
		}
	}
}

TEST_CASE("the documented verbs exist", "[command]")
{
	for (const char *name : {"connect", "disconnect", "list", "list-subsys", "show", "reset", "rescan", "set",
				 "doctor", "monitor", "gen-hostnqn", "show-hostnqn", "version"}) {
		CAPTURE(name);
		REQUIRE(findCommand(name));
		CHECK_FALSE(findCommand(name)->hidden);
	}
}

TEST_CASE("a connect line with all options is parsed", "[parse]")
{
	CommandLine line = parse({"connect",
				  "-t",
				  "tcp",
				  "--nqn=nqn.a",
				  "-a",
				  "10.0.0.1",
				  "-a",
				  "[::1]:8009",
				  "-s",
				  "4421",
				  "--nr-io-queues",
				  "4",
				  "--ctrl-loss-tmo",
				  "-1",
				  "--keep-alive-tmo=0.5",
				  "-F",
				  "-1",
				  "--hdr-digest",
				  "--tos",
				  "16",
				  "--wait=udev",
				  "--timeout",
				  "5",
				  "--idempotent",
				  "--hostid",
				  "12345678-9abc-4def-8123-456789abcdef",
				  "--json"});
	INFO(line.text);
	REQUIRE(line.command);
	CHECK(line.command->name == "connect");
	CHECK(line.args.has("json"));
	Result<ConnectPlan> plan = planConnect(line.args);
	REQUIRE(plan);
	REQUIRE(plan->options.size() == 2);
	CHECK(plan->options[0].address == Address{"10.0.0.1", "4421"});
	CHECK(plan->options[1].address == Address{"::1", "8009"});
	const ConnectOptions &o = plan->options[1];
	CHECK(o.ioQueues == 4u);
	CHECK(o.ctrlLoss->count() == -1);
	CHECK(o.fastIoFail->count() == -1);
	CHECK(o.keepAlive->count() == 500);
	CHECK(o.hdrDigest);
	CHECK_FALSE(o.dataDigest);
	CHECK(o.tos == 16);
	CHECK(o.idempotent);
	CHECK(o.hostid->toString() == "12345678-9abc-4def-8123-456789abcdef");
	CHECK_FALSE(o.reconnectDelay);
	CHECK(plan->wait == WaitFor::udev);
	CHECK(plan->timeout.count() == 5000);
}

TEST_CASE("connect has its defaults", "[parse]")
{
	Result<ConnectPlan> p = plan({});
	REQUIRE(p);
	CHECK(p->wait == WaitFor::namespaces);
	CHECK(p->timeout.count() == 30000);
	CHECK(p->options[0].transport == "tcp");
	CHECK(p->options[0].address.trsvcid == "4420");
}

TEST_CASE("an error about a connect option names the option", "[parse]")
{
	struct Row {
		const char *option, *value;
	};
	Row row = GENERATE(values<Row>({{"--reconnect-delay", "-1"},
					{"--reconnect-delay", "86401"},
					{"--keep-alive-tmo", "x"},
					{"--nr-io-queues", "many"},
					{"--nr-io-queues", "0"},
					{"--nr-poll-queues", "1025"},
					{"--tos", "256"},
					{"--queue-size", "5000"},
					{"--queue-size", "15"},
					{"--connect-tmo", "0.05"},
					{"--trsvcid", "65536"},
					{"--hostid", "1"},
					{"--hostnqn", "a host"},
					{"--host-traddr", "eth0"}}));
	CAPTURE(row.option);
	CommandLine line = parse({"connect", "-n", "nqn.a", "-a", "10.0.0.1", row.option, row.value});
	CHECK_FALSE(line.command);
	CHECK(line.exitCode == 2);
	CHECK(line.text.starts_with(std::string("nvmeofctl: connect: ") + row.option + ": "));
}

TEST_CASE("an error about an address names the address", "[parse]")
{
	Result<ConnectPlan> p = plan({"-a", "1.2.3"});
	REQUIRE_FALSE(p);
	CHECK(p.error().code == ErrorCode::invalid);
	CHECK(p.error().message.starts_with("--traddr: "));
}

TEST_CASE("a host name stands for all its addresses, which connect prints", "[parse]")
{
	auto resolve = [](std::string_view text, std::string_view port) -> Result<std::vector<Address>> {
		if (text == "target.example")
			return std::vector<Address>{{"10.0.0.1", std::string(port)}, {"fd00::1", std::string(port)}};
		if (Result<Address> numeric = parseAddress(text, port))
			return std::vector<Address>{*numeric};
		Error error;
		error.code = ErrorCode::nameResolution;
		error.message = std::string(text) + ": Name or service not known";
		return error;
	};
	CommandLine line = parse({"connect", "-n", "nqn.a", "-a", "target.example", "-a", "10.0.0.2", "-s", "4421"});
	REQUIRE(line.command);
	Result<ConnectPlan> p = planConnect(line.args, {}, resolve);
	REQUIRE(p);
	REQUIRE(p->options.size() == 3);
	CHECK(p->options[1].address == Address{"fd00::1", "4421"});
	CHECK(p->typed == std::vector<std::string>{"target.example", "target.example", ""});
	std::ostringstream out, err;
	Context context(*line.command, line.args, out, err);
	noteNames(context, *p);
	CHECK(err.str() == "nvmeofctl: connect target.example: resolves to 10.0.0.1:4421, [fd00::1]:4421\n");
	line = parse({"connect", "-n", "nqn.a", "-a", "nowhere.example"});
	p = planConnect(line.args, {}, resolve);
	REQUIRE_FALSE(p);
	CHECK(p.error().code == ErrorCode::nameResolution);
	CHECK(nameStep(p.error()) == "check the name with 'getent hosts NAME'");
}

TEST_CASE("a first connect is repeated for the requested time", "[parse]")
{
	using namespace std::chrono_literals;
	CHECK_FALSE(plan({})->options[0].firstConnect);
	CHECK(plan({"--keep-trying"})->options[0].firstConnect == 600s);
	CHECK(plan({"--keep-trying", "-l", "20"})->options[0].firstConnect == 20s);
	CHECK(plan({"--keep-trying=5"})->options[0].firstConnect == 5s);
	CHECK(plan({"--keep-trying=-1"})->options[0].firstConnect == -1ms);
	CHECK_FALSE(parse({"connect", "-n", "nqn.a", "-a", "10.0.0.1", "--keep-trying", "5"}).command);
}

TEST_CASE("wrong usage exits with 2 and says where to look", "[parse]")
{
	std::vector<std::string> words = GENERATE(values<std::vector<std::string>>({
		{},
		{"frobnicate"},
		{"connect"},
		{"connect", "-n", "nqn.a"},
		{"connect", "--bogus"},
		{"show"},
		{"show", "a", "b"},
		{"connect", "-n", "nqn.a", "-a", "1.2.3.4", "--wait=later"},
		{"list", "-o", "xml"},
		{"reset"},
		{"set", "nvmeof0"},
		{"top", "-b3"},
		{"connect", "-n", "nqn.a", "-n", "nqn.b", "-a", "1.2.3.4"},
	}));
	CAPTURE(words);
	CommandLine line = parse(words);
	CHECK_FALSE(line.command);
	CHECK(line.exitCode == 2);
	CHECK(line.text.find("--help'") != std::string::npos);
}

TEST_CASE("a request for help is not an error", "[parse]")
{
	CHECK(parse({"--help"}).exitCode == 0);
	CommandLine line = parse({"connect", "--help"});
	CHECK(line.exitCode == 0);
	CHECK(line.text.find("--reconnect-delay") != std::string::npos);
}

TEST_CASE("settings are parsed", "[settings]")
{
	Result<Settings> s = parseSettings(ObjectKind::controller, {"ctrl-loss-tmo=-1"});
	REQUIRE(s);
	CHECK(std::get<ControllerSettings>(*s).ctrlLoss->count() == -1);
	s = parseSettings(ObjectKind::subsystem, {"iopolicy=numa"});
	REQUIRE(s);
	CHECK(std::get<SubsystemSettings>(*s).iopolicy == "numa");
	Result<Settings> unknown = parseSettings(ObjectKind::controller, {"iopolicy=numa"});
	REQUIRE_FALSE(unknown);
	CHECK(unknown.error().code == ErrorCode::invalid);
	CHECK(unknown.error().message.find("reconnect-delay, ctrl-loss-tmo, fast-io-fail-tmo, stall-tmo") !=
	      std::string::npos);
	for (const char *word : {"ctrl-loss-tmo", "=1", "reconnect-delay=-1", "reconnect-delay="})
		CHECK_FALSE(parseSettings(ObjectKind::controller, {word}));
	CHECK_FALSE(parseSettings(ObjectKind::subsystem, {"iopolicy="}));
	CHECK_FALSE(parseSettings(ObjectKind::nameSpace, {"iopolicy=numa"}));
}

TEST_CASE("an error text has the kernel's message and the next step", "[command]")
{
	std::ostringstream out, err;
	Context context(*findCommand("connect"), Args(), out, err);
	Error error = errorFromErrno(EALREADY, "already connected as nvmeof0c1");
	int code = context.fail("10.0.0.1:4420", error, connectNextStep(error, ConnectOptions()));
	CHECK(code == 4);
	CHECK(out.str().empty());
	CHECK(err.str() ==
	      "nvmeofctl: connect 10.0.0.1:4420: already connected as nvmeof0c1 "
	      "(--idempotent accepts the existing connection, --duplicate-connect makes a second association)\n");
}

TEST_CASE("an error is printed without control characters", "[command]")
{
	std::ostringstream out, err;
	Context context(*findCommand("connect"), Args(), out, err);
	context.fail("nqn\x1b[2J", errorFromErrno(EIO, "a\nb"));
	context.note("nqn\n.b", "c\td");
	CHECK(err.str() == "nvmeofctl: connect nqn?[2J: a?b\nnvmeofctl: connect nqn?.b: c?d\n");
}

TEST_CASE("a failed connect has the next step", "[command]")
{
	ConnectOptions options;
	options.subsysnqn = "nqn.x";
	using Kind = ErrorObject::Kind;
	auto step = [&](ErrorCode code, const ErrorObject &object, std::optional<ControllerState> left = {}) {
		Error error;
		error.code = code;
		error.object = object;
		error.left = left;
		return connectNextStep(error, options);
	};
	ErrorObject controller = ErrorObject::named("nvmeof0c1"), file{Kind::file, "/etc/nvme/hostid"};
	CHECK(step(ErrorCode::failed, controller, ControllerState::live) ==
	      "'nvmeofctl show nvmeof0c1' shows its namespaces and its last error");
	CHECK(step(ErrorCode::timedOut, controller, ControllerState::connecting) ==
	      "it keeps retrying; 'nvmeofctl disconnect nvmeof0c1' ends that");
	CHECK(step(ErrorCode::timedOut, controller) == "check address, port and firewall");
	CHECK(step(ErrorCode::connectionRefused, controller) ==
	      "check address and port, and that the target is running");
	CHECK(step(ErrorCode::invalid, file) == "correct or remove the file");
	CHECK(step(ErrorCode::failed, file) == "give --hostnqn and --hostid instead");
	Error absent = errorFromErrno(ENOENT, "no host ID was given, and /etc/nvme/hostid does not exist");
	absent.code = ErrorCode::invalid;
	absent.object = file;
	CHECK(connectNextStep(absent, options) == "create the file, or give --hostnqn and --hostid");
	Error refused;
	refused.code = ErrorCode::refused;
	refused.nvmeStatus = 0x182;
	CHECK(connectNextStep(refused, options) == "check that the target exports nqn.x at this address");
}

TEST_CASE("only a wrong key is a reason to compare keys", "[command]")
{
	ConnectOptions options;
	auto step = [&](int sysErrno) { return connectNextStep(errorFromErrno(sysErrno), options); };
	CHECK(step(ENOKEY) == "give the key of this host: --dhchap-key FILE, or --tls if the target requires TLS");
	options.tls = TlsUse::required;
	CHECK(step(ENOKEY) == "give the key of this host: --dhchap-key FILE");
	CHECK(step(EKEYREJECTED).find("compare the TLS keys") == 0);
	CHECK(connectNextStep(errorFromErrno(ENOKEY, "tls: the keyring .nvme has no TLS key"), options).empty());
	options.tls.reset();
	options.dhchapKey = "/k/host.key";
	CHECK(step(EKEYREJECTED) == "compare the key with the one that the target has for this host");
	options.dhchapCtrlKey = "/k/ctrl.key";
	CHECK(step(EKEYREJECTED) == "compare both keys with those that the target has for this host, if any");
	CHECK(step(ENOKEY).empty()); // the message says which
	CHECK(step(EKEYREVOKED) == "give another key: --dhchap-key FILE");
	CHECK(step(EPROTO) == "see the target's log");
	CHECK(step(EOPNOTSUPP).empty()); // the message says what is missing
}

TEST_CASE("a connect over an interface without carrier names the interface", "[command]")
{
	nofctl::gpu::MemoryTree tree;
	tree.file("/sys/class/net/eth1/flags", "0x1003\n");
	tree.file("/sys/class/net/eth1/carrier", "0\n");
	tree.file("/proc/net/route", "Iface\tDestination\n" // 10.0.0.0/8
				     "eth1\t0000000A\t00000000\t0001\t0\t0\t0\t000000FF\t0\t0\t0\n");
	ConnectOptions options;
	options.address = {"10.1.2.3", "4420"};
	Error error;
	error.code = ErrorCode::timedOut;
	const std::string step = "eth1 has no carrier: check its cable, the port of the switch, and 'ip link'";
	CHECK(connectNextStep(error, options, tree) == step);
	error.left = ControllerState::connecting;
	error.object = ErrorObject::named("nvmeof0c1");
	CHECK(connectNextStep(error, options, tree) ==
	      step + "; it keeps retrying, 'nvmeofctl disconnect nvmeof0c1' ends that");
	error = {};
	error.code = ErrorCode::connectionRefused; // the target has answered
	CHECK(connectNextStep(error, options, tree) == "check address and port, and that the target is running");
	tree.file("/sys/class/net/eth1/carrier", "1\n");
	error.code = ErrorCode::timedOut;
	CHECK(connectNextStep(error, options, tree) == "check address, port and firewall");
}

TEST_CASE("with --json an error is a document", "[command]")
{
	std::ostringstream out, err;
	CommandLine line = parse({"list", "--json"});
	REQUIRE(line.command);
	Context context(*line.command, line.args, out, err);
	CHECK(context.fail("", errorFromErrno(EPERM)) == 7);
	Json json = Json::parse(out.str());
	CHECK(json["schema_version"] == 1);
	CHECK(json["error"]["exit_code"] == 7);
	CHECK(err.str().find("(run it as root)") != std::string::npos);
}
