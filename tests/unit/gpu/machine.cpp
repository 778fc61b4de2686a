// SPDX-License-Identifier: LGPL-2.1-or-later
#include "machine.h"

#include <bit>

#include <fmt/format.h>

using namespace nofctl::gpu;

namespace {

class Space {
public:
	Space() : bytes_(4096, '\0') {}

	void put(std::size_t at, std::uint32_t value, std::size_t length)
	{
		for (std::size_t i = 0; i < length; i++)
			bytes_[at + i] = static_cast<char>(value >> (8 * i));
	}
	std::string take(std::size_t length) const { return bytes_.substr(0, length); }

private:
	std::string bytes_;
};

unsigned code(unsigned bytes) // encoding of a payload size: 128 is 0
{
	return static_cast<unsigned>(std::countr_zero(bytes)) - 7;
}

} // namespace

std::string configSpace(const DeviceSpec &spec)
{
	constexpr unsigned express = 0x40, acs = 0x100, rebar = 0x140;
	Space space;
	space.put(0x00, spec.vendor, 2);
	space.put(0x02, spec.device, 2);
	space.put(0x06, spec.express ? 0x10 : 0, 2);
	space.put(0x09, spec.classCode, 3);
	space.put(0x0e, spec.classCode == 0x060400, 1);
	space.put(0x34, express, 1);
	if (spec.express) {
		space.put(express, 0x10, 2);
		space.put(express + 2, spec.type << 4 | 2, 2);
		space.put(express + 4, code(spec.payloadMost), 4);
		space.put(express + 8,
			  code(spec.payload) << 5 | code(spec.readRequest) << 12 | (spec.relaxedOrdering ? 0x10 : 0),
			  2);
		space.put(express + 12, spec.widthMost << 4 | spec.speedMost, 4);
		space.put(express + 18, spec.width << 4 | spec.speed, 2);
	}
	if (spec.acs) {
		space.put(acs, 0x0d | 1 << 16 | (spec.rebarMost ? rebar : 0) << 20, 4);
		space.put(acs + 4, 0x7f, 2);
		space.put(acs + 6, *spec.acs, 2);
	} else if (spec.rebarMost) { // another extended capability in the list
		space.put(acs, 0x0003 | 1 << 16 | rebar << 20, 4);
	}
	if (spec.rebarMost) {
		space.put(rebar, 0x15 | 1 << 16, 4);
		space.put(rebar + 4, 1u << (4 + spec.rebarMost), 4);
		space.put(rebar + 8, 1 | 1 << 5, 4);
	}
	return space.take(spec.visible);
}

namespace spec {

DeviceSpec rootPort(int numa)
{
	return {.vendor = 0x1022, .device = 0x1483, .type = 4, .acs = 0, .numa = numa, .driver = "pcieport"};
}

DeviceSpec upstream()
{
	return {.type = 5, .driver = "pcieport"};
}

DeviceSpec downstream(std::optional<unsigned> acs)
{
	return {.type = 6, .acs = acs, .driver = "pcieport"};
}

DeviceSpec gpu(int numa)
{
	return {.vendor = 0x10de,
		.device = 0x20b0,
		.classCode = 0x030200,
		.numa = numa,
		.driver = "nvidia",
		.bar = 1ull << 36};
}

DeviceSpec card(int numa)
{
	return {.vendor = 0x15b3,
		.device = 0x101b,
		.classCode = 0x020000,
		.numa = numa,
		.driver = "mlx5_core",
		.bar = 1 << 25};
}

} // namespace spec

Machine::Machine()
{
	file("/proc/sys/kernel/osrelease", "6.12.0-test\n");
	file("/proc/cmdline", "root=/dev/sda1 iommu=pt\n");
	file("/proc/cpuinfo", "processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 25\n");
	file("/boot/config-6.12.0-test", "CONFIG_PCI=y\nCONFIG_PCI_P2PDMA=y\n");
	file("/proc/net/route", "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\n");
}

std::string Machine::root(const std::string &bus)
{
	return "/sys/devices/" + bus;
}

std::string Machine::device(const std::string &above, const std::string &address, const DeviceSpec &spec)
{
	const std::string folder = above + "/" + address;
	tree_.link("/sys/bus/pci/devices/" + address, "../../../.." + folder);
	tree_.file(folder + "/config", configSpace(spec));
	tree_.file(folder + "/numa_node", std::to_string(spec.numa) + "\n");
	std::string resource = "0x0000000000000000 0x0000000000000000 0x0000000000000000\n";
	if (spec.bar)
		resource += fmt::format("0x{:016x} 0x{:016x} 0x{:016x}\n", 1ull << 40, (1ull << 40) + spec.bar - 1,
					spec.wideBar ? 0x14220cull : 0x40200ull);
	tree_.file(folder + "/resource", resource);
	if (!spec.driver.empty())
		tree_.link(folder + "/driver", "/sys/bus/pci/drivers/" + spec.driver);
	if (!spec.iommu.empty()) {
		const std::string group = "/sys/kernel/iommu_groups/" + std::to_string(groups_++);
		tree_.link(folder + "/iommu_group", group);
		tree_.file(group + "/type", spec.iommu + "\n");
	}
	const std::string node = "/sys/devices/system/node/node" + std::to_string(spec.numa);
	const std::string cpu = std::to_string(8 * spec.numa);
	if (spec.numa >= 0) {
		tree_.file(node + "/cpulist", cpu + "-" + std::to_string(8 * spec.numa + 7) + "\n");
		tree_.file("/sys/devices/system/cpu/cpu" + cpu + "/topology/physical_package_id",
			   spec.numa < 4 ? "0\n" : "1\n");
	}
	return folder;
}

void Machine::interface(const std::string &device, const std::string &name, const std::string &state, unsigned megabits)
{
	const std::string folder = (device.empty() ? "/sys/devices/virtual" : device) + "/net/" + name;
	tree_.link("/sys/class/net/" + name, "../.." + folder.substr(4));
	tree_.file(folder + "/operstate", state + "\n");
	tree_.file(folder + "/speed", std::to_string(megabits) + "\n");
	tree_.file(folder + "/mtu", "9000\n");
}

void Machine::rdma(const std::string &device, const std::string &name, const std::string &interface)
{
	const std::string folder = (device.empty() ? "/sys/devices/virtual" : device) + "/infiniband/" + name;
	tree_.link("/sys/class/infiniband/" + name, "../.." + folder.substr(4));
	tree_.file(folder + "/ports/1/state", "4: ACTIVE\n");
	tree_.file(folder + "/ports/1/link_layer", "Ethernet\n");
	tree_.file(folder + "/ports/1/gid_attrs/ndevs/0", interface + "\n");
}

void Machine::route(const std::string &interface, const std::string &network, const std::string &mask)
{
	const std::string before = tree_.read("/proc/net/route").value_or("");
	tree_.file("/proc/net/route",
		   before + interface + "\t" + network + "\t00000000\t0001\t0\t0\t0\t" + mask + "\t0\t0\t0\n");
}

void Machine::head(const std::string &name, const std::string &wwid)
{
	const std::string folder = "/sys/devices/virtual/nvmeof-subsystem/nvmeof0/" + name;
	tree_.link("/sys/block/" + name, ".." + folder.substr(4));
	tree_.file(folder + "/wwid", wwid + "\n");
	tree_.file(folder + "/size", "2097152\n");
	tree_.file(folder + "/queue/logical_block_size", "512\n");
	tree_.file(folder + "/queue/dma_alignment", "3\n");
}

void Machine::path(const std::string &head, const std::string &controller, const std::string &transport,
		   const std::string &address)
{
	const std::string folder = "/sys/devices/virtual/nvmeof-subsystem/nvmeof0/" + head + "/paths/" + controller +
				   head.substr(head.rfind('n'));
	const std::string of = "/sys/devices/virtual/nvmeof/" + controller;
	tree_.link("/sys/class/nvmeof/" + controller, of);
	tree_.file(of + "/transport", transport + "\n");
	tree_.file(of + "/address", address + "\n");
	tree_.file(folder + "/state", "live\n");
	tree_.file(folder + "/ana_state", "optimized\n");
	tree_.file(folder + "/usable", "1\n");
}

// Four root ports with a switch each. Behind it are two more switches, with a GPU and two cards.
Machine dgxA100()
{
	struct Quarter {
		const char *root;
		int numa;
		unsigned bus;
		const char *gpus[2], *cards[2];
	};
	constexpr Quarter quarters[] = {
		{"pci0000:00", 3, 0x01, {"0000:07:00.0", "0000:0f:00.0"}, {"0000:0c:00.0", "0000:12:00.0"}},
		{"pci0000:40", 1, 0x41, {"0000:47:00.0", "0000:4e:00.0"}, {"0000:4b:00.0", "0000:54:00.0"}},
		{"pci0000:80", 7, 0x81, {"0000:87:00.0", "0000:90:00.0"}, {"0000:8d:00.0", "0000:94:00.0"}},
		{"pci0000:a0", 5, 0xb1, {"0000:b7:00.0", "0000:bd:00.0"}, {"0000:ba:00.0", "0000:cc:00.0"}},
	};
	Machine machine;
	unsigned card = 0;
	for (const Quarter &one : quarters) {
		const std::string root = machine.root(one.root), bus = std::string(one.root).substr(3) + ":";
		machine.device(root, bus + "00.0",
			       {.vendor = 0x1022, .device = 0x1480, .classCode = 0x060000, .express = false});
		const std::string port = machine.device(root, bus + "01.1", spec::rootPort(one.numa));
		const std::string top =
			machine.device(port, fmt::format("0000:{:02x}:00.0", one.bus), spec::upstream());
		for (unsigned i = 0; i < 2; i++) {
			const std::string arm = machine.device(
				top, fmt::format("0000:{:02x}:{:02x}.0", one.bus + 1, 16 * i), spec::downstream());
			const std::string low =
				machine.device(arm, fmt::format("0000:{:02x}:00.0", one.bus + 2 + i), spec::upstream());
			const std::string left = machine.device(low, fmt::format("0000:{:02x}:00.0", one.bus + 4 + i),
								spec::downstream());
			machine.device(left, one.gpus[i], spec::gpu(one.numa));
			const std::string other = machine.device(
				top, fmt::format("0000:{:02x}:{:02x}.0", one.bus + 1, 4 + 16 * i), spec::downstream());
			const std::string nic = machine.device(other, one.cards[i], spec::card(one.numa));
			machine.interface(nic, fmt::format("ens{}", card));
			machine.rdma(nic, fmt::format("mlx5_{}", card), fmt::format("ens{}", card));
			card++;
		}
	}
	return machine;
}

// Eight root complexes, each with a switch, a GPU and a card
Machine hgxH100()
{
	struct Place {
		unsigned root, upstream, gpu, card;
	};
	constexpr Place places[] = {
		{0x15, 0x16, 0x18, 0x19}, {0x26, 0x27, 0x29, 0x2a}, {0x37, 0x38, 0x3a, 0x3b}, {0x59, 0x5a, 0x5c, 0x5d},
		{0x97, 0x98, 0x9a, 0x9b}, {0xa7, 0xa8, 0xaa, 0xab}, {0xb5, 0xb6, 0xb8, 0xb9}, {0xd6, 0xd7, 0xd9, 0xda},
	};
	Machine machine;
	machine.file("/proc/cpuinfo", "vendor_id\t: GenuineIntel\ncpu family\t: 6\n");
	for (unsigned i = 0; i < std::size(places); i++) {
		const Place &one = places[i];
		const int numa = i < 4 ? 0 : 4;
		auto at = [](unsigned bus, const char *rest) { return fmt::format("0000:{:02x}:{}", bus, rest); };
		const std::string root = machine.root(fmt::format("pci0000:{:02x}", one.root));
		machine.device(
			root, at(one.root, "00.0"),
			{.vendor = 0x8086, .device = 0x09a2, .classCode = 0x088000, .express = false, .numa = numa});
		const std::string port = machine.device(root, at(one.root, "01.0"),
							{.vendor = 0x8086,
							 .device = 0x352a,
							 .type = 4,
							 .acs = 0,
							 .speed = 5,
							 .speedMost = 5,
							 .numa = numa});
		const std::string up =
			machine.device(port, at(one.upstream, "00.0"),
				       {.device = 0xc030, .type = 5, .speed = 5, .speedMost = 5, .numa = numa});
		const std::string left = machine.device(
			up, at(one.upstream + 1, "00.0"),
			{.device = 0xc030, .type = 6, .acs = 0, .speed = 5, .speedMost = 5, .numa = numa});
		const std::string right = machine.device(
			up, at(one.upstream + 1, "01.0"),
			{.device = 0xc030, .type = 6, .acs = 0, .speed = 5, .speedMost = 5, .numa = numa});
		DeviceSpec gpu = spec::gpu(numa), card = spec::card(numa);
		gpu.device = 0x2330;
		card.device = 0x1021;
		gpu.speed = gpu.speedMost = card.speed = card.speedMost = 5;
		gpu.bar = 1ull << 37;
		machine.device(left, at(one.gpu, "00.0"), gpu);
		const std::string nic = machine.device(right, at(one.card, "00.0"), card);
		machine.interface(nic, fmt::format("ibp{}", i), "up", 400000);
		machine.rdma(nic, fmt::format("mlx5_{}", i), fmt::format("ibp{}", i));
	}
	return machine;
}

Machine wrongSlots()
{
	Machine machine;
	machine.file("/proc/cpuinfo", "vendor_id\t: GenuineIntel\ncpu family\t: 6\n");
	const std::string left =
		machine.device(machine.root("pci0000:16"), "0000:16:02.0",
			       {.vendor = 0x8086, .device = 0x2030, .type = 4, .acs = 0x1d, .numa = 0});
	const std::string right =
		machine.device(machine.root("pci0000:ae"), "0000:ae:00.0",
			       {.vendor = 0x8086, .device = 0x2030, .type = 4, .acs = 0x1d, .numa = 4});
	DeviceSpec gpu = spec::gpu(0);
	gpu.width = 8;
	gpu.iommu = "DMA-FQ";
	gpu.rebarMost = 15;
	gpu.bar = 1 << 28;
	gpu.relaxedOrdering = false;
	machine.device(left, "0000:17:00.0", gpu);
	const std::string nic = machine.device(right, "0000:af:00.0", spec::card(4));
	machine.interface(nic, "ens2", "down");
	return machine;
}

Machine virtualMachine()
{
	Machine machine;
	machine.file("/boot/config-6.12.0-test", "CONFIG_PCI=y\n# CONFIG_PCI_P2PDMA is not set\n");
	machine.file("/proc/cpuinfo", "vendor_id\t: GenuineIntel\ncpu family\t: 6\n");
	const std::string root = machine.root("pci0000:00");
	machine.device(root, "0000:00:00.0",
		       {.vendor = 0x8086, .device = 0x29c0, .classCode = 0x060000, .express = false, .numa = -1});
	DeviceSpec gpu = spec::gpu(-1);
	gpu.type = 9; // integrated into the root complex, as in emulated machines
	gpu.speed = gpu.width = gpu.speedMost = gpu.widthMost = 0;
	machine.device(root, "0000:00:05.0", gpu);
	const std::string nic = machine.device(root, "0000:00:06.0",
					       {.vendor = 0x1af4,
						.device = 0x1041,
						.classCode = 0x020000,
						.express = false,
						.numa = -1,
						.driver = "virtio-pci"});
	machine.interface(nic + "/virtio1", "eth0", "up", 0);
	return machine;
}
