// SPDX-License-Identifier: LGPL-2.1-or-later
// nvmeofd: the connections that it makes, follows and leaves alone, and its restarts.
#include "misbehaving.h"
#include "support/host.h"
#include "support/multi.h"
#include "target/acts.h"
#include "target/discovery.h"
#include "target/server.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <memory>
#include <regex>
#include <thread>

#include <csignal>

namespace guest::daemon {

using nvmeof::Controller;
using nvmeof::ControllerState;
using Json = nlohmann::json;

namespace {

constexpr const char *folder = "/run/nvmeofd-test";
constexpr const char *daemonOwner = "nvmeofd";

// The system bus, for `nvmeofctl daemon`
class SystemBus {
public:
	SystemBus()
	{
		must("mkdir -p /run/dbus && rm -f /run/dbus/system_bus_socket");
		// The bus looks up the users of its peers.
		must("grep -qs somebody /etc/passwd || echo somebody:x:1000:1000::/:/bin/sh >> /etc/passwd");
		writeFile("/run/dbus/test.conf",
			  "<busconfig><type>system</type><listen>unix:path=/run/dbus/system_bus_socket</listen>"
			  "<policy context=\"default\"><allow user=\"*\"/><allow own=\"*\"/><allow "
			  "send_destination=\"*\"/>"
			  "<allow send_type=\"method_call\"/><allow receive_type=\"method_call\"/>"
			  "<allow receive_type=\"method_return\"/><allow receive_type=\"error\"/>"
			  "<allow receive_type=\"signal\"/></policy></busconfig>");
		bus_.emplace("exec dbus-daemon --nofork --nopidfile --config-file=/run/dbus/test.conf");
		REQUIRE(eventually([] { return exists("/run/dbus/system_bus_socket"); }));
	}

private:
	std::optional<Background> bus_;
};

struct Daemon {
	std::string config;
	std::optional<Background> process;

	explicit Daemon(std::string text, bool keepState = false) : config(std::move(text))
	{
		if (!keepState)
			must(std::string("rm -rf ") + folder);
		must(std::string("mkdir -p ") + folder);
		start();
	}
	void write() const { writeFile(std::string(folder) + "/nvmeof.toml", config); }
	static std::string command()
	{
		return std::string("exec nvmeofd --config ") + folder + "/nvmeof.toml --state " + folder +
		       "/state --lock " + folder + "/lock";
	}
	void start()
	{
		write();
		process.emplace(command());
	}
	void kill()
	{
		process->signal(SIGKILL);
		process->wait(5s);
	}
	void end(Millis patience = 5s)
	{
		process->signal(SIGTERM);
		CHECK(process->wait(scaled(patience)).status == 0);
	}
};

std::string at(const target::Server &server)
{
	return "127.0.0.1:" + std::to_string(server.port());
}

// A configuration with these services, which allows addresses of this machine
std::string configFor(std::initializer_list<const target::Server *> services, const std::string &more = "")
{
	std::string text = "[limits]\nown-addresses = true\n" + more + "\n";
	for (const target::Server *one : services)
		text += "[[discovery]]\naddress = [\"" + at(*one) + "\"]\n";
	return text;
}

struct Stage {
	std::shared_ptr<target::Subsystem> shared = std::make_shared<target::Subsystem>();
	target::Server one, two;
	Host host;

	Stage() : one({}, shared), two({}, shared) {}
	target::DiscoveryEntry entry(const target::Server &server) const
	{
		return makeEntry(target::sub_nvm, one.config().nqn, "127.0.0.1", server.port());
	}
	target::Discovery &discovery() { return shared->discovery(); }

	std::vector<Controller> controllers()
	{
		auto all = take(host.client().controllers());
		std::erase_if(all, [](const Controller &c) { return c.subsysnqn == nvmeof::discoveryNqn; });
		return all;
	}
	std::vector<Controller> services()
	{
		auto all = take(host.client().controllers());
		std::erase_if(all, [](const Controller &c) { return c.subsysnqn != nvmeof::discoveryNqn; });
		return all;
	}
	std::size_t live()
	{
		auto all = controllers();
		return static_cast<std::size_t>(std::ranges::count_if(
			all, [](const Controller &c) { return c.state == ControllerState::live; }));
	}
	bool becomes(std::size_t count, Millis timeout = 10s)
	{
		return eventually([&] { return live() == count && controllers().size() == count; }, timeout);
	}
};

// A discovery service that reports what a test adds. notItself excludes its own subsystem.
struct Service : target::Server {
	Service() : target::Server({.nqn = "nqn.2024-01.io.nvmeof:service"}) {}
	target::Discovery &discovery() { return subsystem().discovery(); }
	static constexpr const char *notItself = "[[exclude]]\nnqn = \"*:service\"\n";
};

Json status()
{
	auto told = run("nvmeofctl daemon status --json");
	INFO(told.text);
	REQUIRE(told.status == 0);
	return Json::parse(told.text);
}

std::vector<std::string> names(const std::vector<Controller> &controllers)
{
	std::vector<std::string> all;
	for (const Controller &c : controllers)
		all.push_back(c.name);
	std::ranges::sort(all);
	return all;
}

// ctrl-loss-tmo as nvmeofctl prints it
std::string lossTimeout(const Controller &controller)
{
	auto shown = must("nvmeofctl show " + controller.name);
	std::smatch found;
	std::regex_search(shown, found, std::regex("ctrl-loss-tmo *: (.*)"));
	return found.empty() ? shown : found[1].str();
}

} // namespace

TEST_CASE("nvmeofd connects the subsystems that a service reports, and follows changes", "[daemon][short]")
{
	Stage stage;
	Daemon daemon(configFor({&stage.one}));
	REQUIRE(stage.becomes(2));
	CHECK(std::ranges::all_of(stage.controllers(), [](auto &c) { return c.owner == daemonOwner; }));
	// disconnect-all leaves what the daemon owns, and says so.
	for (auto &c : stage.controllers()) {
		auto left = run("nvmeofctl disconnect-all --dry-run");
		INFO(left.text);
		CHECK(left.status == 0);
		CHECK(left.text.find(c.name + " stays connected: owned by " + std::string(daemonOwner) +
				     " (--owned disconnects it)\n") != std::string::npos);
		CHECK(left.text.find(c.name + " would be") == std::string::npos);
	}
	REQUIRE(stage.services().size() == 1);
	CHECK(stage.services()[0].keepAlive.count() > 0);
	// The kernel gives up none of them: the daemon decides which ones are wanted.
	for (auto &c : take(stage.host.client().controllers()))
		CHECK(lossTimeout(c) == "never");

	// One more port: an event of the service suffices.
	Stopwatch came;
	{
		target::Server three({}, stage.shared);
		CHECK(stage.becomes(3));
		WARN("a new path after " << came.elapsed().count() << " ms");
		CHECK(came.elapsed() < scaled(1s));
	}
	CHECK(stage.becomes(2)); // the third is no longer reported
	daemon.end();
	CHECK(stage.live() == 2); // connections outlive the daemon
}

TEST_CASE("a configured ctrl-loss-tmo overrides the default of nvmeofd", "[daemon]")
{
	Stage stage;
	Daemon daemon(configFor({&stage.one}, "[[defaults]]\nctrl-loss-tmo = 30\n"));
	REQUIRE(stage.becomes(2));
	for (auto &c : stage.controllers())
		CHECK(lossTimeout(c) == "30 s");
}

TEST_CASE("nvmeofd that was killed finds its connections again", "[daemon]")
{
	Stage stage;
	Daemon daemon(configFor({&stage.one}));
	REQUIRE(stage.becomes(2));
	REQUIRE(eventually([] { return exists(std::string(folder) + "/state/last-known"); }));
	auto before = names(take(stage.host.client().controllers()));
	for (int i = 0; i < 3; i++) {
		daemon.kill();
		daemon.start();
		std::this_thread::sleep_for(scaled(500ms));
	}
	CHECK(names(take(stage.host.client().controllers())) == before);
	for (auto &c : stage.controllers())
		CHECK(c.reconnects == 0);
	// The restarted daemon follows changes.
	target::Server three({}, stage.shared);
	CHECK(stage.becomes(3));
}

TEST_CASE("the loss of a service disconnects nothing", "[daemon]")
{
	Stage stage;
	Daemon daemon(configFor({&stage.one, &stage.two}));
	REQUIRE(stage.becomes(2));
	auto before = names(stage.controllers());
	SECTION("their connections are lost")
	{
		stage.one.dropConnections();
		stage.two.dropConnections();
	}
	SECTION("both restart")
	{
		stage.one.stop();
		stage.two.stop();
		std::this_thread::sleep_for(scaled(2s));
		CHECK(names(stage.controllers()) == before);
		stage.one.start();
		stage.two.start();
	}
	CHECK(stage.becomes(2, 30s));
	CHECK(names(stage.controllers()) == before);
}

TEST_CASE("at boot the last known subsystems are connected at once, and then corrected", "[daemon]")
{
	Stage stage;
	Service service;
	service.discovery().add({stage.entry(stage.one), stage.entry(stage.two)});
	Daemon daemon(configFor({&service}, Service::notItself));
	REQUIRE(stage.becomes(2));
	REQUIRE(eventually([] { return exists(std::string(folder) + "/state/last-known"); }));
	daemon.end();
	stage.host.disconnectAll();
	service.stop();

	Stopwatch came;
	SECTION("with the service down")
	{
		daemon.start();
		CHECK(stage.becomes(2));
		WARN("connected after " << came.elapsed().count() << " ms");
		// The service reports one port less when it returns.
		service.discovery().clear();
		service.discovery().add({stage.entry(stage.two)});
		service.start();
		CHECK(stage.becomes(1, 30s));
	}
	SECTION("a damaged file is set aside")
	{
		std::string file = std::string(folder) + "/state/last-known", kept = readFile(file);
		kept[kept.size() / 2] ^= 1;
		writeFile(file, kept + "\n");
		daemon.start();
		REQUIRE(eventually([&] { return exists(file + ".bad"); }));
		std::this_thread::sleep_for(scaled(500ms));
		CHECK(stage.controllers().empty());
		service.start();
		CHECK(stage.becomes(2, 30s));
	}
}

TEST_CASE("services that a referral names are followed as well", "[daemon]")
{
	Stage stage;
	Service first, second;
	first.discovery().refer("127.0.0.1", second.port());
	Daemon daemon(configFor({&first}, Service::notItself));
	REQUIRE(eventually([&] { return stage.services().size() == 2; }));
	second.discovery().add({stage.entry(stage.one)});
	CHECK(stage.becomes(1));
	first.discovery().clear();
	CHECK(stage.becomes(0));
	CHECK(eventually([&] { return stage.services().size() == 1; }));
}

TEST_CASE("a log that alternates the options of a referral does not end the connection to that service",
	  "[daemon][hostile]")
{
	constexpr const char *unique = "nqn.2024-01.io.nvmeof:second";
	Stage stage;
	Service first, second;
	second.discovery().setNqn(unique);
	second.discovery().add({stage.entry(stage.one)});
	// Of two referrals to one address, the first one counts.
	first.discovery().refer("127.0.0.1", second.port());
	first.discovery().add({makeEntry(target::sub_referral, unique, "127.0.0.1", second.port())});
	Daemon daemon(configFor({&first}, Service::notItself));
	REQUIRE(stage.becomes(1));
	const std::uint64_t connects = second.counters().adminConnects;
	for (int i = 0; i < 15; i++) {
		first.discovery().rotate();
		pause(300ms);
	}
	CHECK(second.counters().adminConnects == connects);
	CHECK(stage.live() == 1);
}

TEST_CASE("a subsystem that is no longer reported is disconnected once its disk is closed", "[daemon]")
{
	Stage stage;
	stage.shared->stores().add(1, 4 << 20);
	Service service;
	service.discovery().add({stage.entry(stage.one)});
	Daemon daemon(configFor({&service}, Service::notItself));
	REQUIRE(stage.becomes(1));
	Background user("exec sleep 600 < " + stage.host.disk(1, 5s, stage.one.config().nqn));
	REQUIRE(eventually([&] { return take(stage.host.client().namespaces()).at(0).openers == 1; }));
	daemon.kill(); // the restarted daemon finds the disk open
	daemon.start();
	service.discovery().clear();
	pause(2s);
	CHECK(stage.live() == 1);
	user.signal(SIGTERM);
	user.wait(5s);
	CHECK(stage.becomes(0, 20s));
}

TEST_CASE("connections made by others stay, and wanted connections are restored", "[daemon]")
{
	Stage stage;
	target::Server other; // not reported by any service
	auto mine = stage.host.connect(Host::options("127.0.0.1", std::to_string(other.port()), other.config().nqn));
	Daemon daemon(configFor({&stage.one}));
	REQUIRE(stage.becomes(3));
	// A wanted connection that is removed by hand is restored.
	auto all = stage.controllers();
	auto own = std::ranges::find_if(all, [&](auto &c) { return c.name != mine.name; });
	must("nvmeofctl disconnect -d " + own->name);
	CHECK(stage.becomes(3));
	CHECK(stage.host.state(mine.name) == ControllerState::live);

	auto second = run(Daemon::command());
	CHECK(second.status == 1);
	CHECK(second.text.find("nvmeofd is already running: process ") != std::string::npos);
	CHECK(stage.live() == 3);
}

TEST_CASE("nvmeofctl daemon controls nvmeofd over D-Bus", "[daemon]")
{
	auto missing = [](const std::string &words) {
		auto out = run("nvmeofctl daemon status");
		INFO(out.text);
		CHECK(out.status != 0);
		CHECK(out.text.find(words) != std::string::npos);
	};
	missing("'systemctl status dbus' shows its state");
	SystemBus bus;
	missing("systemctl start nvmeofd");

	Stage stage;
	Daemon daemon(configFor({&stage.one}));
	REQUIRE(stage.becomes(2));
	auto now = status();
	INFO(now.dump(1));
	REQUIRE(now["services"].size() == 1);
	CHECK(now["services"][0]["state"] == "watching");
	CHECK(now["services"][0]["log"]["entries"].get<int>() >= 2);
	CHECK(now["services"][0]["connections"] == 2);
	REQUIRE(now["connections"].size() == 2);
	CHECK(now["connections"][0]["state"] == "live");
	CHECK(now["connections"][0]["own"] == true);
	CHECK(now["connections"][0]["source"] == Json::array({now["services"][0]["service"]}));
	CHECK(now["connections"][0]["told_by"] == now["connections"][0]["source"]); // the old name
	CHECK(run("nvmeofctl daemon status").text.find("watching") != std::string::npos);

	must("nvmeofctl daemon pause");
	{
		target::Server three({}, stage.shared);
		REQUIRE(eventually([] { return status()["connections"].size() == 3; }));
		CHECK(status()["paused"] == true);
		CHECK(stage.live() == 2);
		must("nvmeofctl daemon resume");
		CHECK(stage.becomes(3));
	}
	CHECK(stage.becomes(2));

	// An invalid configuration changes nothing and is reported with its line.
	std::string good = daemon.config;
	daemon.config += "\ndiscovrey = 1\n";
	daemon.write();
	auto wrong = run("nvmeofctl daemon reload");
	CHECK(wrong.status == 2);
	CHECK(wrong.text.find("nvmeof.toml:") != std::string::npos);
	CHECK(stage.live() == 2);
	daemon.config = good + "[[exclude]]\nport = " + std::to_string(stage.two.port()) + "\n";
	daemon.write();
	auto told = run("nvmeofctl daemon reload");
	INFO(told.text);
	CHECK(told.status == 0);
	CHECK(told.text.find("added [exclude]") != std::string::npos);
	CHECK(told.text.find("connection removed from the plan: tcp ") != std::string::npos);
	CHECK(stage.becomes(1));
	CHECK(must("nvmeofctl daemon reload").find("no change") != std::string::npos);
	CHECK_FALSE(status()["refusals"].empty());
	must("nvmeofctl daemon rescan");
	// Events are recorded with the time of day.
	const std::string events = std::string("nvmeofctl events --since 1h --file ") + folder + "/state/events";
	CHECK(eventually([&] { return must(events).find("daemon_reloaded") != std::string::npos; }));
	CHECK(must(events).find("daemon_started") != std::string::npos);
	CHECK(must(events).find(": connecting -> live, tcp 127.0.0.1:") != std::string::npos);
	auto anybody = run("setpriv --reuid=1000 --clear-groups nvmeofctl daemon pause");
	INFO(anybody.text);
	CHECK(anybody.status == 7);
}

TEST_CASE("doctor reports that nvmeofd is paused, and that it does not answer", "[daemon][doctor]")
{
	SystemBus bus;
	Stage stage;
	Daemon daemon(configFor({&stage.one}));
	REQUIRE(stage.becomes(2));
	auto finds = [](const std::string &check) {
		auto out = run("nvmeofctl doctor --json 2>/dev/null");
		auto findings = Json::parse(out.text)["findings"];
		return std::ranges::any_of(findings, [&](const Json &one) { return one["check"] == check; });
	};
	CHECK_FALSE(finds("daemon_paused"));
	CHECK_FALSE(finds("daemon_silent"));
	CHECK(finds("clock_unsynchronized")); // no guest has a time server
	must("nvmeofctl daemon pause");
	CHECK(finds("daemon_paused"));
	must("nvmeofctl daemon resume");
	CHECK_FALSE(finds("daemon_paused"));
	daemon.process->signal(SIGSTOP);
	Stopwatch stopwatch;
	CHECK(finds("daemon_silent"));
	CHECK(stopwatch.elapsed() < scaled(10s));
	daemon.process->signal(SIGCONT);
	CHECK(eventually([&] { return !finds("daemon_silent"); }));
}

namespace {

// A network interface for mDNS, which needs multicast
class MdnsInterface {
public:
	MdnsInterface()
	{
		must("ip link add mdns0 type veth peer name mdns1");
		must("ip addr add 10.9.0.1/24 dev mdns0 && ip link set mdns0 up && ip link set mdns1 up");
	}
	~MdnsInterface() { run("ip link del mdns0"); }
};

constexpr const char *onBus = "exec env DBUS_SYSTEM_BUS_ADDRESS=unix:path=/run/dbus/system_bus_socket ";

Background avahi()
{
	must("grep -qs avahi /etc/passwd || echo avahi:x:990:990::/:/bin/false >> /etc/passwd");
	must("grep -qs avahi /etc/group || echo avahi:x:990: >> /etc/group");
	writeFile("/run/avahi.conf", "[server]\nuse-ipv6=no\nallow-interfaces=mdns0\n");
	return Background(std::string(onBus) + "avahi-daemon --no-drop-root --no-chroot --no-rlimits "
					       "-f /run/avahi.conf");
}

Background announcement(const target::Server &server)
{
	return Background(std::string(onBus) + "avahi-publish -f -s cdc _nvme-disc._tcp " +
			  std::to_string(server.port()) + " p=tcp NQN=" + server.shared()->discovery().nqn());
}

bool announced()
{
	auto now = status();
	INFO(now.dump(1));
	REQUIRE(now["services"].size() == 1);
	return now["services"][0]["mdns"]["announced"] == true;
}

} // namespace

TEST_CASE("a service found by mDNS stays until it no longer answers", "[daemon][mdns]")
{
	MdnsInterface card;
	SystemBus bus;
	Stage stage;
	stage.discovery().setNqn("nqn.2024-01.io.nvmeof:cdc");
	target::Server heard({.address = "10.9.0.1"}, stage.shared);
	Daemon daemon("[limits]\nown-addresses = true\n[mdns.interfaces]\nmdns0 = true\n");
	REQUIRE(eventually([] { return exists("/run/nvmeofd-test/lock"); }));
	REQUIRE(eventually([] { return run("nvmeofctl daemon status --json").status == 0; }));
	CHECK(eventually([] { return status()["mdns"]["error"].is_string(); })); // there is no Avahi yet
	{
		Background ears = avahi();
		Background voice = announcement(heard);
		REQUIRE(stage.becomes(4, 20s));
		CHECK(status()["mdns"]["error"].is_null());
		CHECK(announced());
		CHECK(run("nvmeofctl daemon status").text.find("mDNS on mdns0") != std::string::npos);

		// A goodbye packet does not disconnect.
		voice.signal(SIGTERM);
		voice.wait(5s);
		REQUIRE(eventually([] { return !announced(); }));
		pause(2s);
		CHECK(stage.becomes(4)); // with the service, which has a unique NQN
		ears.signal(SIGTERM);
		ears.wait(5s);
	}
	// Neither does the loss of Avahi, even across a restart of the daemon.
	auto before = names(stage.controllers());
	daemon.kill();
	daemon.start();
	REQUIRE(eventually([] { return run("nvmeofctl daemon status --json").status == 0; }));
	pause(2s);
	CHECK(names(stage.controllers()) == before);
	CHECK_FALSE(announced());
	must("nvmeofctl daemon rescan"); // the service answers, so it stays
	pause(1s);
	CHECK(status()["services"].size() == 1);

	heard.stop();
	REQUIRE(eventually([] { return status()["services"][0]["state"] == "connecting"; }));
	must("nvmeofctl daemon rescan");
	CHECK(eventually([] { return status()["services"].empty(); }));
	CHECK(stage.becomes(0));
	daemon.end();
}

TEST_CASE("nvmeofd registers with a centralized discovery controller", "[daemon]")
{
	SystemBus bus;
	auto shared = std::make_shared<target::Subsystem>();
	target::Server server({.centralized = true}, shared), other({}, shared);
	Host host;
	Daemon daemon(configFor({&server, &other}));
	REQUIRE(eventually([&] { return shared->discovery().registered().size() == 1; }));
	auto told = shared->discovery().registered()[0];
	CHECK(told.nqn == readFile("/etc/nvme/hostnqn"));
	CHECK(nvmeof::Uuid{told.hostid}.toString() == readFile("/etc/nvme/hostid"));
	CHECK(told.version.starts_with("Linux 6."));
	REQUIRE(told.interfaces.size() == 1);
	CHECK(target::text(told.interfaces[0].traddr) == "127.0.0.1");
	CHECK(told.interfaces[0].trtype == target::tr_tcp);
	CHECK(eventually([] {
		auto services = status()["services"];
		return services[0].value("registered", false) && !services[1].contains("registered");
	}));

	// The connection is lost: the service has forgotten the host, and the first two registrations fail.
	shared->discovery().forgetHosts();
	shared->discovery().interruptRegistrations(2);
	server.dropConnections();
	CHECK(eventually([&] { return shared->discovery().registered().size() == 1; }, 20s));
	CHECK_FALSE(shared->discovery().consumeInterruption());
	daemon.end();
	CHECK(server.violations().empty());
}

// The daemon survives, and misbehaving services do not keep it from a good one.
TEST_CASE("misbehaving services do not keep nvmeofd from a good one", "[daemon][hostile]")
{
	must("modprobe nvmeof_rdma"); // for their RDMA entries; loading takes time
	SystemBus bus;
	Stage stage;
	Misbehaving others;
	std::string text = configFor({&stage.one}, "[[defaults]]\nnr-io-queues = 1");
	for (const std::string &address : others.addresses())
		text += "[[discovery]]\naddress = \"" + address + "\"\n";
	Daemon daemon(text);
	auto good = [&] {
		auto all = stage.controllers();
		return std::ranges::count_if(all, [&](const Controller &c) {
			return c.subsysnqn == stage.one.config().nqn && c.state == ControllerState::live;
		});
	};
	REQUIRE(eventually([&] { return good() == 2; }, 30s));
	target::Server three({}, stage.shared);
	CHECK(eventually([&] { return good() == 3; }, 10s));
	pause(3s);
	CHECK(daemon.process->running());
	CHECK(take(stage.host.client().controllers()).size() < 1024);
	auto services = status()["services"];
	CHECK(services.size() >= others.addresses().size() + 1);
	CHECK(std::ranges::count_if(services, [](const Json &one) { return one.contains("error"); }) > 20);
	daemon.end();
	stage.host.disconnectAll();
}

} // namespace guest::daemon
