// SPDX-License-Identifier: LGPL-2.1-or-later
// connect-all and the configuration, with discovery services of the kernel's target and of the scriptable one.
#include "control/control.h"
#include "misbehaving.h"
#include "support/host.h"
#include "support/loop.h"
#include "support/netns.h"
#include "support/nvmet.h"
#include "target/acts.h"
#include "target/discovery.h"
#include "target/server.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <fstream>
#include <memory>
#include <set>
#include <vector>

namespace guest::discovery {

namespace {

// Several subsystems of the kernel's target, each on all of the ports
struct Fabric {
	std::vector<std::unique_ptr<Loop>> backing;
	std::vector<std::unique_ptr<nvmet::Subsystem>> subsystems;
	std::vector<std::unique_ptr<nvmet::Port>> ports;
	Host host;

	Fabric(unsigned count, unsigned portCount)
	{
		for (unsigned i = 0; i < portCount; i++)
			ports.push_back(std::make_unique<nvmet::Port>(i + 1, "127.0.0.1", 4420 + i));
		for (unsigned i = 0; i < count; i++) {
			backing.push_back(std::make_unique<Loop>(4 << 20));
			subsystems.push_back(std::make_unique<nvmet::Subsystem>(nqn(i)));
			subsystems.back()->addNamespace(1, backing.back()->device());
			for (auto &port : ports)
				port->link(*subsystems.back());
		}
	}
	~Fabric() // ports link the subsystems
	{
		host.disconnectAll();
		ports.clear();
	}
	static std::string nqn(unsigned i) { return "nqn.2024-01.io.nvmeof:disk" + std::to_string(i); }
	std::size_t live()
	{
		auto all = take(host.client().controllers());
		return static_cast<std::size_t>(std::ranges::count_if(
			all, [](auto &one) { return one.state == nvmeof::ControllerState::live; }));
	}
};

// A discovery service of the scriptable target
struct Service {
	target::Server server;
	target::Discovery &discovery = server.subsystem().discovery();

	explicit Service(target::Config config = {}) : server(std::move(config)) {}
	~Service()
	{
		for (auto &text : server.violations())
			FAIL_CHECK("the host broke the protocol: " << text);
	}
	std::string address() const { return server.config().address + ":" + std::to_string(server.port()); }
};

void write(const std::string &file, const std::string &text)
{
	std::ofstream(file) << text;
}

std::size_t countOf(Host &host)
{
	return take(host.client().controllers()).size();
}

target::DiscoveryEntry nvm(const std::string &nqn, const std::string &traddr, unsigned port)
{
	return makeEntry(target::sub_nvm, nqn, traddr, static_cast<std::uint16_t>(port));
}

} // namespace

TEST_CASE("connect-all connects each subsystem that the services report once", "[discovery][short]")
{
	Fabric fabric(3, 2);
	const std::string both = " -a 127.0.0.1:4420 -a 127.0.0.1:4421";
	auto planned = ctl("connect-all --dry-run" + both);
	CHECK(planned.status == done);
	CHECK(namesIt(planned.text, "connect tcp 127.0.0.1:4421 " + Fabric::nqn(2)));
	CHECK(countOf(fabric.host) == 0);
	auto out = ctl("connect-all" + both);
	INFO(out.text);
	CHECK(out.status == done);
	CHECK(fabric.live() == 6);
	CHECK(countOf(fabric.host) == 6); // no discovery controller stays
	for (unsigned i = 0; i < 3; i++) {
		CHECK(namesIt(out.text, Fabric::nqn(i) + " live\n"));
		CHECK(fabric.host.disk(1, 1s, Fabric::nqn(i)).starts_with("/dev/nvmeof"));
	}
	auto again = ctl("connect-all" + both);
	CHECK(again.status == done);
	CHECK(namesIt(again.text, "live, connected before\n"));
	CHECK(status("connect-all --idempotent" + both) == done);
	CHECK(countOf(fabric.host) == 6);
	auto shown = json("connect-all" + both);
	CHECK(shown["results"].size() == 6);
	CHECK(shown["services"][0]["state"] == "told");
	CHECK(namesIt(ctl("connect-all --dry-run" + both).text, "keep tcp 127.0.0.1:4420"));
	for (const std::string option : {"-n nqn.a", "-t rdma", "-s 8009"})
		CHECK(status("connect-all " + option) == usage);

	auto all = take(fabric.host.client().controllers());
	auto other = std::ranges::find_if(all, [](auto &c) { return c.subsysnqn == Fabric::nqn(0); });
	REQUIRE(other != all.end());
	auto left = json("disconnect-all --dry-run --except " + other->name);
	CHECK(left["would_disconnect"].size() == 5);
	REQUIRE(left["kept"].size() == 1);
	CHECK(left["kept"][0]["controller"] == other->name);
	CHECK(left["kept"][0]["nqn"] == other->subsysnqn);
	CHECK(left["kept"][0]["reason"] == "except");
	CHECK(countOf(fabric.host) == 6);
	auto some = ctl("disconnect-all --except '*disk1' --except " + other->name);
	CHECK(some.status == done);
	CHECK(namesIt(some.text, other->name + " stays connected: excluded by --except\n"));
	CHECK(countOf(fabric.host) == 3);
	CHECK(status("disconnect-all") == done);
	CHECK(countOf(fabric.host) == 0);
}

TEST_CASE("connect-all applies the configuration", "[discovery][config]")
{
	Fabric fabric(3, 2);
	must("rm -rf /tmp/conf && mkdir -p /tmp/conf/c.d");
	write("/tmp/conf/c.toml", "[[discovery]]\naddress = \"127.0.0.1\"\nport = 4420\n"
				  "[[connection]]\nnqn = \"" +
					  Fabric::nqn(1) +
					  "\"\naddress = \"127.0.0.1:4421\"\n"
					  "ctrl-loss-tmo = -1\n"
					  "[[defaults]]\nnr-io-queues = 1\niopolicy = \"round-robin\"\n");
	write("/tmp/conf/c.d/10.toml", "[[exclude]]\nnqn = \"*disk2\"\n");
	const std::string with = " --config /tmp/conf/c.toml";
	CHECK(status("config check" + with) == done);
	CHECK(namesIt(ctl("config show" + with).text, "[[exclude]]\nnqn = \"*disk2\"\n"));
	auto out = ctl("connect-all" + with);
	INFO(out.text);
	CHECK(out.status == done);
	CHECK(namesIt(out.text, "not connected: excluded by /tmp/conf/c.d/10.toml:1"));
	auto all = take(fabric.host.client().controllers());
	CHECK(all.size() == 3); // two reported by one port, and the configured one
	for (auto &one : all) {
		CHECK(one.subsysnqn != Fabric::nqn(2));
		CHECK(one.ioQueues == 1);
		CHECK((one.ctrlLoss < 0ms) == (one.trsvcid == "4421"));
	}
	for (auto &one : take(fabric.host.client().subsystems()))
		CHECK(one.iopolicy == "round-robin");
	write("/tmp/conf/c.d/20.toml", "[[discovery]]\naddres = \"127.0.0.1\"\n");
	auto wrong = ctl("connect-all" + with);
	CHECK(wrong.status == usage);
	CHECK(namesIt(wrong.text, "/tmp/conf/c.d/20.toml:1: address is missing; and 1 more"));
	wrong = ctl("config check" + with);
	CHECK(wrong.status == usage);
	CHECK(namesIt(wrong.text, "20.toml:2: there is no key 'addres' here; did you mean 'address'?"));
	CHECK(status("connect-all --config /tmp/conf/absent.toml") == noObject);
	CHECK(status("connect-all") == usage); // nothing is configured
}

TEST_CASE("referrals are followed once, even in circles", "[discovery]")
{
	target::Config other;
	other.nqn = "nqn.2024-01.io.nvmeof:second";
	Service first, second(other);
	Host host;
	first.discovery.refer("127.0.0.1", second.server.port());
	first.discovery.refer("127.0.0.1", first.server.port());
	second.discovery.refer("127.0.0.1", first.server.port());
	const auto shown = json("connect-all -a " + first.address());
	CHECK(shown["services"].size() == 2);
	CHECK(shown["services"][1]["source"] == first.address());
	CHECK(shown["services"][1]["told_by"] == first.address()); // the old name
	CHECK(shown["results"].size() == 2);
	CHECK(first.server.counters().discoveryConnects == 1);
	CHECK(second.server.counters().discoveryConnects == 1);
	CHECK(countOf(host) == 2);
	CHECK(status("connect-all --persistent -a " + first.address()) == done);
	CHECK(countOf(host) == 4); // now including the services
}

TEST_CASE("a flood of referrals is bounded and reported", "[discovery][hostile]")
{
	Service service;
	Host host;
	for (int i = 0; i < 10000; i++)
		service.discovery.refer("127.0." + std::to_string(1 + i / 250) + "." + std::to_string(i % 250 + 1), 9);
	Stopwatch watch;
	auto out = ctl("connect-all -a " + service.address());
	CHECK(out.status == failed); // 64 of them do not answer
	CHECK(namesIt(out.text,
		      "9936 more entries: not connected: the limit for a configured service is 64 referrals"));
	CHECK(watch.elapsed() < scaled(20s));
	CHECK(countOf(host) == 1); // the subsystem of the service itself
}

TEST_CASE("too many addresses, invalid names and addresses of this host are not connected", "[discovery][hostile]")
{
	Netns netns("far");
	Link link(netns, "far", 7);
	std::unique_ptr<Service> service;
	{
		InNetns inside(netns.name());
		target::Config config;
		config.address = link.targetAddress();
		service = std::make_unique<Service>(config);
	}
	Host host;
	std::vector<target::DiscoveryEntry> entries;
	for (unsigned i = 0; i < 1000; i++)
		entries.push_back(nvm("nqn.2024-01.io.nvmeof:many", link.targetAddress(), 20000 + i));
	entries.push_back(nvm("nqn.bad\x1b[2Jname", link.targetAddress(), 5000));
	entries.push_back(nvm("nqn.2024-01.io.nvmeof:own", "127.0.0.1", 22));
	entries.push_back(nvm("nqn.2024-01.io.nvmeof:own", link.hostAddress(), 22));
	service->discovery.add(entries);
	Stopwatch watch;
	auto out = ctl("connect-all -a " + service->address());
	INFO(out.text.substr(0, 3000));
	CHECK(out.status == failed);
	CHECK(namesIt(out.text,
		      "936 more entries: not connected: the limit for nqn.2024-01.io.nvmeof:many is 64 addresses"));
	CHECK(namesIt(out.text, "tcp 127.0.0.1:22 nqn.2024-01.io.nvmeof:own: not connected: it is an address of this "
				"host, reported by another host"));
	CHECK(namesIt(out.text, link.hostAddress() + ":22 nqn.2024-01.io.nvmeof:own: not connected: it is an"));
	CHECK(out.text.find('\x1b') == std::string::npos);
	CHECK(watch.elapsed() < scaled(20s));
	CHECK(countOf(host) == 1);
}

TEST_CASE("misbehaving services do not keep connect-all from a good one", "[discovery][hostile]")
{
	must("modprobe nvmeof_rdma"); // for their RDMA entries; loading takes time
	Misbehaving others;
	Service service;
	Host host;
	std::string line = "connect-all -i 1 --timeout 5 -a " + service.address();
	for (const std::string &address : others.addresses())
		line += " -a " + address;
	Stopwatch watch;
	auto out = ctl(line);
	INFO(out.text);
	CHECK((out.status == failed || out.status == timedOut));
	CHECK(watch.elapsed() < scaled(15s));
	CHECK(namesIt(out.text, service.server.config().nqn + " live\n"));
	CHECK(countOf(host) < 1024);
	host.disconnectAll();
}

TEST_CASE("a target that does not answer is reported after the timeout; the others are connected", "[discovery]")
{
	Netns netns("silent");
	Link link(netns, "silent", 8);
	Service service;
	Host host;
	link.impair("loss 100%");
	service.discovery.add({nvm("nqn.2024-01.io.nvmeof:silent", link.targetAddress(), 4420)});
	auto out = ctl("connect-all --timeout 2 -a " + service.address());
	INFO(out.text);
	CHECK(out.status == timedOut);
	CHECK(namesIt(out.text, " live\n"));
	CHECK(namesIt(out.text, "nqn.2024-01.io.nvmeof:silent"));
	CHECK(status("disconnect-all") == done);
	// A service that does not answer does not delay one that does.
	out = ctl("connect-all --timeout 2 -a " + link.targetAddress() + " -a " + service.address());
	INFO(out.text);
	CHECK((out.status == timedOut || out.status == failed)); // ARP may report the silent one as unreachable
	CHECK(namesIt(out.text, " live\n"));
}

TEST_CASE("an interrupted connect-all leaves only live controllers", "[discovery]")
{
	Netns netns("silent");
	Link link(netns, "silent", 8);
	Service service;
	Host host;
	link.impair("loss 100%");
	std::vector<target::DiscoveryEntry> entries;
	for (unsigned i = 0; i < 20; i++)
		entries.push_back(nvm("nqn.2024-01.io.nvmeof:silent", link.targetAddress(), 4420 + i));
	service.discovery.add(entries);
	Background command("exec nvmeofctl connect-all --connect-tmo 60 -a " + service.address() + " -a " +
			   link.targetAddress());
	REQUIRE(eventually([&] { return countOf(host) == 22; }));
	command.interrupt();
	CHECK(command.wait(10s).status == 128 + 2);
	auto left = take(host.client().controllers());
	CHECK(left.size() <= 1); // one connect may have succeeded before
	for (auto &one : left)
		CHECK(one.state == nvmeof::ControllerState::live);
}

} // namespace guest::discovery
