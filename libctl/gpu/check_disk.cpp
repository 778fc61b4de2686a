// SPDX-License-Identifier: LGPL-2.1-or-later
// Checks of a disk: its paths, stacked devices and mounts.
#include "finding.h"

#include <algorithm>

#include <fmt/format.h>

namespace nofctl::gpu {

namespace {

constexpr unsigned directAlignment = 4096; // bytes; alignment that cuFile and hipFile use
constexpr const char *backing = "AMD hipFile documentation, Troubleshooting: Backing Storage; "
				"NVIDIA GPUDirect Storage Troubleshooting Guide, supported file systems";
constexpr const char *stacking = "Linux 6.12, include/linux/blkdev.h: BLK_FEAT_INHERIT_MASK; "
				 "NVIDIA GDS Support for NVMe: RAID0 over NVMe-oF";
constexpr const char *multipath =
	"NVIDIA GPUDirect Storage Troubleshooting Guide, NVMe P2PDMA; AMD hipFile, NVMe multipath";
constexpr const char *alignment = "NVIDIA cuFile API Reference Guide, O_DIRECT requirements";

// Why the path cannot transfer GPU pages; empty: it can
std::string spoiler(const DiskPath &path)
{
	if (path.transport == "tcp")
		return "TCP copies data with the CPU";
	if (path.transport != "rdma")
		return "transport " + path.transport;
	if (path.pci.empty())
		return "its NIC is unknown, or a software device";
	return path.rdmaHardware ? "" : "software RDMA copies data with the CPU";
}

void checkPaths(Findings &findings, const Disk &disk)
{
	for (const DiskPath &path : disk.paths) {
		const std::string why = spoiler(path);
		const std::string over = path.interface.empty() ? path.traddr : path.traddr + " by " + path.interface;
		if (!why.empty())
			findings.push_back(
				{Level::fail, "path", path.name, fmt::format("{} {}: {}", path.transport, over, why),
				 "connect over an RDMA NIC; the disk accepts GPU pages if all of its paths do",
				 "path-" + (path.transport == "tcp" ? std::string("tcp") : "software"),
				 "nvmeof: Documentation/gpu.md"});
		else
			findings.push_back({path.usable ? Level::pass : Level::warn, "path", path.name,
					    fmt::format("{} {}, {}{}", path.transport, over, path.state,
							path.ana.empty() || path.ana == "none" ? "" : ", " + path.ana),
					    path.usable ? "" : "nvmeofctl show " + path.name, "path", ""});
	}
	if (disk.paths.empty())
		findings.push_back(
			{Level::warn, "path", disk.name, "has no path", "nvmeofctl show " + disk.name, "path", ""});
}

void checkHead(Findings &findings, const Disk &disk)
{
	checkPaths(findings, disk);
	if (!disk.peers)
		return;
	auto spoiled = std::ranges::find_if(disk.paths, [](const DiskPath &path) { return !spoiler(path).empty(); });
	findings.push_back(
		{*disk.peers ? Level::pass : Level::fail, "head", disk.name,
		 *disk.peers ? "accepts peer-to-peer pages"
			     : "refuses peer-to-peer pages" + (spoiled == disk.paths.end()
								       ? std::string()
								       : ": " + spoiled->name + " cannot carry them"),
		 *disk.peers ? "" : "use a kernel with CONFIG_PCI_P2PDMA, and connect all paths over RDMA NICs", "head",
		 "nvmeof: Documentation/gpu.md"});
}

void checkMount(Findings &findings, const Mount &mount)
{
	auto is = [&](const char *option) { return std::ranges::find(mount.options, option) != mount.options.end(); };
	Finding finding{Level::pass, "mount", mount.point, mount.type + (is("ro") ? ", read-only" : ""),
			"",          "mount", backing};
	if (mount.type == "ext4" && (is("data=journal") || is("data=writeback"))) {
		finding.level = Level::fail;
		finding.what += is("data=journal") ? ", data=journal" : ", data=writeback";
		finding.step = "mount it with data=ordered";
	} else if (mount.type != "ext4" && mount.type != "xfs") {
		finding.level = Level::fail;
		finding.what += ": the libraries support only ext4 and xfs";
		finding.step = "use xfs, or ext4 with data=ordered";
	}
	findings.push_back(finding);
}

void checkAlignment(Findings &findings, const Disk &disk)
{
	const bool wide = disk.logical > directAlignment || disk.dmaAlignment.value_or(0) >= directAlignment;
	findings.push_back(
		{wide ? Level::warn : Level::pass, "alignment", disk.name,
		 fmt::format("blocks of {} bytes, memory aligned to {}", disk.logical,
			     disk.dmaAlignment.value_or(disk.logical ? disk.logical - 1 : 0) + 1),
		 wide ? fmt::format("align to that in the application: the libraries align to {} only", directAlignment)
		      : "",
		 "alignment", alignment});
	if (disk.zoned)
		findings.push_back({Level::warn, "alignment", disk.name,
				    "a zoned disk: the GPU libraries cannot write zones", "use a disk without zones",
				    "zoned", ""});
}

} // namespace

void checkDisk(Findings &findings, const Node &node, const Disk &disk)
{
	if (disk.kind == Disk::Kind::mapper || disk.kind == Disk::Kind::raid)
		findings.push_back({Level::fail, "stack", disk.name,
				    disk.kind == Disk::Kind::mapper ? "device mapper never accepts peer-to-peer pages"
								    : "md never accepts peer-to-peer pages",
				    "use its members directly, or let the libraries copy (compatibility mode)",
				    "stacked", stacking});
	for (const Disk *below : node.bottom(disk)) {
		if (below->kind == Disk::Kind::head)
			checkHead(findings, *below);
		if (below->kind == Disk::Kind::nvme && below->nativeMultipath)
			findings.push_back({Level::fail, "stack", below->name,
					    "in-tree multipath never accepts peer-to-peer pages",
					    "boot with nvme_core.multipath=N", "native-multipath", multipath});
	}
	checkAlignment(findings, disk);
	for (const Mount &mount : node.mounts)
		if (mount.disk == disk.name)
			checkMount(findings, mount);
}

} // namespace nofctl::gpu
