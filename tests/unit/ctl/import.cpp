// SPDX-License-Identifier: LGPL-2.1-or-later
#include <catch2/catch.hpp>

#include <algorithm>
#include <sstream>

#include "command.h"
#include "context.h"
#include "tests/unit/scratch.h"
#include "import.h"
#include "parse.h"

using namespace nvmeof;
using namespace std::chrono_literals;

namespace {

Import imported(const std::string &file, const std::string &text)
{
	Import into;
	auto done = importText(into, text, file);
	INFO((done ? "" : done.error().message));
	REQUIRE(done);
	const ConfigReading again = parseConfig(formatConfig(into.config), "f");
	for (const ConfigProblem &one : again.problems)
		UNSCOPED_INFO(one.place.toString() << ": " << one.message);
	CHECK(again.problems.empty());
	return into;
}

std::vector<std::string> dropped(const Import &from)
{
	std::vector<std::string> keys;
	for (const NotCarried &one : from.notCarried)
		keys.push_back(std::to_string(one.place.line) + " " + one.key);
	return keys;
}

using Strings = std::vector<std::string>;

} // namespace

TEST_CASE("discovery.conf is imported", "[import]")
{
	const Import from = imported("/etc/nvme/discovery.conf",
				     "# used by nvme discover\n"
				     "--transport=tcp --traddr=10.0.0.1 --trsvcid=8009 --host-traddr=10.0.0.7\n"
				     "\n"
				     "-t rdma -a 10.0.0.2 -s 4420 -w10.0.0.8 -k 30 -g -p\n"
				     "-t fc -a nn-0x1:pn-0x2\n"
				     "-a 10.0.0.3 --dhchap-secret=DHHC-1:00:hush: --nr-write-queues 2 -x stray\n");
	REQUIRE(from.config.services.size() == 3);
	const ConfigTarget &one = from.config.services[0], &two = from.config.services[1];
	CHECK(one.addresses == Strings{"10.0.0.1"});
	CHECK(one.port == "8009");
	CHECK(one.hostTraddr == "10.0.0.7");
	CHECK(one.nqn == discoveryNqn);
	CHECK(two.transport == "rdma");
	CHECK(two.port == "4420");
	CHECK(two.hostTraddr == "10.0.0.8");
	CHECK(two.settings.keepAlive == 30s);
	CHECK(two.settings.hdrDigest == true);
	CHECK(two.persistent == true);
	CHECK(dropped(from) == Strings{"5 transport", "6 dhchap-secret", "6 nr-write-queues", "6 -x"});
	for (const NotCarried &drop : from.notCarried)
		CHECK(drop.reason.find("hush") == std::string::npos);
}

TEST_CASE("config.json is imported", "[import]")
{
	const Import from = imported("config.json", R"([{
		"hostnqn": "nqn.host", "hostid": "11111111-2222-3333-4444-555555555555", "dhchap_key": "hush",
		"subsystems": [
			{"nqn": "nqn.s", "ports": [
				{"transport": "tcp", "traddr": "10.1.0.1", "trsvcid": "4420", "ctrl_loss_tmo": -1,
				 "hdr_digest": true, "nr_io_queues": 4, "disable_sqflow": true, "keep_alive_tmo": 5},
				{"transport": "tcp", "traddr": "10.1.0.2", "trsvcid": 4421, "queue_size": 9999},
				{"transport": "loop"}]},
			{"nqn": "nqn.2014-08.org.nvmexpress.discovery", "ports": [
				{"transport": "tcp", "traddr": "10.0.0.1", "trsvcid": "8009", "persistent": true}]}
		]}])");
	REQUIRE(from.config.connections.size() == 2);
	CHECK(from.config.connections[0].hostnqn == "nqn.host");
	CHECK(from.config.connections[0].hostid);
	CHECK(from.config.connections[0].settings.ctrlLoss == -1ms);
	CHECK(from.config.connections[0].settings.ioQueues == 4u);
	CHECK_FALSE(from.config.connections[0].settings.sqFlow);
	CHECK(from.config.connections[1].port == "4421");
	REQUIRE(from.config.services.size() == 1);
	CHECK(from.config.services[0].persistent == true);
	CHECK(dropped(from) == Strings{"0 dhchap_key", "0 queue_size", "0 transport"});
	Import into;
	CHECK_FALSE(importText(into, "{\"hosts\": [", "config.json"));
}

TEST_CASE("nvme-fabrics.conf is imported", "[import]")
{
	const Import from = imported("nvme-fabrics.conf",
				     "[Host]\n"
				     "hostnqn = nqn.host\n"
				     "hostid = 11111111-2222-3333-4444-555555555555\n"
				     "[Discovery Controller Defaults]\n"
				     "keep-alive-tmo = 30\n"
				     "[I/O Controller Defaults]\n"
				     "ctrl-loss-tmo = 1800\n"
				     "tls = true\n"
				     "[Discovery Controller]\n"
				     "controller = transport=tcp;traddr=10.0.0.1;trsvcid=8009;keep-alive-tmo=10\n"
				     "controller = transport=tcp;traddr=10.0.0.2\n"
				     "; a comment\n"
				     "[Subsystem]\n"
				     "nqn = nqn.s\n"
				     "nr-io-queues = 2\n"
				     "controller = transport=tcp;traddr=10.1.0.1;trsvcid=4420\n"
				     "controller = transport=tcp;traddr=10.1.0.2;nr-io-queues=3\n"
				     "[Odd]\nx = 1\n");
	CHECK(from.config.hostnqn == "nqn.host");
	CHECK(from.config.hostid);
	REQUIRE(from.config.services.size() == 2);
	CHECK(from.config.services[0].settings.keepAlive == 10s); // from the line
	CHECK(from.config.services[1].settings.keepAlive == 30s); // from the defaults
	REQUIRE(from.config.connections.size() == 2);
	CHECK(from.config.connections[0].settings.ioQueues == 2u);
	CHECK(from.config.connections[1].settings.ioQueues == 3u);
	CHECK(from.config.connections[1].nqn == "nqn.s");
	REQUIRE(from.config.defaults.size() == 1);
	CHECK(from.config.defaults[0].connect.ctrlLoss == 1800s);
	CHECK(from.config.defaults[0].connect.tls == TlsUse::required);
	CHECK(dropped(from) == Strings{"18 [Odd]", "19 x"});
}

TEST_CASE("the configuration of nvme-stas 2.x is imported", "[import]")
{
	const Import finder = imported("/etc/stas/stafd.conf",
				       "[Global]\ntron = true\nkato = 45\nip-family = ipv4\n"
				       "[Service Discovery]\nzeroconf = enabled\n"
				       "[Discovery controller connection management]\npersistent-connections = true\n"
				       "zeroconf-connections-persistence = 72hours\n"
				       "[Controllers]\n"
				       "controller = transport = tcp ; traddr = 10.0.0.1 ; host-iface = eth0\n"
				       "exclude = transport=tcp;traddr=10.0.0.9\n"
				       "exclude = host-iface=eth9;dhchap-secret=x\n");
	CHECK(finder.config.mdns);
	REQUIRE(finder.config.services.size() == 1);
	CHECK(finder.config.services[0].hostIface == "eth0");
	CHECK(finder.config.services[0].settings.keepAlive == 45s);
	CHECK(finder.config.services[0].persistent == true);
	REQUIRE(finder.config.exclusions.size() == 1);
	CHECK(finder.config.exclusions[0].traddr == "10.0.0.9");
	CHECK(dropped(finder) ==
	      Strings{"2 tron", "4 ip-family", "9 zeroconf-connections-persistence", "13 exclude: dhchap-secret"});

	const Import connector =
		imported("/etc/stas/stacd.conf", "[Global]\nhdr-digest = true\nkato = 120\nnr-io-queues = 8\n"
						 "[I/O controller connection management]\n"
						 "disconnect-scope = all-connections-matching-disconnect-trtypes\n"
						 "disconnect-trtypes = tcp\nconnect-attempts-on-ncc = 2\n"
						 "[Controllers]\n"
						 "controller = transport=tcp;traddr=10.1.0.1;trsvcid=4420;nqn=nqn.s\n"
						 "controller = transport=tcp;traddr=10.1.0.2\n"
						 "exclude = nqn=nqn.s[1]\n");
	CHECK(connector.config.removal == RemovalPolicy::all);
	CHECK(connector.config.services.empty());
	CHECK(connector.config.connections.size() == 1);
	REQUIRE(connector.config.defaults.size() == 1);
	CHECK(connector.config.defaults[0].connect.hdrDigest == true);
	REQUIRE(connector.config.exclusions.size() == 1);
	ConnectOptions options;
	options.subsysnqn = "nqn.s[1]";
	CHECK(connector.config.exclusions[0].covers(options)); // the text becomes an escaped pattern
	CHECK(dropped(connector) == Strings{"7 disconnect-trtypes", "8 connect-attempts-on-ncc", "11 nqn"});

	const Import host = imported("/etc/stas/sys.conf", "[Host]\nnqn=file:///etc/nvme/hostnqn\n"
							   "id=11111111-2222-3333-4444-555555555555\nkey=hush\n"
							   "symname=node1\n");
	CHECK_FALSE(host.config.hostnqn);
	CHECK(host.config.hostid);
	CHECK(dropped(host) == Strings{"4 key", "5 symname"});
}

TEST_CASE("policy.conf of older versions is imported", "[import]")
{
	const Import from = imported("/etc/nvmeof/policy.conf", "nqn.s* iopolicy=latency\n* degrade=on\n");
	REQUIRE(from.config.defaults.size() == 2);
	CHECK(from.config.defaults[0].subsystem.iopolicy == "latency");
	// Only the first matching rule applies, as before.
	const Config again = parseConfig(formatConfig(from.config), "f").config;
	CHECK_FALSE(again.subsystemSettingsFor("nqn.s1")->subsystem.degrade);
}

TEST_CASE("invalid files are refused, and invalid lines left out", "[import]")
{
	Import into;
	CHECK_FALSE(importText(into, "hello world\n", "notes.txt"));
	CHECK_FALSE(importText(into, "{ not json", "config.json"));
	CHECK_FALSE(importText(into, "nqn.*\xa4 degrade=on\n", "policy.conf"));
	CHECK(importText(into, "", "empty.conf"));
	CHECK(importText(into, "# nothing\n\n", "discovery.conf"));
	CHECK_FALSE(importText(into, "[", "x"));
	CHECK(into.config.services.empty());
	auto text = GENERATE(as<std::string>{}, "-a", "--traddr=", "-a a;b", "-- x", "-a 1.2.3.4 -s 99999", "-t",
			     "-a 1.2.3.4 -n a\x1b", "[Controllers]\ncontroller=\nexclude=\n=\n[\n]", "[[]]",
			     "[1, null, {\"subsystems\": [3]}]",
			     "{\"subsystems\": [{\"nqn\": 3, \"ports\": [{\"traddr\": {}}]}]}");
	CAPTURE(text);
	imported("discovery.conf", text);
}

TEST_CASE("values that nvmeof.toml refuses are left out", "[import]")
{
	const Import from = imported("discovery.conf", "-t rdma -a 10.0.0.210.0.0.2 -w 10.0.0.8\n"
						       "-a 10.0.0.1 -w fe80::1%eth0\n"
						       "-a fe80::1\n"
						       "-a 10.0.0.1 -l 10 -F 20\n");
	CHECK(dropped(from) == Strings{"1 traddr", "2 traddr", "3 traddr", "4 fast-io-fail-tmo"});
	REQUIRE(from.config.services.size() == 1);
	CHECK(from.config.services.front().settings.ctrlLoss == 10s);

	const Import joined =
		imported("stafd.conf", "[Global]\nctrl-loss-tmo = 10\n"
				       "[Controllers]\ncontroller = traddr=10.0.0.1;fast-io-fail-tmo=20\n");
	CHECK_FALSE(joined.config.services.empty());
}

TEST_CASE("import does not overwrite a file without --force", "[import]")
{
	Scratch dir;
	dir.write("discovery.conf", "-t tcp -a 10.0.0.1\n");
	auto import = [&](std::vector<std::string> more) {
		std::vector<std::string> words{"import", dir.path() / "discovery.conf"};
		words.insert(words.end(), more.begin(), more.end());
		CommandLine line = parseCommandLine(words);
		REQUIRE(line.command);
		std::ostringstream out, err;
		Context context(*line.command, line.args, out, err);
		int code = runImport(context);
		return std::pair(code, out.str() + err.str());
	};
	const std::string file = dir.path() / "new.toml";
	CHECK(import({}).second.find("[[discovery]]\naddress = \"10.0.0.1\"\n") != std::string::npos);
	CHECK(import({"--output", file}).first == 0);
	const auto config = readConfig({file, {}});
	REQUIRE(config);
	CHECK(config->services.size() == 1);
	auto again = import({"--output", file});
	CHECK(again.first == 1);
	CHECK(again.second.find("exists already (--force overwrites it)") != std::string::npos);
	CHECK(import({"--output", file, "--force"}).first == 0);
}
