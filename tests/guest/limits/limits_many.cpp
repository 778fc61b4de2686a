// SPDX-License-Identifier: LGPL-2.1-or-later
// Large numbers: controllers that are deleted at once, and more than 1,000 namespaces.
#include "support/block.h"
#include "support/fio.h"
#include "support/ports.h"
#include "support/probe.h"
#include "support/rig.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <regex>
#include <thread>
#include <utility>

namespace guest::limits_many {

using nvmeof::ControllerState;

namespace {

void tell(const std::string &what, Millis time)
{
	std::printf("%s: %ld ms\n", what.c_str(), static_cast<long>(time.count()));
	std::fflush(stdout);
}

std::vector<std::string> connectMany(Rig &rig, int count)
{
	auto o = rig.options();
	o.duplicateConnect = true;
	o.ioQueues = 1;
	std::vector<std::string> names;
	for (auto &c : rig.host.client().connectAll(std::vector(static_cast<std::size_t>(count), o),
						    nvmeof::WaitFor::namespaces, scaled(60s)))
		names.push_back(take(c).name);
	return names;
}

// Disconnects with one process for each, all at once. Returns how many failed.
int disconnectEach(const std::vector<std::string> &names)
{
	std::string script = "pids=; bad=0\n";
	for (auto &name : names)
		script += "nvmeofctl disconnect --force -d " + name + " > /dev/null 2>&1 & pids=\"$pids $!\"\n";
	return std::stoi(must(script + "for p in $pids; do wait $p || bad=$((bad + 1)); done; echo $bad"));
}

} // namespace

TEST_CASE("50 controllers are deleted at once", "[limits][many][delete]")
{
	Rig rig;
	auto names = connectMany(rig, 50);
	REQUIRE(rig.host.nameSpace(1)->paths == 50);
	auto disk = rig.disk();
	FioLoad load({.file = disk, .verify = false, .seconds = 60});
	REQUIRE(eventually([&] { return rig.host.busy() > 0; }));
	Stopwatch watch;
	SECTION("by one call, under load")
	{
		CHECK(run("nvmeofctl disconnect --all --force").status == 0);
		tell("50 controllers disconnected by one call", watch.elapsed());
	}
	SECTION("by 50 calls at the same time, under load")
	{
		CHECK(disconnectEach(names) == 0);
		tell("50 controllers disconnected by 50 calls", watch.elapsed());
	}
	SECTION("by one call, while all of them reconnect and I/O waits")
	{
		rig.port.unlink(rig.subsystem);
		for (auto &name : names)
			REQUIRE(rig.host.waitState(name, ControllerState::connecting));
		watch = {};
		CHECK(run("nvmeofctl disconnect --all --force").status == 0);
		tell("50 reconnecting controllers disconnected", watch.elapsed());
	}
	SECTION("by 60 calls, 10 of them repeated, while every third controller is reset")
	{
		for (std::size_t i = 0; i < names.size(); i += 3)
			(void)rig.host.client().reset(names[i]);
		auto twice = names;
		twice.insert(twice.end(), names.begin(), names.begin() + 10);
		watch = {};
		CHECK(disconnectEach(twice) <= 10); // a repeated call may find it gone
		tell("50 controllers disconnected amid resets", watch.elapsed());
	}
	CHECK(watch.elapsed() < scaled(20s));
	CHECK(take(rig.host.client().controllers()).empty());
	CHECK(take(rig.host.client().subsystems()).empty());
	CHECK_FALSE(exists(disk));
	CHECK(load.wait(20s).status > 0);
}

namespace {

constexpr std::uint32_t thousand = 1040; // more than the 1,024 of one active namespace list
constexpr std::uint64_t small = 64 << 10;

class ManyNamespaces {
public:
	target::Server server;
	Host host;

	ManyNamespaces() : server(reachable(config()))
	{
		for (std::uint32_t nsid = 1; nsid <= thousand; nsid++)
			server.stores().add(nsid, small);
	}
	~ManyNamespaces()
	{
		for (auto &text : server.violations())
			FAIL_CHECK("the host broke the protocol: " << text);
	}

	nvmeof::Controller connect()
	{
		auto o = Host::options(here(), std::to_string(server.port()), server.config().nqn);
		o.duplicateConnect = true;
		return host.connect(o, 120s);
	}
	std::size_t count() { return take(host.client().namespaces()).size(); }
	std::string disk(std::uint32_t nsid) { return host.disk(nsid, 20s, server.config().nqn); }

private:
	static target::Config config()
	{
		target::Config c;
		c.namespaces = 2 * thousand;
		return c;
	}
};

std::size_t nodes()
{
	static const std::regex disk("nvmeof[0-9]+n[0-9]+");
	std::size_t count = 0;
	for (auto &entry : std::filesystem::directory_iterator("/dev"))
		count += std::regex_match(entry.path().filename().string(), disk);
	return count;
}

// Waits until the partition tables of all disks have been read.
bool settled(ManyNamespaces &all)
{
	auto ios = [&] {
		std::uint64_t sum = 0;
		for (auto &p : all.host.paths())
			sum += p.ios;
		return sum;
	};
	std::uint64_t before = 0;
	return eventually(
		[&] {
			std::this_thread::sleep_for(500ms);
			auto last = std::exchange(before, ios());
			return before == last && all.host.busy() == 0;
		},
		60s);
}

// Writes different data to ten of them, far apart, and compares all with the target.
void useTen(ManyNamespaces &all)
{
	std::vector<std::uint32_t> ids;
	for (std::uint32_t nsid = 1; ids.size() < 10; nsid += 102) // odd and even
		ids.push_back(nsid);
	for (auto nsid : ids) {
		Disk disk(all.disk(nsid));
		CHECK(disk.verified(0, small, nsid) == 0);
	}
	for (auto nsid : ids) {
		Buffer wanted(small);
		wanted.fill(nsid);
		auto is = all.server.stores().find(nsid)->peek(0, small);
		CHECK(std::equal(is.begin(), is.end(), wanted.data()));
	}
}

} // namespace

TEST_CASE("more than 1,000 namespaces, of which 500 are removed at once", "[limits][many][namespaces][long]")
{
	ManyNamespaces all;
	Stopwatch watch;
	auto c = all.connect();
	tell("1,040 namespaces: connected and scanned", watch.elapsed());
	CHECK(all.count() == thousand);
	CHECK(eventually([] { return nodes() == thousand; }));
	CHECK(settled(all));
	tell("1,040 namespaces: and partition tables read", watch.elapsed());

	watch = {};
	auto list = nlohmann::json::parse(must("nvmeofctl list --json"));
	tell("1,040 namespaces: list", watch.elapsed());
	CHECK(list.dump().find("n" + std::to_string(thousand) + "\"") != std::string::npos);
	auto text = must("nvmeofctl list");
	CHECK(std::count(text.begin(), text.end(), '\n') > static_cast<long>(thousand));

	watch = {};
	CHECK(all.host.client().rescan(c.name).ok());
	tell("1,040 namespaces: rescan", watch.elapsed());
	useTen(all);

	watch = {};
	all.connect();
	tell("1,040 namespaces: a second path to each", watch.elapsed());
	CHECK(all.host.paths().size() == 2 * thousand);
	useTen(all);

	Probe probe(all.disk(1), {.blockSize = 4096, .blocks = 16});
	watch = {};
	for (std::uint32_t nsid = 2; nsid <= 1000; nsid += 2)
		all.server.stores().remove(nsid);
	all.server.namespacesChanged();
	bool whole = true; // the remaining ones are in each list
	CHECK(eventually(
		[&] {
			auto list = take(all.host.client().namespaces());
			whole &= std::ranges::count_if(list, [](auto &n) { return n.nsid > 1000 || n.nsid % 2; }) ==
				 thousand - 500;
			auto paths = take(all.host.client().paths());
			whole &= std::ranges::count_if(paths, [](auto &p) { return p.nsid > 1000 || p.nsid % 2; }) ==
				 2 * (thousand - 500);
			return list.size() == thousand - 500;
		},
		150s));
	CHECK(whole);
	CHECK(eventually([] { return nodes() == thousand - 500; }));
	tell("500 of them gone, from two paths", watch.elapsed());
	CHECK(probe.moves());
	probe.stop();
	CHECK(probe.error() == 0);
	CHECK(all.host.state(c.name) == ControllerState::live);
	CHECK(all.host.paths().size() == 2 * (thousand - 500));

	for (std::uint32_t nsid = 2; nsid <= 20; nsid += 2) // some return
		all.server.stores().add(nsid, small);
	all.server.namespacesChanged();
	CHECK(eventually([&] { return all.count() == thousand - 490; }, 60s));
	{
		Disk back(all.disk(20));
		CHECK(back.verified(0, small, 20) == 0);
	}
	watch = {};
	all.host.disconnectAll();
	tell("550 namespaces with two paths each: disconnected", watch.elapsed());
	CHECK(all.count() == 0);
	CHECK(nodes() == 0);
}

} // namespace guest::limits_many
