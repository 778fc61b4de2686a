// SPDX-License-Identifier: LGPL-2.1-or-later
// nvmeof-cdc and its hosts: this driver with nvmeofd, and the in-tree driver with nvme-cli.
#include "support/host.h"
#include "support/tls.h"
#include "target/server.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <csignal>
#include <filesystem>

namespace guest::cdc {

using nvmeof::Controller;
using nvmeof::ControllerState;
using Json = nlohmann::json;

namespace {

const std::string folder = "/run/cdc-test";
const std::string address = "127.0.0.1:8009";
constexpr const char *inTree = "nvme";

std::string portOf(const target::Server &server)
{
	return std::to_string(server.port());
}

// The service. Its store survives a restart.
class Service {
public:
	explicit Service(const std::string &more)
	{
		must("rm -rf " + folder + " && mkdir -p " + folder);
		writeFile(folder + "/cdc.toml",
			  "listen = [\"" + address + "\"]\nadvertise = [\"" + address + "\"]\nweb = []\nstate = \"" +
				  folder + "/state\"\ncontrol = \"" + folder + "/control\"\n[store]\nfile = \"" +
				  folder + "/cdc.db\"\n" + more);
		start();
	}

	void start()
	{
		process_.emplace("exec nvmeof-cdc serve --config " + folder + "/cdc.toml");
		REQUIRE(eventually([this] { return run(control("status --json")).status == 0; }));
	}
	void kill()
	{
		process_->signal(SIGKILL);
		process_->wait(5s);
	}
	void end()
	{
		process_->signal(SIGTERM);
		CHECK(process_->wait(scaled(5s)).status == 0);
	}
	static std::string control(const std::string &words)
	{
		return "nvmeofctl cdc " + words + " --socket " + folder + "/control";
	}
	static Json told(const std::string &words)
	{
		auto output = run(control(words + " --json"));
		INFO(output.text);
		REQUIRE(output.status == 0);
		return Json::parse(output.text);
	}
	static void setTarget(const std::string &words) { must(control("target set " + words)); }

private:
	std::optional<Background> process_;
};

// nvmeofd, configured with this service only
class Follower {
public:
	explicit Follower(const std::string &settings = "")
	{
		writeFile(folder + "/nvmeof.toml", "[limits]\nown-addresses = true\n[[discovery]]\naddress = [\"" +
							   address + "\"]\n" + settings);
		process_.emplace("exec nvmeofd --config " + folder + "/nvmeof.toml --state " + folder +
				 "/nvmeofd --lock " + folder + "/lock");
	}
	void end()
	{
		process_->signal(SIGTERM);
		CHECK(process_->wait(scaled(5s)).status == 0);
	}

private:
	std::optional<Background> process_;
};

// Keys of this host and of the service, which has them in its directory, too
struct HostKeys {
	static inline const std::string directory = "/run/cdc-keys";
	const std::string nqn =
		trimmed(must("test -s /etc/nvme/hostnqn || { mkdir -p /etc/nvme && nvmeofctl gen-hostnqn "
			     "> /etc/nvme/hostnqn; }; nvmeofctl show-hostnqn"));
	const std::string host = fresh("host"), controller = fresh("controller"), wrong = fresh("wrong");

	HostKeys()
	{
		give(host, ".dhchap");
		give(controller, ".dhchap-ctrl");
	}
	~HostKeys() { run("rm -rf " + directory + " /run/host-keys"); }

	void give(const std::string &file, const std::string &suffix) const
	{
		const std::string to = "'" + directory + "/" + nqn + suffix + "'";
		must("mkdir -p -m 700 " + directory + " && cp " + file + " " + to + " && chmod 600 " + to);
	}
	static std::string security(const std::string &more = "")
	{
		return "[security]\nkeys = \"" + directory + "\"\n" + more;
	}

private:
	static std::string fresh(const std::string &name)
	{
		const std::string file = "/run/host-keys/" + name;
		must("mkdir -p -m 700 /run/host-keys && rm -f " + file + " && nvmeofctl key generate --output " + file);
		return file;
	}
	static std::string trimmed(std::string text)
	{
		text.erase(text.find_last_not_of('\n') + 1);
		return text;
	}
};

struct Stage {
	std::shared_ptr<target::Subsystem> shared = std::make_shared<target::Subsystem>();
	target::Server one, two;
	Host host;

	Stage() : one({}, shared), two({}, shared) {}

	std::string nqn() const { return one.config().nqn; }
	std::string tables() const
	{
		return "[[target]]\nnqn = \"" + nqn() + "\"\ntraddr = \"127.0.0.1\"\ntrsvcid = \"" + portOf(one) +
		       "\"\n";
	}
	std::string second() const { return nqn() + " -a 127.0.0.1:" + portOf(two); }
	std::size_t live()
	{
		auto all = take(host.client().controllers());
		return static_cast<std::size_t>(std::ranges::count_if(all, [](const Controller &c) {
			return c.subsysnqn != nvmeof::discoveryNqn && c.state == ControllerState::live;
		}));
	}
	bool becomes(std::size_t count, Millis timeout = 10s)
	{
		return eventually([&] { return live() == count; }, timeout);
	}
};

} // namespace

TEST_CASE("nvmeofd follows the service across restarts", "[cdc][short]")
{
	Stage stage;
	Service service(stage.tables());
	Follower follower;
	REQUIRE(stage.becomes(1));
	Service::setTarget(stage.second());
	Stopwatch came;
	CHECK(stage.becomes(2));
	CHECK(came.elapsed() < scaled(1s));
	const auto hosts = Service::told("host list");
	INFO(hosts.dump(2));
	CHECK(hosts.dump().find("nqn.2014-08.org.nvmexpress:uuid") != std::string::npos); // registered, or connected

	const auto before = Service::told("status");
	service.kill();
	CHECK(stage.live() == 2);
	service.start();
	CHECK(stage.live() == 2);
	must(Service::control("target remove " + stage.nqn() + " -a 127.0.0.1:" + portOf(stage.two)));
	CHECK(stage.becomes(1, 20s)); // nvmeofd has reconnected to the service
	CHECK(Service::told("status").at("generation").get<std::uint64_t>() >
	      before.at("generation").get<std::uint64_t>());
	service.end();
	CHECK(stage.live() == 1);
	follower.end();
}

TEST_CASE("the in-tree host discovers, connects to all, and gets events about changes", "[cdc][short]")
{
	Stage stage;
	Service service(stage.tables());
	must("modprobe nvme-tcp");
	const std::string where = " -t tcp -a 127.0.0.1 -s 8009";
	auto log = Json::parse(run(inTree + (" discover -o json" + where)).text);
	INFO(log.dump(2));
	REQUIRE(log.at("records").size() == 2);
	CHECK(log["records"][0]["subtype"] == "current discovery subsystem");
	CHECK(log["records"][1]["subnqn"] == stage.nqn());
	must(inTree + (" connect-all" + where));
	CHECK(run("nvme list-subsys").text.find(stage.nqn()) != std::string::npos);

	// The kernel keeps a persistent controller and sends its events to udev.
	must(inTree + (" discover --persistent" + where));
	Background events("exec udevadm monitor --kernel --property --subsystem-match=nvme");
	REQUIRE(eventually(
		[] { return Service::told("host list").dump().find("\"persistent\":true") != std::string::npos; }));
	Service::setTarget(stage.second());
	std::this_thread::sleep_for(scaled(1s));
	events.interrupt();
	const std::string heard = events.wait(5s).text;
	INFO(heard);
	CHECK(heard.find("NVME_AEN=0x70f002") != std::string::npos);
	must("nvme disconnect-all");
	service.end();
	must("modprobe -r nvme-tcp nvme-fabrics");
}

TEST_CASE("a host must authenticate itself to the service, which then serves it", "[cdc][auth]")
{
	Stage stage;
	const HostKeys keys;
	Service service(HostKeys::security("auth = \"required\"\n") + stage.tables());
	const std::string discover = "nvmeofctl discover -a " + address;
	auto fails = [](const std::string &command, const std::string &why) {
		const Output output = run(command);
		INFO(output.text);
		CHECK(output.status == 5); // authentication
		CHECK(output.text.find(why) != std::string::npos);
	};
	fails(discover, "requires authentication");
	fails(discover + " --dhchap-key " + keys.wrong, "refused the authentication");
	// the key of this host does not authenticate another one
	const Output other = run(discover + " --dhchap-key " + keys.host + " -q nqn.2014-08.org.nvmexpress:other");
	INFO(other.text);
	CHECK(other.status != 0);
	const std::string mutual = " --dhchap-key " + keys.host + " --dhchap-ctrl-key ";
	fails(discover + mutual + keys.wrong, "does not have the secret");
	CHECK(must(discover + mutual + keys.controller).find(stage.nqn()) != std::string::npos);
	CHECK(stage.live() == 0);
	// which gives the keys to the subsystems, too: this target asks for none
	must("nvmeofctl connect-all -a " + address + " --dhchap-key " + keys.host);
	CHECK(stage.live() == 1);
	stage.host.disconnectAll();

	Follower follower("dhchap-key = \"" + keys.host + "\"\ndhchap-ctrl-key = \"" + keys.controller + "\"\n");
	REQUIRE(stage.becomes(1));
	Service::setTarget(stage.second());
	CHECK(stage.becomes(2)); // by an event of the persistent controller
	const auto hosts = Service::told("host list");
	INFO(hosts.dump(2));
	const Json &connections = hosts.at("hosts").at(0).at("connections");
	REQUIRE(connections.size() == 1);
	CHECK(connections[0].at("authentication").dump() ==
	      R"({"dhgroup":"ffdhe2048","hash":"SHA-256","mutual":true})");
	const auto counters = Service::told("status").at("counters");
	INFO(counters.dump(2));
	CHECK(counters.at("hosts_refused_no_key") == 1);
	CHECK(counters.at("authentications_failed") >= 1);
	CHECK(counters.at("authentications") >= 3);
	follower.end();
	service.end();
}

TEST_CASE("a host speaks TLS with the service, and must use its own key", "[cdc][tls]")
{
	const TlsAgent agent;
	Stage stage;
	const HostKeys keys;
	const std::string key = newTlsKey("host"), wrong = newTlsKey("wrong");
	keys.give(key, ".tls");
	Service service(HostKeys::security("tls = \"required\"\n") + stage.tables());
	const std::string discover = "nvmeofctl discover -a " + address;
	const std::string dhchap = " --dhchap-key " + keys.host;
	// without TLS, whether it authenticates itself or not
	CHECK(run(discover).status != 0);
	CHECK(run(discover + dhchap).status != 0);
	CHECK(Service::told("status").at("counters").at("hosts_refused_plain") == 2);
	CHECK(run(discover + dhchap + " --tls-key " + wrong).status == 5);
	CHECK(run(discover + " --tls-key " + key).status == 5); // it must authenticate itself, too
	const std::string log = must(discover + dhchap + " --tls-key " + key);
	INFO(log);
	CHECK(log.find(stage.nqn()) != std::string::npos);
	CHECK(log.find("needs TLS 1.3") != std::string::npos); // the entry of the service
	// the key of another host
	const Output other = run(discover + " -q nqn.2014-08.org.nvmexpress:other --tls-key " + key);
	INFO(other.text);
	CHECK(other.status == 5);

	Follower follower("dhchap-key = \"" + keys.host + "\"\ntls-key = \"" + key + "\"\n");
	REQUIRE(stage.becomes(1));
	Service::setTarget(stage.second());
	CHECK(stage.becomes(2));
	const auto hosts = Service::told("host list");
	INFO(hosts.dump(2));
	const Json &connection = hosts.at("hosts").at(0).at("connections").at(0);
	CHECK(connection.at("tls").at("cipher") == "TLS_AES_128_GCM_SHA256");
	CHECK(connection.at("tls").at("identity").get<std::string>().starts_with("NVMe1R01 " + keys.nqn + " "));
	CHECK(connection.at("authentication").at("hash") == "SHA-256");
	follower.end();
	service.end();
	std::filesystem::remove_all("/run/keys");
}

} // namespace guest::cdc
