// SPDX-License-Identifier: LGPL-2.1-or-later
// Checks of the kernel and the drivers.
#include "finding.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "nvidia_fs.h"

namespace nofctl::gpu {

namespace {

constexpr const char *p2pGuide = "NVIDIA GPUDirect Storage Troubleshooting Guide, NVMe P2PDMA";
constexpr const char *hipGuide = "AMD hipFile documentation, Troubleshooting: ais-check";
constexpr const char *iommuGuide = "NVIDIA GPUDirect Storage Installation Guide, Before You Install";

bool has(const std::vector<const PciDevice *> &gpus, unsigned vendor)
{
	return std::ranges::any_of(gpus, [=](const PciDevice *gpu) { return gpu->config.vendor == vendor; });
}

bool needs(const Node &node, const std::vector<const PciDevice *> &gpus, P2pMethod means)
{
	return std::ranges::any_of(gpus, [&](const PciDevice *gpu) {
		const std::vector<P2pMethod> all = methodsOf(node, *gpu);
		return std::ranges::find(all, means) != all.end();
	});
}

std::string versionOf(const Node &node, const std::string &module, const std::string &otherwise)
{
	const std::string &version = node.modules.at(module);
	return version.empty() ? otherwise : version;
}

void checkKernel(Findings &findings, const Node &node, bool p2pdma)
{
	const Level bad = p2pdma ? Level::fail : Level::warn;
	Finding finding{Level::pass, "kernel", node.release, "CONFIG_PCI_P2PDMA is set", "", "kernel-p2pdma", p2pGuide};
	if (!node.p2pdmaOption) {
		finding.level = Level::warn;
		finding.what = "the kernel configuration was not found, so CONFIG_PCI_P2PDMA is unknown";
		finding.step = "check the configuration that the distribution publishes";
	} else if (*node.p2pdmaOption != "y") {
		finding.level = bad;
		finding.what = "CONFIG_PCI_P2PDMA is not set: the kernel cannot use GPU pages";
		finding.step = "use a kernel with it; Debian's kernels lack it";
	}
	findings.push_back(finding);
}

void checkIommu(Findings &findings, const Node &node, const std::vector<const PciDevice *> &gpus)
{
	std::set<Translation> seen;
	for (const PciDevice *gpu : gpus)
		seen.insert(gpu->translation);
	for (Translation translation : seen) {
		const bool good = translation == Translation::off || translation == Translation::passthrough;
		findings.push_back(
			{good ? Level::pass : Level::warn, "iommu", "GPUs",
			 fmt::format("IOMMU {}{}", toString(translation),
				     node.commandLine.find("iommu") == std::string::npos ? ", the kernel's default"
											 : ""),
			 good ? ""
			      : "boot with iommu=pt (x86), or amd_iommu=off / intel_iommu=off where no "
				"virtual machine needs it",
			 "iommu", iommuGuide});
	}
}

void checkNvidia(Findings &findings, const Node &node, const std::vector<const PciDevice *> &gpus)
{
	for (const PciDevice *gpu : gpus)
		if (gpu->config.vendor == nvidia && gpu->driver != "nvidia")
			findings.push_back({Level::fail, "driver", gpu->address,
					    gpu->driver.empty() ? "has no driver" : "its driver is " + gpu->driver,
					    "install nvidia's open kernel modules", "driver-nvidia", p2pGuide});
	const bool open = node.nvidiaVersion.find("Open Kernel Module") != std::string::npos;
	if (node.modules.contains("nvidia"))
		findings.push_back({open || node.modules.contains("nvidia_fs") ? Level::pass : Level::fail, "driver",
				    "nvidia",
				    fmt::format("{}, {} kernel module", versionOf(node, "nvidia", "unknown version"),
						open ? "open" : "proprietary"),
				    open || node.modules.contains("nvidia_fs")
					    ? ""
					    : "P2PDMA needs the open module; nvidia-fs does not",
				    "driver-nvidia", p2pGuide});
	if (!node.modules.contains("nvidia_fs"))
		return;
	findings.push_back({Level::pass, "driver", "nvidia_fs", versionOf(node, "nvidia_fs", "unknown version"), "",
			    "driver-nvidia-fs", ""});
	if (!node.modules.contains("nvmeof_nvfs"))
		findings.push_back({Level::fail, "driver", "nvmeof_nvfs",
				    "is not loaded: nvidia-fs does not know this driver's disks",
				    "modprobe nvmeof_nvfs before a program opens nvidia-fs", "driver-nvmeof-nvfs",
				    "nvidia-fs 2.28.4, nvfs-dma.c: modules_list"});
	if (node.nvidiaFsStats)
		checkNvidiaFs(findings, *node.nvidiaFsStats);
}

void checkAmd(Findings &findings, const Node &node, const std::vector<const PciDevice *> &gpus)
{
	for (const PciDevice *gpu : gpus)
		if (gpu->config.vendor == amd && gpu->driver != "amdgpu")
			findings.push_back({Level::fail, "driver", gpu->address,
					    gpu->driver.empty() ? "has no driver" : "its driver is " + gpu->driver,
					    "load amdgpu, of ROCm 7.4 or later", "driver-amdgpu", hipGuide});
	if (node.modules.contains("amdgpu"))
		findings.push_back({Level::pass, "driver", "amdgpu", versionOf(node, "amdgpu", "the kernel's own"), "",
				    "driver-amdgpu", hipGuide});
}

} // namespace

void checkSoftware(Findings &findings, const Node &node, const std::vector<const PciDevice *> &gpus)
{
	if (gpus.empty())
		findings.push_back({Level::fail, "gpu", "node", "no known GPU was found", "name one with --gpu ADDRESS",
				    "gpu", ""});
	checkKernel(findings, node, needs(node, gpus, P2pMethod::p2pdma));
	checkIommu(findings, node, gpus);
	if (has(gpus, nvidia))
		checkNvidia(findings, node, gpus);
	if (has(gpus, amd))
		checkAmd(findings, node, gpus);
}

} // namespace nofctl::gpu
