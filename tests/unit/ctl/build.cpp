// SPDX-License-Identifier: LGPL-2.1-or-later
// The builds in use: notes of ELF files, a fake module in sysfs and as a file, and the findings about them
#include <catch2/catch.hpp>

#include <cstring>
#include <elf.h>

#include "libctl/netlink/build.h"

#include "builds.h"
#include "tests/unit/scratch.h"

using namespace nvmeof;
using nofctl::noteIn;
using nofctl::sectionOf;

namespace {

std::string padded(std::string text)
{
	text.resize((text.size() + 3) / 4 * 4, '\0');
	return text;
}

std::string note(const std::string &owner, unsigned type, const std::string &desc)
{
	Elf64_Nhdr header{static_cast<Elf64_Word>(owner.size() + 1), static_cast<Elf64_Word>(desc.size()), type};
	std::string text(sizeof(header), '\0');
	std::memcpy(text.data(), &header, sizeof(header));
	return text + padded(owner + '\0') + padded(desc);
}

const Build here{"0.1.0", "aaaaaaaaaaaaaaaa", "01", ""};
const Build other{"0.1.0", "bbbbbbbbbbbbbbbb", "02", ""};
const Build old{"0.1.0", "", "03", ""}; // built before build identifiers existed

std::string codes(const std::vector<ModuleBuild> &modules, const Build &library = here)
{
	std::string text;
	for (const BuildFinding &finding : compareBuilds(here, library, modules, InstalledBy::make)) {
		CHECK_FALSE(finding.message.empty());
		CHECK_FALSE(finding.step.empty());
		text += finding.code + " ";
	}
	return text;
}

using Builds = std::vector<ModuleBuild>;

} // namespace

TEST_CASE("the way in which the command was installed is recognized", "[build]")
{
	const std::string program = "/usr/sbin/nvmeofctl";
	Scratch root;
	CHECK(installedBy(root.path(), program) == InstalledBy::make);
	root.write("var/lib/rpm/rpmdb.sqlite", "");
	CHECK(installedBy(root.path(), program) == InstalledBy::rpm);
	root.write("var/lib/dpkg/info/nvmeofctl.list", "/usr/sbin/nvmeofctl\n");
	CHECK(installedBy(root.path(), program) == InstalledBy::dpkg);
	CHECK(installedBy(root.path(), "/usr/bin/nvmeofctl") == InstalledBy::dpkg);
	CHECK(installedBy(root.path(), "/usr/local/sbin/nvmeofctl") == InstalledBy::make);
	root.write("usr/share/nvmeof/installed", "/usr/sbin/nvmeofctl\n");
	CHECK(installedBy(root.path(), program) == InstalledBy::make);
}

TEST_CASE("steps name the package manager of an installation from packages, not make", "[build]")
{
	const Builds modules{{"nvmeof", other, std::nullopt, ""}, {"nvmeof_tcp", other, here, "/lib/nvmeof_tcp.ko"}};
	for (const InstalledBy by : {InstalledBy::make, InstalledBy::dpkg, InstalledBy::rpm}) {
		std::string steps;
		for (const BuildFinding &finding : compareBuilds(here, other, modules, by))
			if (finding.code != "reload_needed" && finding.code != "library_differs")
				steps += finding.step + "\n";
		CAPTURE(steps);
		CHECK((steps.find("make ") != std::string::npos) == (by == InstalledBy::make));
		CHECK((steps.find("apt-get ") != std::string::npos) == (by == InstalledBy::dpkg));
		CHECK((steps.find("dnf ") != std::string::npos) == (by == InstalledBy::rpm));
	}
}

TEST_CASE("notes are found by owner and type", "[build]")
{
	std::string notes = note("GNU", 5, "abcd") + note("nvmeof", 1, "0123456789abcdef") +
			    note("GNU", NT_GNU_BUILD_ID, std::string("\x00\xff", 2)) +
			    note("GNU", NT_GNU_BUILD_ID, "x");
	CHECK(noteIn(notes, "nvmeof", 1) == "0123456789abcdef");
	CHECK(noteIn(notes, "GNU", NT_GNU_BUILD_ID) == std::string("\x00\xff", 2));
	CHECK(noteIn(notes, "nvmeof", 2).empty());
	CHECK(noteIn(notes, "nvme", 1).empty());
	CHECK(noteIn("", "GNU", 1).empty());
}

TEST_CASE("notes with wrong lengths are ignored", "[build]")
{
	std::string good = note("nvmeof", 1, "0123456789abcdef");
	for (std::size_t length = 0; length < good.size(); length++)
		CHECK(noteIn(std::string_view(good).substr(0, length), "nvmeof", 1).empty());
	for (std::size_t field : {0, 4})
		for (Elf64_Word wrong : {0u, 1u, 100u, 0x7fffffffu, 0xfffffffdu, 0xffffffffu}) {
			std::string bad = good;
			std::memcpy(bad.data() + field, &wrong, sizeof(wrong));
			CHECK(noteIn(bad, "nvmeof", 1).size() <= 4);
		}
}

TEST_CASE("files that are not valid ELF have no sections", "[build]")
{
	Elf64_Ehdr header{};
	std::memcpy(header.e_ident, ELFMAG, SELFMAG);
	header.e_ident[EI_CLASS] = ELFCLASS64;
	header.e_ident[EI_DATA] = ELFDATA2LSB;
	header.e_shentsize = sizeof(Elf64_Shdr);
	header.e_shnum = header.e_shstrndx = 0xffff;
	for (Elf64_Off where : {Elf64_Off(0), Elf64_Off(sizeof(header)), ~Elf64_Off(0), ~Elf64_Off(0) - 63}) {
		header.e_shoff = where;
		std::string file(sizeof(header) + sizeof(Elf64_Shdr), '\xff');
		std::memcpy(file.data(), &header, sizeof(header));
		CHECK(sectionOf(file, ".note").empty());
	}
	CHECK(sectionOf("", ".note").empty());
	CHECK(sectionOf("\x7f"
			"ELF",
			".note")
		      .empty());
}

TEST_CASE("the build of a loaded module is read from sysfs", "[build]")
{
	Scratch sys;
	CHECK_FALSE(nofctl::loadedBuild(sys.path() / "nvmeof"));
	sys.write("nvmeof/refcnt", "1\n");
	auto bare = nofctl::loadedBuild(sys.path() / "nvmeof");
	REQUIRE(bare);
	CHECK(bare->source.empty());
	sys.write("nvmeof/version", "0.1.0\n");
	sys.write("nvmeof/notes/.note.nvmeof", note("nvmeof", 1, std::string("0123456789abcdef\0", 17)));
	sys.write("nvmeof/notes/.note.gnu.build-id", note("GNU", NT_GNU_BUILD_ID, "\x12\xab"));
	auto whole = nofctl::loadedBuild(sys.path() / "nvmeof");
	REQUIRE(whole);
	CHECK(whole->version == "0.1.0");
	CHECK(whole->source == "0123456789abcdef");
	CHECK(whole->buildId == "12ab");
}

TEST_CASE("the build of a module's file is read from its modinfo and its note", "[build]")
{
	auto build = nofctl::buildOfFile(NVMEOF_FAKE_MODULE); // built from fake_module.c
	REQUIRE(build);
	CHECK(build->version == "7.8.9");
	CHECK(build->source == "fedcba9876543210");
	CHECK(build->buildId == "1f2e3d4c");
	auto packed = nofctl::buildOfFile(NVMEOF_PACKED_MODULE);
	REQUIRE(packed);
	CHECK(packed->source == "fedcba9876543210");
	CHECK(packed->buildId.empty());
	CHECK_FALSE(nofctl::buildOfFile("/nonexistent.ko"));
	Scratch folder;
	folder.write("nvmeof.ko", "no module");
	CHECK_FALSE(nofctl::buildOfFile(folder.path() / "nvmeof.ko"));
}

TEST_CASE("builds of one source tree give no finding", "[build]")
{
	CHECK(codes({}).empty());
	CHECK(codes(Builds{{"nvmeof", {}, {}, ""}, {"nvmeof_tcp", {}, {}, ""}}).empty());
	CHECK(codes(Builds{{"nvmeof", here, here, "f"}, {"nvmeof_tcp", here, here, "f"}}).empty());
	Build again = here;
	again.buildId = "04"; // another build of the same source
	CHECK(codes(Builds{{"nvmeof", here, again, "f"}, {"nvmeof_tcp", {}, again, "f"}}).empty());
}

TEST_CASE("a loaded module older than its file needs a reload", "[build]")
{
	CHECK(codes(Builds{{"nvmeof", other, here, "f"}, {"nvmeof_tcp", other, here, "f"}}) ==
	      "reload_needed reload_needed ");
	CHECK(codes(Builds{{"nvmeof", old, here, "f"}, {"nvmeof_tcp", {}, here, "f"}}) == "reload_needed ");
	// only one of the modules was reloaded
	CHECK(codes(Builds{{"nvmeof", here, here, "f"}, {"nvmeof_tcp", other, here, "f"}}) ==
	      "reload_needed loaded_modules_differ ");
}

TEST_CASE("findings that a reload does not resolve", "[build]")
{
	CHECK(codes(Builds{{"nvmeof", other, other, "f"}}) == "module_differs ");
	CHECK(codes(Builds{{"nvmeof", here, other, "f"}}) == "reload_needed module_differs ");
	CHECK(codes(Builds{{"nvmeof", {}, here, "f"}, {"nvmeof_tcp", {}, other, "f"}}) ==
	      "installed_modules_differ module_differs ");
	CHECK(codes(Builds{{"nvmeof", here, {}, ""}}) == "not_installed ");
	CHECK(codes(Builds{{"nvmeof", other, {}, ""}}) == "not_installed module_differs ");
	CHECK(codes({}, other) == "library_differs ");
}
