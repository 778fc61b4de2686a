// SPDX-License-Identifier: LGPL-2.1-or-later
// Ghost writes with the in-tree driver. Not run by ctest, because it does not test this driver: the benchmark compares
// the result with that of fencing=immediate.
#include "support/stalled_writes.h"

namespace guest::ghost_intree {

namespace {

std::vector<target::Config> configs()
{
	target::Config config;
	config.ana = true;
	// As in fencing.cpp: the controller may execute writes as late as the specification allows.
	config.kas = 1;
	config.quiesce = 200;
	config.lateExpiry = true;
	return {config, config};
}

// The in-tree driver on the same two ports, by `nvme connect`. Needs a host NQN in /etc/nvme.
class InTree {
public:
	Ports ports;

	explicit InTree(unsigned keepAlive) : ports(configs())
	{
		ports[1].setAnaState(1, target::ana_non_optimized);
		for (std::size_t i : {0, 1})
			must("nvme connect -t tcp -a 127.0.0.1 -k " + std::to_string(keepAlive) + " -i 2 -c 1 -s " +
			     std::to_string(ports[i].port()) + " -n " + nqn());
		REQUIRE(both());
		auto node = must("cd " + subsystem() + " && echo nvme*n1");
		disk = std::make_shared<Disk>("/dev/" + node.substr(0, node.find('\n')));
	}
	~InTree()
	{
		disk.reset();
		run("nvme disconnect -n " + nqn());
	}

	std::shared_ptr<Disk> disk;

	// Waits until both controllers are live and the ANA states of their paths are known.
	bool both()
	{
		auto text = "cd " + subsystem() + " && [ $(cat nvme*/state | grep -cx live) = 2 ] && " +
			    "[ \"$(cat nvme*/nvme*c*n1/ana_state | sort | xargs)\" = 'non-optimized optimized' ]";
		bool good = eventually([&] { return run(text).status == 0; }, 20s);
		std::this_thread::sleep_for(200ms); // until the driver uses the better path
		return good;
	}

private:
	std::string nqn() { return ports[0].config().nqn; }
	std::string subsystem()
	{
		auto line = must("dirname $(grep -lx '" + nqn() + "' /sys/class/nvme-subsystem/*/subsysnqn)");
		return line.substr(0, line.find('\n'));
	}
};

// Number of rounds in which a late write has overwritten newer data
unsigned lateWrites(InTree &scene, const char *how, Millis within, unsigned count)
{
	unsigned overwritten = 0;
	for (unsigned round = 0; round < count; round++) {
		INFO("round " << round);
		auto pending = stallOn(scene.ports, scene.disk, place(round), 1000 + round, how);
		REQUIRE(pending.join(within));
		CHECK(pending.status() == 0);
		REQUIRE(writeTo(*scene.disk, place(round), 2000 + round) == 0);
		scene.ports.stalledWrites().execute();
		overwritten += scene.ports.stored(place(round), length, 1000 + round) ? 1 : 0;
		REQUIRE(scene.both());
	}
	return overwritten;
}

} // namespace

TEST_CASE("the in-tree driver: a late write can overwrite newer data", "[intree]")
{
	InTree scene(4);
	auto count = rounds("NVMEOF_FENCING_IMMEDIATE", 5);
	record("immediate", "intree", lateWrites(scene, "write-stalled-then-rst", 8s, count), count);
}

TEST_CASE("the in-tree driver: a late write after silence", "[intree][silent]")
{
	InTree scene(2);
	auto count = rounds("NVMEOF_FENCING_AUTO", 3);
	record("default", "intree", lateWrites(scene, "write-stalled-silent", scaled(20s), count), count);
}

} // namespace guest::ghost_intree
