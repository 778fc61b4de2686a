// SPDX-License-Identifier: LGPL-2.1-or-later
// Volumes as an orchestrator uses them: attached repeatedly, by several processes, detached while in use
#include "control/control.h"
#include "support/multi.h"

#include <catch2/catch.hpp>

#include <csignal>
#include <filesystem>

namespace guest::volume {

using nvmeof::ControllerState;

namespace {

struct Node : Multi {
	Node() : Multi({.lanes = 2, .namespaces = {64 << 20, 32 << 20}, .device = "", .transports = {}})
	{
		must("pidof systemd-udevd || pidof udevd || /usr/lib/systemd/systemd-udevd --daemon "
		     "--resolve-names=never");
		std::filesystem::remove_all("/run/nvmeof/volumes");
	}
	~Node() override { std::filesystem::remove_all("/run/nvmeof/volumes"); }

	std::string volume(std::uint32_t nsid) const
	{
		return " -n " + std::string(testNqn) + " --uuid " + nvmet::Subsystem::uuidFor(nsid);
	}
	std::string attach(std::uint32_t nsid)
	{
		return "volume attach" + volume(nsid) + " -t " + transport() + " -a " + lane(0).address() + " -a " +
		       lane(1).address() + " --timeout 20 --reconnect-delay 0.2";
	}
	std::string detach(std::uint32_t nsid) const { return "volume detach" + volume(nsid); }
	std::size_t controllers() { return take(host.client().controllers()).size(); }
	std::size_t live()
	{
		std::size_t count = 0;
		for (const auto &one : take(host.client().controllers()))
			count += one.state == ControllerState::live;
		return count;
	}
};

// JSON output, without stderr
nlohmann::json document(const std::string &args)
{
	return nlohmann::json::parse(must("nvmeofctl " + args + " --json 2>/dev/null"));
}

} // namespace

TEST_CASE("a volume is attached over two paths, and attaching it again changes nothing", "[volume]")
{
	Node node;
	auto first = document(node.attach(1));
	INFO(first.dump());
	CHECK(first["already"] == false);
	CHECK(first["uuid"] == nvmet::Subsystem::uuidFor(1));
	CHECK(first["paths"].size() == 2);
	CHECK(std::filesystem::canonical(first["by_id"].get<std::string>()) == first["disk"].get<std::string>());
	auto again = document(node.attach(1));
	CHECK(again["already"] == true);
	CHECK(again["disk"] == first["disk"]);
	CHECK(node.controllers() == 2);
	auto listed = document("volume list")["volumes"];
	REQUIRE(listed.size() == 1);
	CHECK(listed[0]["disk"] == first["disk"]);
	CHECK(status(node.detach(1)) == done);
	CHECK(node.controllers() == 0);
	CHECK(document(node.detach(1))["was_attached"] == false);
	CHECK(document("volume list")["volumes"].empty());
}

TEST_CASE("two volumes of a subsystem attached at the same time share its controllers", "[volume]")
{
	Node node;
	Background first("exec nvmeofctl " + node.attach(1)), second("exec nvmeofctl " + node.attach(2));
	const Output one = first.wait(scaled(30s)), two = second.wait(scaled(30s));
	INFO(one.text << two.text);
	CHECK(one.status == done);
	CHECK(two.status == done);
	CHECK(node.controllers() == 2);
	CHECK(status(node.detach(1)) == done);
	CHECK(node.live() == 2);
	// A concurrent detach must not take away the controllers of the attach.
	Background leaves("exec nvmeofctl " + node.detach(2)), comes("exec nvmeofctl " + node.attach(1));
	CHECK(leaves.wait(scaled(30s)).status == done);
	CHECK(comes.wait(scaled(30s)).status == done);
	CHECK(node.live() == 2);
	CHECK(status(node.detach(1)) == done);
	CHECK(node.controllers() == 0);
}

TEST_CASE("a dead path is reported, and joins when it returns", "[volume]")
{
	Node node;
	node.lane(1).close();
	auto out = ctl(node.attach(1));
	INFO(out.text);
	CHECK(out.status == done);
	CHECK(namesIt(out.text, node.lane(1).address() + ":4420: warning: "));
	auto again = document(node.attach(1));
	CHECK_FALSE(again["paths"][0].contains("error"));
	CHECK(again["paths"][1].contains("error"));
	node.lane(1).open();
	CHECK(eventually([&] { return node.live() == 2; }, 30s));
	CHECK(status(node.detach(1)) == done);
	CHECK(node.controllers() == 0);
}

TEST_CASE("a volume in use is not detached", "[volume]")
{
	Node node;
	const std::string disk = document(node.attach(1))["disk"];
	const auto refused = [&](const std::string &who) {
		auto out = ctl(node.detach(1));
		INFO(out.text);
		CHECK(out.status == 10);
		CHECK(namesIt(out.text, who));
		CHECK(node.live() == 2);
	};
	must("mkfs.ext4 -q " + disk + " && mkdir -p /mnt/v && mount " + disk + " /mnt/v");
	refused("mounted on /mnt/v");
	must("umount /mnt/v");
	{
		Background elsewhere("unshare -m sh -c 'mount " + disk + " /mnt/v && exec sleep 60'");
		REQUIRE(eventually([&] { return take(node.host.client().namespaces())[0].openers > 0; }));
		refused("1 opener not visible from here");
	}
	CHECK(eventually([&] { return take(node.host.client().namespaces())[0].openers == 0; }));
	must("modprobe dm-mod && dmsetup create --noudevsync above --table '0 8192 linear " + disk + " 0'");
	refused("(above)");
	must("dmsetup remove --noudevsync above");
	{
		Background program("exec sleep 60 < " + disk);
		REQUIRE(eventually([&] { return take(node.host.client().namespaces())[0].openers > 0; }));
		refused("sleep, process ");
	}
	CHECK(status(node.detach(1)) == done);
	CHECK(node.controllers() == 0);
}

TEST_CASE("detach keeps controllers with other disks in use, and those connected by hand", "[volume]")
{
	Node node;
	document(node.attach(1));
	const std::string other = node.host.disk(2);
	must("mkfs.ext4 -q " + other + " && mkdir -p /mnt/v && mount " + other + " /mnt/v");
	auto kept = document(node.detach(1));
	INFO(kept.dump());
	CHECK(kept["disconnected"].empty());
	CHECK(kept["kept_for"][0]["what"] == "/mnt/v");
	CHECK(node.live() == 2);
	must("umount /mnt/v");
	CHECK(document(node.detach(1))["disconnected"].size() == 2);
	const auto own = node.host.connect(node.options(0)); // not connected by attach
	document(node.attach(1));
	CHECK(node.controllers() == 2);
	CHECK(document(node.detach(1))["disconnected"].size() == 1);
	CHECK(node.host.state(own.name) == ControllerState::live);
}

TEST_CASE("a missing volume, and targets that never answer, fail without leftovers", "[volume]")
{
	Node node;
	CHECK(status("volume attach -n " + std::string(testNqn) + " --uuid 00000000-0000-4000-8000-00000000ffff -t " +
		     transport() + " -a " + node.lane(0).address()) == noObject);
	CHECK(node.controllers() == 0);
	CHECK(status("volume attach -n " + std::string(testNqn) + " -a " + node.lane(0).address()) == usage);
	CHECK(status("volume detach -n " + std::string(testNqn) +
		     " --nsid 1 --uuid 00000000-0000-4000-8000-00000000ffff") == usage);
	node.lane(0).link().impair("loss 100%");
	node.lane(1).link().impair("loss 100%");
	CHECK(status(node.attach(1) + " --timeout 2") != done);
	CHECK(node.controllers() == 0);
	// Killing an attach leaves controllers, which detach removes.
	Background killed("exec nvmeofctl " + node.attach(1));
	REQUIRE(eventually([&] { return node.controllers() == 2; }));
	killed.signal(SIGKILL);
	killed.wait(5s);
	CHECK(status(node.detach(1)) == done);
	CHECK(node.controllers() == 0);
	node.lane(0).repair();
	node.lane(1).repair();
}

} // namespace guest::volume
