// SPDX-License-Identifier: LGPL-2.1-or-later
// Fake machines: a tree of files with PCI devices, whose configuration space is composed from its fields.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "libctl/gpu/node.h"
#include "libctl/gpu/tree.h"

struct DeviceSpec {
	unsigned vendor = 0x1000, device = 0xc010;
	unsigned classCode = 0x060400; // bridge
	unsigned type = 0; // of the PCI Express capability: 0 endpoint, 4 root port, 5 upstream, 6 downstream
	bool express = true;
	std::optional<unsigned> acs = std::nullopt; // ACS control; unset: no such capability
	unsigned payload = 256, payloadMost = 256, readRequest = 512;
	bool relaxedOrdering = true;
	unsigned speed = 4, width = 16, speedMost = 4, widthMost = 16;
	int numa = 0;
	std::string driver = "";
	std::string iommu = ""; // type of the IOMMU group; empty: none
	std::uint64_t bar = 0;  // size of BAR 1 in bytes; 0: none
	bool wideBar = true;
	unsigned rebarMost = 0; // largest offered size as log2 of MiB; 0: not resizable
	std::size_t visible = 4096;
};

namespace spec {

DeviceSpec rootPort(int numa);
DeviceSpec upstream();
DeviceSpec downstream(std::optional<unsigned> acs = 0);
DeviceSpec gpu(int numa);  // A100
DeviceSpec card(int numa); // ConnectX-6

} // namespace spec

class Machine {
public:
	Machine();

	// Returns the directory of a root complex such as "pci0000:00".
	std::string root(const std::string &bus);
	// Adds a device below the directory @above, and returns its directory.
	std::string device(const std::string &above, const std::string &address, const DeviceSpec &spec);
	// Adds a network interface or an RDMA device to a device. The device of an interface may be none ("").
	void interface(const std::string &device, const std::string &name, const std::string &state = "up",
		       unsigned megabits = 200000);
	void rdma(const std::string &device, const std::string &name, const std::string &interface = "");
	void route(const std::string &interface, const std::string &network, const std::string &mask); // as in /proc
	void file(const std::string &path, const std::string &content) { tree_.file(path, content); }
	// A disk of this driver, and a path of it
	void head(const std::string &name, const std::string &wwid);
	void path(const std::string &head, const std::string &controller, const std::string &transport,
		  const std::string &address);

	const nofctl::gpu::MemoryTree &tree() const { return tree_; }
	nofctl::gpu::Node node() const { return nofctl::gpu::readNode(tree_); }

private:
	nofctl::gpu::MemoryTree tree_;
	unsigned groups_ = 0;
};

std::string configSpace(const DeviceSpec &spec);

/*
 * Machines after published descriptions of real ones, with their bus numbers where these are published. The rest (ACS,
 * IOMMU, windows) is as a vendor ships it.
 */
Machine dgxA100();    // rapidsai/ucx-py#749 (nvidia-smi topo), NVIDIA/nccl#1505 (addresses, vendors)
Machine hgxH100();    // NVIDIA/nccl#1264 (nvidia-smi topo), aliyun/SimAI#128 (addresses, vendors)
Machine wrongSlots(); // two sockets, the GPU at one of them and the card at the other
Machine virtualMachine();
