// SPDX-License-Identifier: LGPL-2.1-or-later
#include "builds.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <optional>
#include <sys/utsname.h>

#include <fmt/format.h>

#include <nvmeof/client.h>

#include "source_id.h"
#include "table.h"

using namespace nvmeof;
namespace fs = std::filesystem;

namespace {

// Steps that install modules, command and library again, of one version
struct Steps {
	const char *modules, *all, *library;
};

Steps stepsOf(InstalledBy by)
{
	switch (by) {
	case InstalledBy::dpkg:
		return {"'apt-get install --reinstall nvmeof-dkms', or nvmeof-modules-KVER",
			"install packages of one version: 'apt-get install nvmeofctl libnvmeofctl0 nvmeof-dkms' (or "
			"nvmeof-modules-KVER)",
			"install both of one version: 'apt-get install nvmeofctl libnvmeofctl0'; remove what 'make "
			"install' "
			"left"};
	case InstalledBy::rpm:
		return {"'dnf reinstall nvmeof-dkms'",
			"install packages of one version: 'dnf upgrade nvmeofctl libnvmeofctl nvmeof-dkms'",
			"install both of one version: 'dnf upgrade nvmeofctl libnvmeofctl'; remove what 'make install' "
			"left"};
	case InstalledBy::make:
		break;
	}
	return {"'make install' or 'make dkms'",
		"install modules and command from one tree: 'make install' or 'make dkms'",
		"install both from one tree, and run ldconfig"};
}

// Whether both are known, and differ
bool differ(const std::optional<Build> &one, const std::optional<Build> &other)
{
	if (!one || !other)
		return false;
	return one->source != other->source || one->version != other->version;
}

// The step that reloads the loaded modules. Removes dependent modules first; loading transports loads the core.
std::string reloadStep(const std::vector<ModuleBuild> &modules)
{
	std::string remove, load;
	for (const ModuleBuild &module : modules) {
		if (!module.loaded)
			continue;
		remove = module.name + (remove.empty() ? "" : " ") + remove;
		if (&module != &modules.front())
			load += " " + module.name;
	}
	return fmt::format(
		"reload: 'nvmeofctl disconnect --all && modprobe -r {} && modprobe -a{}'; if disks are in use, reboot",
		remove, load.empty() ? " nvmeof" : load);
}

void judgeLibrary(const Build &tool, const Build &library, const Steps &steps, std::vector<BuildFinding> &findings)
{
	if (differ(tool, library))
		findings.push_back(
			{"library_differs",
			 fmt::format("the command is {}, the library {}", buildText(tool), buildText(library)),
			 steps.library});
}

// Findings that a reload resolves, or that have an effect after a reboot.
void judgeModule(const ModuleBuild &module, const std::string &reload, const Steps &steps,
		 std::vector<BuildFinding> &findings)
{
	if (differ(module.loaded, module.installed))
		findings.push_back({"reload_needed",
				    fmt::format("{} is loaded as {}, but {} is installed: {}", module.name,
						buildText(*module.loaded), buildText(*module.installed), module.file),
				    reload});
	if (module.loaded && !module.installed)
		findings.push_back(
			{"not_installed",
			 fmt::format(
				 "{} is loaded, but not installed for this kernel: it will be missing after a reboot",
				 module.name),
			 steps.modules});
}

// Compares two modules, as loaded and as installed.
void judgePair(const ModuleBuild &one, const ModuleBuild &other, const std::string &reload, const Steps &steps,
	       std::vector<BuildFinding> &findings)
{
	if (differ(one.loaded, other.loaded))
		findings.push_back({"loaded_modules_differ",
				    fmt::format("{} is loaded as {}, {} as {}", one.name, buildText(*one.loaded),
						other.name, buildText(*other.loaded)),
				    reload});
	if (differ(one.installed, other.installed))
		findings.push_back({"installed_modules_differ",
				    fmt::format("{} is installed as {}, {} as {}", one.name, buildText(*one.installed),
						other.name, buildText(*other.installed)),
				    steps.all});
}

// Compares what a reload would load: if that is of another tree as well, a reload does not help.
void judgeAgainstTool(const Build &tool, const ModuleBuild &module, const Steps &steps,
		      std::vector<BuildFinding> &findings)
{
	const std::optional<Build> &next = module.installed ? module.installed : module.loaded;
	if (differ(tool, next))
		findings.push_back(
			{"module_differs",
			 fmt::format("the command is {}, the {} module {} {}", buildText(tool),
				     module.installed ? "installed" : "loaded", module.name, buildText(*next)),
			 steps.all});
}

Json buildJson(const std::optional<Build> &build)
{
	return build ? toJson(*build) : Json(nullptr);
}

std::string cell(const std::optional<Build> &build)
{
	if (!build)
		return "-";
	return fmt::format("{} {}", build->version, build->source.empty() ? "unknown" : build->source);
}

} // namespace

std::string buildText(const Build &build)
{
	return fmt::format("{} of sources {}", build.version.empty() ? "?" : build.version,
			   build.source.empty() ? "unknown" : build.source);
}

Build toolBuild()
{
	return {NVMEOF_TOOL_VERSION, NVMEOF_SOURCE_ID, "", ""};
}

InstalledBy installedBy(const std::filesystem::path &root, const std::string &program)
{
	std::error_code error;
	auto has = [&](const std::string &name) { return std::filesystem::exists(root / name, error); };
	// with merged directories, /usr/sbin is a link to /usr/bin
	const bool packaged = program == "/usr/sbin/nvmeofctl" || program == "/usr/bin/nvmeofctl";
	if (!packaged || has("usr/share/nvmeof/installed")) // the list of 'make install'
		return InstalledBy::make;
	if (has("var/lib/dpkg/info/nvmeofctl.list"))
		return InstalledBy::dpkg;
	return has("usr/lib/sysimage/rpm") || has("var/lib/rpm") ? InstalledBy::rpm : InstalledBy::make;
}

std::vector<BuildFinding> compareBuilds(const Build &tool, const Build &library,
					const std::vector<ModuleBuild> &modules, InstalledBy by)
{
	const Steps steps = stepsOf(by);
	std::vector<BuildFinding> findings;
	judgeLibrary(tool, library, steps, findings);
	std::string reload = reloadStep(modules);
	for (const ModuleBuild &module : modules)
		judgeModule(module, reload, steps, findings);
	for (std::size_t i = 1; i < modules.size(); i++)
		judgePair(modules[0], modules[i], reload, steps, findings);
	for (const ModuleBuild &module : modules)
		judgeAgainstTool(tool, module, steps, findings);
	return findings;
}

Json toJson(const Build &build)
{
	Json json{{"version", build.version}};
	if (!build.source.empty())
		json["source"] = build.source;
	if (!build.buildId.empty())
		json["build_id"] = build.buildId;
	return json;
}

Json toJson(const ModuleBuild &module)
{
	Json json{{"name", module.name},
		  {"loaded", buildJson(module.loaded)},
		  {"installed", buildJson(module.installed)}};
	if (module.installed)
		json["installed"]["file"] = module.file;
	return json;
}

Json toJson(const BuildFinding &finding)
{
	return Json{{"code", finding.code}, {"message", finding.message}, {"step", finding.step}};
}

std::string formatModules(const std::vector<ModuleBuild> &modules)
{
	Table table({{"Module"}, {"Loaded"}, {"Installed"}, {"File"}});
	bool any = false;
	for (const ModuleBuild &module : modules) {
		if (!module.loaded && !module.installed)
			continue;
		any = true;
		table.add({module.name, cell(module.loaded), cell(module.installed),
			   module.installed ? module.file : "-"});
	}
	return any ? table.render() : "";
}

// ---- installed kernels

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

std::vector<BuildFinding> judgeMachine(const fs::path &root, const std::string &program, const Build &tool,
				       const std::vector<ModuleBuild> &modules)
{
	const InstalledBy by = installedBy(root, program);
	std::vector<BuildFinding> found = compareBuilds(tool, libraryBuild(), modules, by);
	utsname system{};
	::uname(&system);
	for (const KernelGap &gap : kernelGaps(root, system.release))
		found.push_back(gapFinding(gap, by));
	return found;
}

std::vector<BuildFinding> judgeMachine(const std::vector<ModuleBuild> &modules)
{
	std::error_code error;
	return judgeMachine("/", fs::read_symlink("/proc/self/exe", error), toolBuild(), modules);
}
