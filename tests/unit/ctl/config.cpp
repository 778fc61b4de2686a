// SPDX-License-Identifier: LGPL-2.1-or-later
#include <catch2/catch.hpp>

#include <fstream>
#include <regex>
#include <sstream>

#include <nvmeof/config.h>

#include "tests/unit/scratch.h"

using namespace nvmeof;
using namespace std::chrono_literals;

namespace {

Config parsed(const std::string &text)
{
	ConfigReading reading = parseConfig(text, "f");
	for (const ConfigProblem &one : reading.problems)
		UNSCOPED_INFO(one.place.toString() << ": " << one.message);
	REQUIRE(reading.problems.empty());
	return reading.config;
}

// The problem of a text with one error, as "2: what"
std::string problemOf(const std::string &text)
{
	ConfigReading reading = parseConfig(text, "f");
	REQUIRE(reading.problems.size() == 1);
	CHECK(reading.problems[0].place.file == "f");
	return std::to_string(reading.problems[0].place.line) + ": " + reading.problems[0].message;
}

const std::string everything = R"(
[host]
nqn = "nqn.host"
id = "11111111-2222-3333-4444-555555555555"
[limits]
referral-depth = 2
referrals = 3
connections-per-service = 100
paths-per-subsystem = 8
connections = 200
own-addresses = true
[removal]
policy = "all"
open-disks = true
[mdns]
enabled = true
interfaces = { eth1 = false }
[[discovery]]
address = ["10.0.0.1", "disc.example:8010", "[fd00::1]:8009"]
keep-alive-tmo = 30
persistent = false
host-iface = "eth0"
[[discovery]]
transport = "rdma"
port = 4420
nqn = "nqn.2024-01.com.example:discovery"
address = "10.0.0.2"
[[connection]]
nqn = "nqn.s"
address = "10.1.0.1"
hostnqn = "nqn.other"
hostid = "11111111-2222-3333-4444-666666666666"
host-traddr = "10.1.0.77"
ctrl-loss-tmo = -1
stall-tmo = "250ms"
reconnect-delay = 0.5
hdr-digest = true
duplicate-connect = true
[[defaults]]
nqn = "nqn.s*"
ctrl-loss-tmo = 60
nr-io-queues = 4
iopolicy = "latency"
degrade = true
[[defaults]]
nr-io-queues = 2
data-digest = true
iopolicy = "queue-depth"
spill-us = 500
[[exclude]]
nqn = "nqn.bad*"
[[exclude]]
transport = "tcp"
address = "10.9.0.1"
port = 4420
)";

} // namespace

TEST_CASE("every key of a configuration is read", "[config]")
{
	const Config config = parsed(everything);
	CHECK(config.hostnqn == "nqn.host");
	CHECK(config.hostid == Uuid::parse("11111111-2222-3333-4444-555555555555"));
	CHECK(config.limits == PlanLimits{2, 3, 100, 8});
	CHECK(config.mostConnections == 200);
	CHECK(config.connectSelf);
	CHECK(config.removal == RemovalPolicy::all);
	CHECK(config.removeOpen);
	CHECK(config.mdnsOn("eth0"));
	CHECK_FALSE(config.mdnsOn("eth1"));
	REQUIRE(config.services.size() == 2);
	CHECK(config.services[0].addresses ==
	      std::vector<std::string>{"10.0.0.1", "disc.example:8010", "[fd00::1]:8009"});
	CHECK(config.services[0].nqn == discoveryNqn);
	CHECK(config.services[0].port == "8009");
	CHECK(config.services[0].persistent == false);
	CHECK(config.services[0].place.line == 18);
	CHECK(config.services[1].port == "4420");
	CHECK_FALSE(config.services[1].persistent);
	REQUIRE(config.connections.size() == 1);
	CHECK(config.exclusions.size() == 2);
	CHECK(config.exclusions[1].place == "f:52");
}

TEST_CASE("a connection combines its own settings, the defaults and the host identity", "[config]")
{
	const Config config = parsed(everything);
	const ConnectOptions options = connectionOptions(config, config.connections[0], {"10.1.0.1", "4420"});
	CHECK(options.subsysnqn == "nqn.s");
	CHECK(options.hostnqn == "nqn.other");
	CHECK(options.hostTraddr == "10.1.0.77");
	CHECK(options.ctrlLoss == -1ms); // the connection's own
	CHECK(options.ioQueues == 4u);   // from the first matching defaults
	CHECK(options.dataDigest);       // from the second one
	CHECK(options.stallTimeout == 250ms);
	CHECK(options.reconnectDelay == 500ms);
	CHECK(options.hdrDigest);
	CHECK(options.duplicateConnect);
	const ConnectOptions service = serviceOptions(config, config.services[0], {"10.0.0.1", "8009"});
	CHECK(service.hostnqn == "nqn.host");
	CHECK(service.hostid == config.hostid);
	CHECK(service.keepAlive == 30s);
	CHECK_FALSE(service.dataDigest); // defaults apply to subsystems only
	const PlanRules rules = planRules(config);
	CHECK(rules.limits == config.limits);
	CHECK(rules.settings("nqn.t").ioQueues == 2u);
	CHECK(rules.exclusions.size() == 2);
	CHECK(differenceRules(config).removal == RemovalPolicy::all);
	CHECK(differenceRules(config).discoveryNqns.back() == "nqn.2024-01.com.example:discovery");
}

TEST_CASE("the host ID of the configuration is not combined with another host NQN", "[config]")
{
	const Config config = parsed("[host]\nid = \"11111111-2222-3333-4444-555555555555\"\n"
				     "[[connection]]\nnqn = \"nqn.s\"\naddress = \"10.0.0.1\"\nhostnqn = \"nqn.x\"\n");
	CHECK_FALSE(connectionOptions(config, config.connections[0], {}).hostid);
}

TEST_CASE("each setting of a subsystem comes from the first matching entry that has it", "[config]")
{
	const Config config = parsed(everything);
	const auto found = config.subsystemSettingsFor("nqn.s");
	REQUIRE(found);
	CHECK(found->pattern == "nqn.s*");
	CHECK(found->subsystem.iopolicy == "latency");
	CHECK(found->subsystem.degrade == true);
	CHECK(found->subsystem.spillLatency == 500us);
	CHECK_FALSE(parsed("").subsystemSettingsFor("nqn.s"));
}

TEST_CASE("an error in a configuration has its line and a suggestion", "[config]")
{
	CHECK(problemOf("[limits]\nreferal-depth = 3\n") ==
	      "2: there is no key 'referal-depth' here; did you mean 'referral-depth'?");
	CHECK(problemOf("[hosts]\n") == "1: there is no key 'hosts' here; did you mean 'host'?");
	CHECK(problemOf("[[discovery]]\naddress = \"a\"\nkeep_alive_tmo = 1\n") ==
	      "3: there is no key 'keep_alive_tmo' here; did you mean 'keep-alive-tmo'?");
	CHECK(problemOf("[removal]\npolicy = \"nevr\"\n") ==
	      "2: policy: 'nevr' is not one of never, own, all; did you mean 'never'?");
	CHECK(problemOf("[limits]\n\nreferrals = -1\n") == "3: referrals: -1 is out of range: 0 to 1024");
	CHECK(problemOf("[limits]\nreferrals = \"many\"\n") == "2: referrals: expected an integer, not a string");
	CHECK(problemOf("[[connection]]\naddress = \"10.0.0.1\"\n") == "1: nqn is missing");
	CHECK(problemOf("\n[[discovery]]\n") == "2: address is missing");
	CHECK(problemOf("[discovery]\naddress = \"a\"") == "1: discovery: it is a list: write it as [[...]]");
	CHECK(problemOf("[[defaults]]\nnqn = \"example*\"\n") ==
	      "2: nqn: the pattern 'example*' matches no NQN: an NQN begins with 'nqn.'");
	CHECK(problemOf("[[defaults]]\nspill-us = 99999999\n") ==
	      "2: spill-us: '99999999' is not a number of microseconds from 0 to 60000000");
	CHECK(problemOf("[[exclude]]\n") ==
	      "1: the exclusion is empty: it needs at least one key, such as nqn or address");
	CHECK(problemOf("[[exclude]]\naddress = \"host.example\"\n").starts_with("2: address: "));
	CHECK(problemOf("[host]\nnqn = \"nqn.a\\u001bb\"\n") == "2: nqn: blanks or control characters in 'nqn.a?b'");
	CHECK(problemOf("[host]\nnqn = \"nqn.a\"\nnqn = \"nqn.b\"\n").starts_with("3: "));
	CHECK(problemOf("[host\n").starts_with("1: "));
	CHECK(problemOf("[limits]\n[,x]\n").starts_with("2: "));
	CHECK(problemOf("# \xcb\x9d\n\xcb\x9d") == "2: a non-ASCII character outside of strings and comments");
	CHECK(parsed("[host]\nnqn = \"nqn.\\\"\xcb\x9d\" # \xcb\x9d\n").hostnqn == "nqn.\"\xcb\x9d");
}

TEST_CASE("each word, number and address is validated, with its line", "[config]")
{
	const std::string to = "[[connection]]\nnqn = \"nqn.s\"\naddress = ", at = to + "\"10.0.0.1\"\n";
	CHECK(problemOf(at + "ctrl-loss-tmo = 10\nfast-io-fail-tmo = 20\n") ==
	      "5: fast-io-fail-tmo is longer than ctrl-loss-tmo");
	CHECK(parseConfig("[[defaults]]\nctrl-loss-tmo = -1\nfast-io-fail-tmo = 20\n", "f").problems.empty());
	CHECK(problemOf(to + "\"192.168.10.500\"\n") ==
	      "3: address: '192.168.10.500' is neither an address nor the name of a host");
	CHECK(problemOf(to + "\"10.0.0.1:99999\"\n").starts_with("3: address: "));
	CHECK(problemOf(to + "\"host_.example:x\"\n") == "3: address: port 'x' is not a number from 1 to 65535");
	CHECK(problemOf(to + "\"10.0.0.1/24\"\n") ==
	      "3: address: '10.0.0.1/24' is neither an address nor the name of a host");
	CHECK(problemOf(to + "\"[fd00::1\"\n") == "3: address: address '[fd00::1' lacks the closing ]");
	CHECK(problemOf(to + "\"fd00::x\"\n") == "3: address: 'fd00::x' is not a numeric IPv4 or IPv6 address");
	CHECK(problemOf(to + "\"255.255.255.255\"\n") == "3: address: '255.255.255.255' is a broadcast address");
	CHECK(problemOf(to + "\"239.1.2.3\"\n") == "3: address: '239.1.2.3' is a multicast address");
	CHECK(problemOf(to + "\"[ff02::1]:4420\"\n") == "3: address: 'ff02::1' is a multicast address");
	CHECK(problemOf(to + "\"fe80::1\"\n") ==
	      "3: address: 'fe80::1' is link-local and needs an interface, as in fe80::1%eth0");
	CHECK(parseConfig(to + "\"fe80::1%eth0\"\n", "f").problems.empty());
	CHECK(parseConfig(to + "\"fe80::1\"\nhost-iface = \"eth0\"\n", "f").problems.empty());
	CHECK(problemOf(at + "host-traddr = \"fd00::2\"\n") ==
	      "4: host-traddr and address are of different families: 'fd00::2' and '10.0.0.1'");
	for (const char *rail : {"all", "0000:07:00.0", "07:00.0"})
		CHECK(parseConfig(at + "rail = \"" + rail + "\"\n", "f").config.notes.empty());
}

namespace {

// The notes of a text without an error
std::vector<std::string> notesOf(const std::string &text)
{
	const ConfigReading reading = parseConfig(text, "f");
	for (const ConfigProblem &one : reading.problems)
		FAIL_CHECK(one.place.toString() << ": " << one.message);
	return reading.config.notes;
}

using Notes = std::vector<std::string>;

} // namespace

TEST_CASE("an unusual value that may be intended gives a note", "[config]")
{
	CHECK(notesOf("[[defaults]]\niopolicy = \"sample\"\n") ==
	      Notes{"f:2: iopolicy: 'sample' is not a built-in path selector: a module has to provide it"});
	CHECK(notesOf("[[connection]]\naddress = \"10.0.0.1\"\nnqn = \"testnqn\"\n") ==
	      Notes{"f:3: nqn: 'testnqn' does not begin with 'nqn.', as the NVMe specification requires"});
	CHECK(notesOf("[[defaults]]\niopolicy = \"queue-depth\"\n[host]\nnqn = \"nqn.x\"\n").empty());
}

TEST_CASE("an unknown selector is accepted with a note that suggests a similar name", "[config]")
{
	CHECK(notesOf("[[defaults]]\niopolicy = \"latncy\"\n") ==
	      Notes{"f:2: iopolicy: 'latncy' is not a built-in path selector; did you mean 'latency'? Otherwise a "
		    "module has to provide it"});
	for (const char *name : {"queue-length", "numa2", "queue-depth2", "queue", "round_robin"}) {
		CAPTURE(name);
		CHECK(notesOf("[[defaults]]\niopolicy = \"" + std::string(name) + "\"\n").size() == 1);
		CHECK(parsed("[[defaults]]\niopolicy = \"" + std::string(name) + "\"\n")
			      .subsystemSettingsFor("nqn.s")
			      ->subsystem.iopolicy == name);
	}
}

TEST_CASE("suspicious values that earlier versions accepted are accepted with a note", "[config]")
{
	const std::string to = "[[connection]]\nnqn = \"nqn.s\"\naddress = ", at = to + "\"10.0.0.1\"\n";
	CHECK(notesOf(to + "[\"10.0.0.1\", \"10.0.0.1\"]\n") == Notes{"f:3: address: '10.0.0.1' is named twice"});
	CHECK(notesOf(to + "[\"10.0.0.1\", \"fd00::1\"]\nhost-traddr = \"10.0.0.9\"\n") ==
	      Notes{"f:4: host-traddr and address are of different families: '10.0.0.9' and 'fd00::1'"});
	CHECK(notesOf(to + "\"target.example\"\nhost-traddr = \"fd00::9\"\n").empty());
	CHECK(notesOf(at + "host-traddr = \"0.0.0.0\"\n") ==
	      Notes{"f:4: host-traddr: '0.0.0.0' is the unspecified address, so the kernel chooses the source "
		    "address"});
	CHECK(notesOf(to + "\"0.0.0.0:4420\"\n").size() == 1);
	CHECK(notesOf(to + "\"fe80::1\"\nhost-traddr = \"fe80::2%eth0\"\n").empty());
	CHECK(notesOf(at + "rail = \"gpu0\"\n") ==
	      Notes{"f:4: rail: 'gpu0' is neither 'all' nor the PCI address of a GPU, such as 0000:07:00.0"});
	CHECK(notesOf(at + "host-iface = \"enp129s0f0np0-storage\"\n") ==
	      Notes{"f:4: host-iface: 'enp129s0f0np0-storage' is not the name of a network interface"});
	CHECK(notesOf("[[exclude]]\nhost-iface = \"a/b\"\n").size() == 1);
	CHECK(notesOf("[mdns.interfaces]\n\"a/b\" = true\n") ==
	      Notes{"f:2: interfaces: 'a/b' is not the name of a network interface"});
	CHECK(notesOf("[[defaults]]\nctrl-loss-tmo = 10\nfast-io-fail-tmo = 20\n") ==
	      Notes{"f:3: fast-io-fail-tmo is longer than ctrl-loss-tmo"});
	CHECK(notesOf("[[defaults]]\nnqn = \"nqn.2024-01.[ab\"\n") ==
	      Notes{"f:2: nqn: the pattern 'nqn.2024-01.[ab' has a [ without a ]: it stands for the character ["});
	for (const char *pattern : {R"(nqn.a\[b)", "nqn.[]]", "nqn.[!]a]", R"(nqn.[\]]*)", "nqn.[a-c]x"}) {
		CAPTURE(pattern);
		CHECK(notesOf("[[exclude]]\nnqn = '" + std::string(pattern) + "'\n").empty());
	}
	CHECK(notesOf("[[exclude]]\nnqn = 'nqn.[]'\n").size() == 1);
	const std::string stripe = "[[stripe]]\nname = \"s\"\nmembers = [\"eui.0011223344556677\", ";
	CHECK(notesOf(stripe + "\"uuid.6f1b2c3d-0000-4000-8000-000000000001\"]\n").empty());
	CHECK(notesOf(stripe + "\"nvme.1b36-3132-4d-00000001\"]\n").empty());
	for (const char *wwid : {"uuid.6f1b2c3d", "uuid.6F1B2C3D-0000-4000-8000-000000000001", "eui.12", "nvmeof0n1"})
		CHECK(notesOf(stripe + "\"" + wwid + "\"]\n")
			      .at(0)
			      .starts_with("f:3: members: '" + std::string(wwid) + "' is not the wwid of a namespace"));
}

TEST_CASE("a secret in the configuration is an error that does not repeat the secret", "[config]")
{
	const std::string problem = problemOf("[[connection]]\naddress = \"10.0.0.1\"\nnqn = \"nqn.s\"\n"
					      "dhchap-secret = \"DHHC-1:00:hush:\"\n");
	CHECK(problem == "4: there is no key 'dhchap-secret': secrets are not supported in this file: dhchap-key, "
			 "dhchap-ctrl-key and tls-key name files that contain them");
	CHECK(problem.find("hush") == std::string::npos);
}

TEST_CASE("all errors are reported in the order of their lines", "[config]")
{
	const ConfigReading reading = parseConfig("[removal]\nwrong = 1\n[host]\nid = \"x\"\nnqn = 3\n", "f");
	REQUIRE(reading.problems.size() == 3);
	CHECK(reading.problems[0].place.line == 2);
	CHECK(reading.problems[1].place.line == 4);
	CHECK(reading.problems[2].place.line == 5);
	const Result<Config> outcome = reading.outcome();
	REQUIRE_FALSE(outcome);
	CHECK(outcome.error().code == ErrorCode::invalid);
	CHECK(outcome.error().message == "f:2: there is no key 'wrong' here; and 2 more");
}

TEST_CASE("times in a configuration are parsed and bounded", "[config]")
{
	auto delay = [](const std::string &value) {
		return parseConfig("[[defaults]]\nctrl-loss-tmo = " + value + "\n", "f");
	};
	CHECK(delay("-1").config.defaults[0].connect.ctrlLoss == -1ms);
	CHECK(delay("-1.0").config.defaults[0].connect.ctrlLoss == -1ms);
	CHECK(delay("0.25").config.defaults[0].connect.ctrlLoss == 250ms);
	CHECK(delay("\"2s\"").config.defaults[0].connect.ctrlLoss == 2000ms);
	auto wrong = GENERATE(as<std::string>{}, "-2", "nan", "inf", "-0.5", "1e300", "0.0001", "true", "[1]",
			      "2147484", "9223372036854775807", "2024-01-01", "\"soon\"", "{}");
	CAPTURE(wrong);
	CHECK(delay(wrong).problems.size() == 1);
}

TEST_CASE("a configuration that is written reads back as the same", "[config]")
{
	const Config config = parsed(everything);
	const std::string text = formatConfig(config);
	const Config again = parsed(text);
	CHECK(formatConfig(again) == text);
	CHECK(again.limits == config.limits);
	CHECK(again.services.size() == 2);
	CHECK(again.connections[0].settings == config.connections[0].settings);
	CHECK(again.defaults[1].subsystem == config.defaults[1].subsystem);
	CHECK(formatConfig(Config()).empty());
}

TEST_CASE("nvmeof.toml, nvmeof.d and policy.conf are combined", "[config]")
{
	Scratch dir;
	const ConfigFiles files{dir.path() / "nvmeof.toml", dir.path() / "policy.conf"};
	CHECK(readConfig(files)->files.empty());
	dir.write("nvmeof.toml", "[host]\nnqn = \"nqn.a\"\n[[defaults]]\nnqn = \"nqn.s\"\niopolicy = \"latency\"\n");
	dir.write("nvmeof.d/20.toml", "[host]\nnqn = \"nqn.c\"\n[[exclude]]\nnqn = \"nqn.x\"\n");
	dir.write("nvmeof.d/10.toml", "[host]\nnqn = \"nqn.b\"\n");
	dir.write("nvmeof.d/30.conf", "no TOML");
	dir.write("nvmeof.d/.hidden.toml", "no TOML");
	dir.write("policy.conf", "nqn.s degrade=on\nnqn.* iopolicy=queue-depth spill-us=5\n");
	Result<Config> config = readConfig(files);
	REQUIRE(config);
	CHECK(config->files.size() == 4);
	CHECK(config->hostnqn == "nqn.c");
	CHECK(config->notes.size() == 1);
	// In policy.conf only the first matching rule applies.
	const auto settings = config->subsystemSettingsFor("nqn.s");
	REQUIRE(settings);
	CHECK(settings->subsystem.iopolicy == "latency");
	CHECK(settings->subsystem.degrade == true);
	CHECK_FALSE(settings->subsystem.spillLatency);
	CHECK(config->subsystemSettingsFor("nqn.t")->subsystem.iopolicy == "queue-depth");
	dir.write("nvmeof.d/40.toml", "x = 1\n");
	CHECK(readConfig(files).error().message.find("40.toml:1: ") != std::string::npos);
	dir.write("nvmeof.d/40.toml", std::string((1 << 20) + 1, '\n'));
	CHECK(readConfig(files).error().message.ends_with("40.toml: larger than 1 MiB"));
}

// The installed example, and the defaults that it shows
TEST_CASE("the example has every key with its default", "[config]")
{
	std::ifstream file(std::string(NVMEOF_SOURCES) + "/../../tools/nvmeofctl/nvmeof.toml");
	std::ostringstream text;
	text << file.rdbuf();
	CHECK(formatConfig(parsed(text.str())) == "[[defaults]]\nnqn = \"*\"\n");
	const std::string bare = std::regex_replace(text.str(), std::regex("(^|\n)#(?=[a-z\\[])"), "$1");
	for (const ConnectSetting &setting : connectSettings()) {
		CAPTURE(setting.name);
		CHECK(bare.find(std::string("\n") + setting.name + " = ") != std::string::npos);
		// this default depends on the controller; the example shows the usual one
		const std::string preset = setting.name == std::string("keep-alive-tmo") ? "5" : setting.preset;
		if (preset.find(' ') == preset.npos && preset != "0.3")
			CHECK(bare.find(std::string("\n") + setting.name + " = " + preset + "\n") != std::string::npos);
	}
	for (const std::string &name : subsystemSettingNames())
		CHECK(bare.find("\n" + name + " = ") != std::string::npos);
	// The example without its comment signs. A connection shows "port = 4420" twice, so one of them is removed.
	const Config config = [&] {
		std::string once = std::regex_replace(bare, std::regex("\nport = 4420\n# and,"), "\n# and,");
		return parsed(once);
	}();
	CHECK(config.limits == PlanLimits());
	CHECK(config.mostConnections == Config().mostConnections);
	CHECK(config.removal == Config().removal);
	CHECK(config.removeOpen == Config().removeOpen);
	CHECK(config.mdns == Config().mdns);
	CHECK(config.connectSelf == Config().connectSelf);
	CHECK(config.defaults[0].subsystem == defaultSettings());
	CHECK(config.services[0].port == "8009");
	CHECK(config.connections.size() == 1);
	CHECK(config.exclusions.size() == 1);
}
