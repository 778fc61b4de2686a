// SPDX-License-Identifier: LGPL-2.1-or-later
// Another driver's controllers and disks, in a fake sysfs
#include <catch2/catch.hpp>

#include "libctl/netlink/foreign.h"

#include "tests/unit/scratch.h"
#include "connect_plan.h"

using namespace nvmeof;

namespace {

constexpr const char *nqn = "nqn.2024-01.com.example:flash1";
constexpr const char *uuid = "uuid.12345678-9abc-4def-8123-456789abcdef";

// The sysfs of the in-tree driver as of Linux 6.12
struct Sysfs {
	Scratch root;

	void subsystem(const std::string &name, const std::string &itsNqn) const
	{
		root.write("class/nvme-subsystem/" + name + "/subsysnqn", itsNqn + "\n");
	}
	void controller(const std::string &place, const std::string &state, const std::string &type = "io") const
	{
		std::filesystem::path folder = "class/nvme-subsystem/" + place;
		root.write(folder / "state", state + "\n");
		root.write(folder / "transport", "tcp\n");
		root.write(folder / "cntrltype", type + "\n");
	}
	void disk(const std::string &name, const std::string &wwid, unsigned sequence, const std::string &nsid = "1",
		  bool hidden = false) const
	{
		std::filesystem::path folder = "block/" + name;
		root.write(folder / "wwid", wwid + "\n");
		root.write(folder / "nsid", nsid + "\n");
		root.write(folder / "diskseq", std::to_string(sequence) + "\n");
		root.write(folder / "hidden", hidden ? "1\n" : "0\n");
		root.write(folder / "device/subsysnqn", std::string(nqn) + "\n");
	}
	std::vector<std::string> controllers() const
	{
		std::vector<std::string> names;
		for (const ForeignController &one : nofctl::foreignControllers(nqn, root.path()))
			names.push_back(one.name + " " + one.transport + " " + one.state);
		return names;
	}
	std::vector<NvmeDisk> disks() const { return nofctl::nvmeDisks(root.path()); }
};

} // namespace

TEST_CASE("without another driver or sysfs the lists are empty", "[foreign]")
{
	Sysfs sys;
	CHECK(sys.controllers().empty());
	CHECK(sys.disks().empty());
	CHECK(nofctl::foreignControllers(nqn, "/nonexistent").empty());
	CHECK(nofctl::nvmeDisks("/nonexistent").empty());
}

TEST_CASE("controllers of the subsystem are found while they are live or reconnecting", "[foreign]")
{
	Sysfs sys;
	sys.subsystem("nvme-subsys0", "nqn.2024-01.com.example:flash10");
	sys.controller("nvme-subsys0/nvme0", "live");
	sys.subsystem("nvme-subsys1", nqn);
	sys.controller("nvme-subsys1/nvme1", "live");
	sys.controller("nvme-subsys1/nvme2", "connecting");
	sys.controller("nvme-subsys1/nvme3", "deleting");
	sys.controller("nvme-subsys1/nvme4", "deleting (no IO)");
	sys.controller("nvme-subsys1/nvme5", "dead");
	sys.controller("nvme-subsys1/nvme6", "live", "discovery");
	sys.controller("nvme-subsys1/nvme1n1", "live"); // a disk, not a controller
	CHECK(sys.controllers() == std::vector<std::string>{"nvme1 tcp live", "nvme2 tcp connecting"});
}

TEST_CASE("disks of all NVMe drivers are found, hidden ones excepted", "[foreign]")
{
	Sysfs sys;
	sys.disk("nvme0n1", uuid, 7, "3");
	sys.disk("nvme0c0n1", uuid, 6, "3", true);
	sys.disk("nvmeof0n1", uuid, 9);
	sys.disk("sda", uuid, 1);
	auto disks = sys.disks();
	REQUIRE(disks.size() == 2);
	CHECK(disks[0].name == "nvme0n1");
	CHECK(disks[0].wwid == uuid);
	CHECK(disks[0].nsid == 3);
	CHECK(disks[0].sequence == 7);
	CHECK(disks[0].subsysnqn == nqn);
	CHECK(disks[0].foreign);
	CHECK_FALSE(disks[1].foreign);
}

TEST_CASE("disks are the same namespace by identifier, else by NQN and NSID", "[foreign]")
{
	Sysfs sys;
	sys.disk("nvme0n1", uuid, 7, "3");
	sys.disk("nvme0n2", "eui.0011223344556677", 8);
	sys.disk("nvme1n1", "nvme.1b36-31-51-00000002", 9, "2");
	sys.disk("nvmeof0n1", uuid, 10, "1");
	sys.disk("nvmeof0n2", "nvme.1-Q-00000002", 11, "2");
	sys.disk("nvmeof0n3", "uuid.87654321-9abc-4def-8123-456789abcdef", 12, "2");
	auto disks = sys.disks();
	auto twins = [&](const char *name) {
		std::string text;
		for (const NvmeDisk &twin : foreignTwins(name, disks))
			text += twin.name + " ";
		return text;
	};
	CHECK(twins("nvmeof0n1") == "nvme0n1 ");
	CHECK(twins("nvmeof0n2") == "nvme1n1 ");
	CHECK(twins("nvmeof0n3").empty());
	CHECK(twins("nvmeof7n7").empty());
}

TEST_CASE("a subsystem held by the in-tree driver is reported, except for discovery", "[foreign][connect]")
{
	CHECK_FALSE(inTreeConflict(nqn, {}));
	std::vector<ForeignController> controllers = {{"nvme1", "tcp", "live"}, {"nvme2", "rdma", "connecting"}};
	auto held = inTreeConflict(nqn, controllers);
	REQUIRE(held);
	CHECK(*held == std::string("the in-tree NVMe driver is connected to ") + nqn +
			       ": nvme1 (tcp, live), nvme2 (rdma, connecting)");
	CHECK_FALSE(inTreeConflict(std::string(discoveryNqn), controllers));
}
