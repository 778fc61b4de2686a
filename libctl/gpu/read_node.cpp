// SPDX-License-Identifier: LGPL-2.1-or-later
#include "node.h"

#include <algorithm>
#include <set>

#include "pci.h"
#include "tree.h"

namespace nofctl::gpu {

namespace {

constexpr std::uint64_t sectorBytes = 512; // unit of "size" in sysfs, regardless of the block size
constexpr unsigned maxLayers = 16;         // nesting limit of stacked devices

// Modules whose presence or version matters
constexpr const char *modulesOfInterest[] = {
	"nvidia", "nvidia_fs",  "nvidia_peermem", "amdgpu",      "nvme",      "nvme_core", "nvme_rdma",
	"nvmeof", "nvmeof_tcp", "nvmeof_rdma",    "nvmeof_nvfs", "mlx5_core", "mlx5_ib",   "rdma_rxe",
};

// Adds the PCI devices below an interface
void addLower(const Tree &tree, const Pci &pci, const std::string &name, std::set<std::string> &found, unsigned depth)
{
	const std::string folder = tree.target("/sys/class/net/" + name).value_or("");
	for (const auto &[address, device] : pci.devices)
		if (std::ranges::find(device.nets, name) != device.nets.end())
			found.insert(address);
	if (depth == maxLayers || folder.empty())
		return;
	const std::string lower = "lower_";
	for (const std::string &entry : tree.list(folder, lower))
		addLower(tree, pci, entry.substr(lower.size()), found, depth + 1);
}

std::map<std::string, Interface> readInterfaces(const Tree &tree, const Pci &pci)
{
	std::map<std::string, Interface> interfaces;
	for (const std::string &name : tree.list("/sys/class/net")) {
		const std::string folder = tree.target("/sys/class/net/" + name).value_or("");
		if (folder.empty())
			continue; // bonding_masters is a file
		Interface one;
		std::set<std::string> lower;
		one.name = name;
		addLower(tree, pci, name, lower, 0);
		one.pci.assign(lower.begin(), lower.end());
		one.state = tree.text(folder + "/operstate");
		one.megabits = tree.number(folder + "/speed");
		if (one.megabits && *one.megabits <= 0)
			one.megabits.reset();
		one.mtu = tree.number(folder + "/mtu");
		interfaces[name] = one;
	}
	return interfaces;
}

// "4: ACTIVE" becomes "ACTIVE"
std::string portState(const std::string &text)
{
	const std::size_t blank = text.find(' ');
	return blank == text.npos ? text : text.substr(blank + 1);
}

std::vector<RdmaDevice> readRdmas(const Tree &tree, const Pci &pci)
{
	std::vector<RdmaDevice> rdmas;
	for (const std::string &name : tree.list("/sys/class/infiniband")) {
		const std::string folder = tree.target("/sys/class/infiniband/" + name).value_or("");
		RdmaDevice one;
		one.name = name;
		for (const auto &[address, device] : pci.devices)
			if (std::ranges::find(device.rdmas, name) != device.rdmas.end())
				one.pci = address;
		one.interface = tree.text(folder + "/parent"); // only software devices have "parent"
		if (one.interface.empty())
			one.interface = tree.text(folder + "/ports/1/gid_attrs/ndevs/0");
		one.state = portState(tree.text(folder + "/ports/1/state"));
		one.layer = tree.text(folder + "/ports/1/link_layer");
		one.rate = tree.text(folder + "/ports/1/rate");
		rdmas.push_back(one);
	}
	return rdmas;
}

// Value of @key in "traddr=10.0.0.1,trsvcid=4420,host_iface=eth0"
std::string part(const std::string &address, const std::string &key)
{
	const std::string text = "," + address;
	const std::size_t at = text.find("," + key + "=");
	if (at == text.npos)
		return {};
	const std::size_t from = at + key.size() + 2;
	return text.substr(from, text.find(',', from) - from);
}

// Finds the NIC by the interface, for RDMA (RoCE) as well
void putCard(DiskPath &path, const Node &node, const Tree &tree)
{
	path.interface = interfaceOf(tree, path.hostIface, path.hostTraddr, path.traddr);
	auto interface = node.interfaces.find(path.interface);
	if (interface == node.interfaces.end() || interface->second.pci.empty())
		return;
	path.pci = interface->second.pci.front();
	path.rdmaHardware = !node.pci.find(path.pci)->rdmas.empty();
}

DiskPath readPath(const Tree &tree, const Node &node, const std::string &folder, const std::string &name)
{
	DiskPath path;
	path.name = name;
	path.controller = name.substr(0, name.rfind('n'));
	const std::string controller = tree.target("/sys/class/nvmeof/" + path.controller).value_or("");
	const std::string address = tree.text(controller + "/address");
	path.transport = tree.text(controller + "/transport");
	path.traddr = part(address, "traddr");
	path.hostTraddr = part(address, "host_traddr");
	path.hostIface = part(address, "host_iface");
	path.state = tree.text(folder + "/state");
	path.ana = tree.text(folder + "/ana_state");
	path.usable = tree.number(folder + "/usable").value_or(0) != 0;
	putCard(path, node, tree);
	return path;
}

Disk::Kind kindOf(const Tree &tree, const std::string &folder, const std::string &name)
{
	if (name.starts_with("nvmeof"))
		return Disk::Kind::head;
	if (name.starts_with("nvme"))
		return Disk::Kind::nvme;
	if (!tree.text(folder + "/dm/name").empty())
		return Disk::Kind::mapper;
	return tree.text(folder + "/md/level").empty() ? Disk::Kind::other : Disk::Kind::raid;
}

// PCI device of nvme0n1. With native multipath, nvme0 is the subsystem, and a controller's directory has nvme0c1n1
// instead.
std::string driveOf(const Tree &tree, const Pci &pci, const std::string &name)
{
	for (const auto &[address, device] : pci.devices)
		for (const std::string &controller : device.controllers) {
			const std::string folder = tree.target("/sys/class/nvme/" + controller).value_or("");
			for (const std::string &entry : tree.list(folder, "nvme")) {
				const std::size_t path = entry.find('c', 4);
				const std::string shown =
					path == entry.npos
						? entry
						: entry.substr(0, path) +
							  entry.substr(std::min(entry.find('n', path), entry.size()));
				if (shown == name)
					return address;
			}
		}
	return {};
}

// A namespace without a block device. Hidden disks of the in-tree driver, in contrast, are single paths.
bool isGenericOnly(const Tree &tree, const std::string &name)
{
	return name.starts_with("nvmeof") && tree.text("/sys/block/" + name + "/hidden") == "1";
}

Disk readDisk(const Tree &tree, const Node &node, const std::string &name)
{
	const std::string folder = tree.target("/sys/block/" + name).value_or("/sys/block/" + name);
	auto bytes = [&](const char *attribute) {
		return static_cast<unsigned>(tree.number(folder + "/queue/" + attribute).value_or(0));
	};
	Disk disk;
	disk.name = name;
	disk.kind = kindOf(tree, folder, name);
	disk.mapperName = tree.text(folder + "/dm/name");
	disk.wwid = tree.text(folder + "/wwid");
	disk.bytes = static_cast<std::uint64_t>(tree.number(folder + "/size").value_or(0)) * sectorBytes;
	disk.logical = bytes("logical_block_size");
	disk.physical = bytes("physical_block_size");
	disk.optimal = bytes("optimal_io_size");
	if (auto mask = tree.number(folder + "/queue/dma_alignment"))
		disk.dmaAlignment = static_cast<unsigned>(*mask);
	const std::string zoned = tree.text(folder + "/queue/zoned");
	disk.zoned = !zoned.empty() && zoned != "none";
	disk.members = tree.list(folder + "/slaves");
	if (disk.kind == Disk::Kind::nvme) {
		disk.pci = driveOf(tree, node.pci, name);
		disk.nativeMultipath = folder.find("/nvme-subsystem/") != folder.npos;
	}
	if (disk.kind == Disk::Kind::head) {
		if (auto peers = tree.number(folder + "/p2pdma"))
			disk.peers = *peers != 0;
		for (const std::string &path : tree.list(folder + "/paths"))
			disk.paths.push_back(readPath(tree, node, folder + "/paths/" + path, path));
	}
	return disk;
}

// Decodes octal escapes in /proc/self/mounts: "\040" is a blank
std::string unescaped(const std::string &text)
{
	std::string out;
	for (std::size_t i = 0; i < text.size(); i++) {
		const bool octal =
			text[i] == '\\' && i + 3 < text.size() && text.find_first_not_of("01234567", i + 1) > i + 3;
		out += octal ? static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 +
						 (text[i + 3] - '0'))
			     : text[i];
		i += octal ? 3 : 0;
	}
	return out;
}

std::vector<std::string> split(const std::string &text, char at)
{
	std::vector<std::string> parts;
	for (std::size_t from = 0; from <= text.size();) {
		const std::size_t end = std::min(text.find(at, from), text.size());
		parts.push_back(text.substr(from, end - from));
		from = end + 1;
	}
	return parts;
}

// For a partition such as nvme0n1p1 or sda1, returns its disk
std::string diskOf(const Node &node, const std::string &device)
{
	const Disk *disk = node.disk(device);
	if (disk)
		return disk->name;
	std::string name = baseOf(device);
	if (device != "/dev/" + name)
		return ""; // /dev/mapper/data1 is no partition of /dev/mapper/data
	constexpr const char *digits = "0123456789";
	name.erase(name.find_last_not_of(digits) + 1);
	// "p" is before the number if the name of the disk ends in a digit
	if (name.size() > 1 && name.back() == 'p' && name.find_last_of(digits) == name.size() - 2)
		name.pop_back();
	return node.disks.contains(name) ? name : "";
}

std::vector<Mount> readMounts(const Tree &tree, const Node &node)
{
	std::vector<Mount> mounts;
	for (const std::string &line : linesOf(tree.read("/proc/self/mounts").value_or(""))) {
		const std::vector<std::string> words = wordsOf(line);
		if (words.size() < 4 || !words[0].starts_with("/dev/"))
			continue;
		const std::string disk = diskOf(node, unescaped(words[0]));
		if (!disk.empty())
			mounts.push_back({disk, unescaped(words[1]), words[2], split(words[3], ',')});
	}
	return mounts;
}

void addBottom(const Node &node, const Disk &disk, std::vector<const Disk *> &found, unsigned depth)
{
	bool any = false;
	for (const std::string &member : disk.members)
		if (const Disk *below = node.disk(member); below && depth < maxLayers) {
			addBottom(node, *below, found, depth + 1);
			any = true;
		}
	if (!any)
		found.push_back(&disk);
}

} // namespace

const Disk *Node::disk(const std::string &text) const
{
	const std::string name = baseOf(text);
	if (auto found = disks.find(name); found != disks.end())
		return &found->second;
	for (const auto &[key, disk] : disks)
		if (!disk.mapperName.empty() && disk.mapperName == name)
			return &disk;
	return nullptr;
}

std::vector<const Disk *> Node::bottom(const Disk &disk) const
{
	std::vector<const Disk *> found;
	addBottom(*this, disk, found, 0);
	return found;
}

Node readNode(const Tree &tree)
{
	Node node;
	node.pci = readPci(tree);
	node.release = tree.text("/proc/sys/kernel/osrelease");
	node.commandLine = tree.text("/proc/cmdline");
	const std::string option = "CONFIG_PCI_P2PDMA";
	const std::string config = "/boot/config-" + node.release;
	if (tree.line(config, option + "=y"))
		node.p2pdmaOption = "y";
	else if (tree.line(config, "# " + option + " ") || tree.line(config, "CONFIG_PCI="))
		node.p2pdmaOption = "is not set";
	for (const char *name : modulesOfInterest) {
		const std::vector<std::string> found = tree.list("/sys/module", name);
		if (std::ranges::find(found, name) != found.end())
			node.modules[name] = tree.text(std::string("/sys/module/") + name + "/version");
	}
	node.interfaces = readInterfaces(tree, node.pci);
	node.rdmas = readRdmas(tree, node.pci);
	for (const std::string &name : tree.list("/sys/block"))
		if (!name.starts_with("loop") && !name.starts_with("ram") && !isGenericOnly(tree, name))
			node.disks[name] = readDisk(tree, node, name);
	node.mounts = readMounts(tree, node);
	node.nvidiaVersion = tree.text("/proc/driver/nvidia/version");
	node.nvidiaFsStats = tree.read("/proc/driver/nvidia-fs/stats");
	return node;
}

} // namespace nofctl::gpu
