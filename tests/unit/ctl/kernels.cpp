// SPDX-License-Identifier: LGPL-2.1-or-later
// Installed kernels without modules, found in the fake directories of a machine
#include <catch2/catch.hpp>

#include <sys/utsname.h>

#include "builds.h"
#include "tests/unit/scratch.h"

namespace {

struct KernelMachine {
	Scratch files;

	void kernel(const std::string &name, const std::string &modules) const
	{
		files.write("boot/vmlinuz-" + name, "");
		files.write("lib/modules/" + name + "/modules.dep",
			    "kernel/fs/ext4/ext4.ko: kernel/lib/crc16.ko\n" + modules);
	}
	std::vector<KernelGap> gaps() const { return kernelGaps(files.path(), "6.1.0-20-amd64"); }
};

constexpr const char *ours = "updates/dkms/nvmeof_tcp.ko.xz: updates/dkms/nvmeof.ko.xz\nupdates/dkms/nvmeof.ko.xz:\n";

} // namespace

TEST_CASE("kernels later than the running one without modules are reported", "[kernels]")
{
	KernelMachine machine;
	machine.kernel("6.1.0-20-amd64", ours);
	CHECK(machine.gaps().empty());
	machine.kernel("6.1.0-9-amd64", ""); // older than the running kernel
	machine.kernel("6.12.117+deb12-amd64", "");
	machine.kernel("6.1.0-56-amd64", "");
	machine.kernel("6.13.1-amd64", ours);
	machine.files.write("boot/vmlinuz-7.0.0-amd64", ""); // the kernel's module directory is gone
	auto gaps = machine.gaps();
	REQUIRE(gaps.size() == 2);
	CHECK(gaps[0].kernel == "6.1.0-56-amd64");
	CHECK(gaps[1].kernel == "6.12.117+deb12-amd64");
	BuildFinding finding = gapFinding(gaps[1], InstalledBy::make);
	CHECK(finding.code == "kernel_without_modules");
	CHECK(finding.message.find("6.12.117+deb12-amd64") != std::string::npos);
	CHECK(finding.step.find("nvmeof-modules-6.12.117+deb12-amd64") != std::string::npos);
	CHECK(gapFinding(gaps[1], InstalledBy::dpkg).step ==
	      "'apt-get install nvmeof-modules-6.12.117+deb12-amd64', or nvmeof-dkms");
	CHECK(gapFinding(gaps[1], InstalledBy::rpm).step == "'dnf install nvmeof-dkms'");
}

TEST_CASE("the next step for a kernel that dkms has to build for", "[kernels]")
{
	KernelMachine machine;
	machine.kernel("6.1.0-20-amd64", ours);
	machine.kernel("6.1.0-56-amd64", "");
	machine.files.write("var/lib/dkms/nvmeof/0.1.0/source", "");
	CHECK(gapFinding(machine.gaps().at(0), InstalledBy::make).step.find("linux-headers-6.1.0-56-amd64") !=
	      std::string::npos);
	const std::string log = "var/lib/dkms/nvmeof/0.1.0/build/make.log";
	machine.files.write(log, "DKMS make.log for nvmeof-0.1.0 for kernel 6.1.0-5-amd64 (x86_64)\n");
	CHECK(machine.gaps().at(0).failure.empty()); // the log is of another kernel
	machine.files.write(log, "DKMS make.log for nvmeof-0.1.0 for kernel 6.1.0-56-amd64 (x86_64)\nerror: oops\n");
	CHECK(gapFinding(machine.gaps().at(0), InstalledBy::make).step.find(log) != std::string::npos);
}

TEST_CASE("a machine whose running kernel has no modules reports no kernel", "[kernels]")
{
	KernelMachine machine;
	machine.kernel("6.1.0-20-amd64", "");
	machine.kernel("6.1.0-56-amd64", "");
	CHECK(machine.gaps().empty());
}

TEST_CASE("all findings about a machine name its package manager, as version and doctor show them", "[kernels]")
{
	utsname system{};
	::uname(&system);
	KernelMachine machine;
	machine.kernel(system.release, ours);
	machine.kernel("99.1.0-1-amd64", "");
	machine.files.write("var/lib/dpkg/info/nvmeofctl.list", "/usr/sbin/nvmeofctl\n");
	const nvmeof::Build tool{"0.0.1", "aaaaaaaaaaaaaaaa", "", ""};
	const auto findings =
		judgeMachine(machine.files.path(), "/usr/sbin/nvmeofctl", tool, {{"nvmeof", tool, std::nullopt, ""}});
	REQUIRE(findings.size() == 3); // of the library, of the module that is not installed, and of the kernel
	for (const BuildFinding &one : findings)
		CHECK(one.step.find("apt-get install") != std::string::npos);
	CHECK(findings.back().code == "kernel_without_modules");
}
