// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels.h"

#include <algorithm>
#include <cstring>
#include <fstream>

#include <fmt/format.h>

namespace fs = std::filesystem;

namespace {

constexpr std::string_view image = "vmlinuz-";

bool hasModules(const fs::path &root, const std::string &kernel)
{
	std::ifstream dep(root / "lib/modules" / kernel / "modules.dep");
	for (std::string line; std::getline(dep, line);) {
		const std::string file = fs::path(line.substr(0, line.find(':'))).filename();
		if (file.starts_with("nvmeof.ko"))
			return true;
	}
	return false;
}

std::vector<std::string> laterKernels(const fs::path &root, const std::string &running)
{
	std::vector<std::string> kernels;
	std::error_code error;
	for (const fs::directory_entry &entry : fs::directory_iterator(root / "boot", error)) {
		const std::string name = entry.path().filename();
		if (!name.starts_with(image))
			continue;
		std::string kernel = name.substr(image.size());
		if (strverscmp(kernel.c_str(), running.c_str()) > 0 && fs::exists(root / "lib/modules" / kernel, error))
			kernels.push_back(std::move(kernel));
	}
	std::ranges::sort(kernels, [](auto &a, auto &b) { return strverscmp(a.c_str(), b.c_str()) < 0; });
	return kernels;
}

// The log of a failed build. Its first line names the kernel; dkms keeps it there until a build succeeds.
std::string failedBuild(const fs::path &dkms, const std::string &kernel)
{
	std::error_code error;
	for (const fs::directory_entry &version : fs::directory_iterator(dkms, error)) {
		const fs::path log = version.path() / "build/make.log";
		std::ifstream text(log);
		std::string line;
		if (std::getline(text, line) && line.find("kernel " + kernel + " ") != std::string::npos)
			return log;
	}
	return "";
}

std::string stepOf(const KernelGap &gap, InstalledBy by)
{
	if (!gap.dkms && by == InstalledBy::dpkg)
		return fmt::format("'apt-get install nvmeof-modules-{}', or nvmeof-dkms", gap.kernel);
	if (!gap.dkms && by == InstalledBy::rpm)
		return "'dnf install nvmeof-dkms'";
	if (!gap.dkms)
		return fmt::format("install nvmeof-modules-{}, or 'make modules install KVER={}'", gap.kernel,
				   gap.kernel);
	if (!gap.failure.empty())
		return fmt::format("dkms could not build it: see {}; 'dkms autoinstall -k {}' retries", gap.failure,
				   gap.kernel);
	return fmt::format("install {}-{}, then 'dkms autoinstall -k {}'",
			   by == InstalledBy::rpm ? "kernel-devel" : "linux-headers", gap.kernel, gap.kernel);
}

} // namespace

std::vector<KernelGap> kernelGaps(const fs::path &root, const std::string &running)
{
	std::vector<KernelGap> gaps;
	const fs::path dkms = root / "var/lib/dkms/nvmeof";
	std::error_code error;
	if (!hasModules(root, running))
		return gaps;
	for (const std::string &kernel : laterKernels(root, running))
		if (!hasModules(root, kernel))
			gaps.push_back({kernel, fs::exists(dkms, error), failedBuild(dkms, kernel)});
	return gaps;
}

BuildFinding gapFinding(const KernelGap &gap, InstalledBy by)
{
	return {"kernel_without_modules",
		fmt::format(
			"kernel {} is installed without the nvmeof modules: after booting it, the disks are missing",
			gap.kernel),
		stepOf(gap, by)};
}
