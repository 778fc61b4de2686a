// SPDX-License-Identifier: LGPL-2.1-or-later
// The NBFT that firmware leaves, here from the emulator (qemu/run --acpi; nbft_sample.cpp makes it): shown, and used to
// connect.
#include "control/control.h"
#include "support/rig.h"

#include <algorithm>

namespace guest::discovery_nbft {

namespace {

constexpr const char *bootedHost = "nqn.2024-01.io.nvmeof:booted";

// False if the guest was started without one.
bool hasTable()
{
	const bool there = exists("/sys/firmware/acpi/tables/NBFT");
	REQUIRE((there || environment("NVMEOF_ACPI", "").empty()));
	if (!there)
		WARN("not played: the firmware of this guest has left no table");
	return there;
}

} // namespace

TEST_CASE("nbft shows the subsystems that the firmware has booted from", "[nbft]")
{
	if (!hasTable())
		return;
	auto tables = json("nbft")["tables"];
	REQUIRE(tables.size() == 1);
	CHECK(tables[0]["host"]["nqn"] == bootedHost);
	CHECK(tables[0]["interfaces"][0]["address"] == "127.0.0.1");
	REQUIRE(tables[0]["subsystems"].size() == 3);
	CHECK(tables[0]["subsystems"][0]["nqn"] == testNqn);
	CHECK(tables[0]["problems"].empty());
	auto text = ctl("nbft");
	CHECK(text.status == done);
	CHECK(namesIt(text.text, "127.0.0.1:4499"));
	CHECK(status("nbft /proc/version") == usage);
	CHECK(status("nbft /nowhere") == noObject);
}

TEST_CASE("connect-nbft connects as the host of the table, is content with one path, and can be repeated", "[nbft]")
{
	if (!hasTable())
		return;
	Rig rig;
	auto plan = ctl("connect-nbft --dry-run");
	INFO(plan.text);
	CHECK(plan.status == done);
	CHECK(namesIt(plan.text, "connect tcp 127.0.0.1:4420 " + std::string(testNqn) + " from 127.0.0.1"));
	CHECK(namesIt(plan.text, "nqn.2024-01.io.nvmeof:gone: not connected: the firmware could not reach it"));
	CHECK(namesIt(plan.text, "neither its address, 192.0.2.7"));
	CHECK(take(rig.host.client().controllers()).empty());

	auto out = ctl("connect-nbft --timeout 20");
	INFO(out.text);
	CHECK(out.status == done);
	auto all = take(rig.host.client().controllers());
	auto live = std::ranges::find_if(all, [](auto &c) { return c.state == nvmeof::ControllerState::live; });
	REQUIRE(live != all.end());
	CHECK(live->hostnqn == bootedHost);
	CHECK(exists(rig.disk()));
	CHECK(all.size() == 2); // no path for the missing interface
	auto waiting = [](auto &c) { return c.trsvcid == "4499" && c.state == nvmeof::ControllerState::connecting; };
	CHECK(std::ranges::any_of(all, waiting)); // it keeps trying

	auto again = nlohmann::json::parse(must("nvmeofctl connect-nbft --timeout 20 --json 2> /dev/null"));
	CHECK(std::ranges::any_of(again["results"], [](auto &one) { return one["connected_before"] == true; }));
	CHECK(again["skipped"][0]["index"] == 3);
	CHECK(take(rig.host.client().controllers()).size() == all.size());
	rig.host.disconnectAll();
	CHECK(status("connect-nbft --timeout 20 --hostnqn nqn.2024-01.io.nvmeof:other") == done);
	for (auto &c : take(rig.host.client().controllers()))
		CHECK(c.hostnqn == "nqn.2024-01.io.nvmeof:other");
	rig.host.disconnectAll();
}

TEST_CASE("connect-nbft reports that it found no path, and removes its controllers when it is interrupted", "[nbft]")
{
	if (!hasTable())
		return;
	Host host;
	auto out = ctl("connect-nbft --timeout 2");
	INFO(out.text);
	CHECK(out.status == timedOut);
	CHECK(namesIt(out.text, "127.0.0.1:4420 " + std::string(testNqn)));
	CHECK_FALSE(take(host.client().controllers()).empty());
	host.disconnectAll();
	Background running("exec nvmeofctl connect-nbft --timeout 600");
	REQUIRE(eventually([&] { return !take(host.client().controllers()).empty(); }));
	running.interrupt();
	CHECK(running.wait(30s).status == 130);
	CHECK(take(host.client().controllers()).empty());
}

} // namespace guest::discovery_nbft
