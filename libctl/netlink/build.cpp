// SPDX-License-Identifier: LGPL-2.1-or-later
#include "build.h"

#include <bit>
#include <cerrno>
#include <cstring>
#include <elf.h>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <sys/utsname.h>

#include <libkmod.h>

#include "libctl/base/file.h"
#include "source_id.h"
#include "version.h"

using nvmeof::Build;
using nvmeof::ModuleBuild;

namespace nofctl {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view sourceOwner = "nvmeof"; // kmod/core/source.h
constexpr unsigned sourceType = 1;
constexpr unsigned contractType = 2;
constexpr std::string_view buildOwner = "GNU";
constexpr const char *sourceKey = "nvmeof_source"; // keys in modinfo
constexpr const char *contractKey = "nvmeof_contract";
constexpr const char *versionKey = "version";
constexpr const char *modules[] = {"nvmeof", "nvmeof_tcp", "nvmeof_rdma"};
constexpr std::size_t maxModuleSize = 64 << 20; // with debug information, a module has a few MiB

template <typename T, auto release> struct Releases {
	void operator()(T *object) const { release(object); }
};
using Kmod = std::unique_ptr<kmod_ctx, Releases<kmod_ctx, kmod_unref>>;
using Module = std::unique_ptr<kmod_module, Releases<kmod_module, kmod_module_unref>>;

std::string hex(std::string_view bytes)
{
	constexpr char digits[] = "0123456789abcdef";
	std::string text;
	for (unsigned char byte : bytes) {
		text += digits[byte >> 4];
		text += digits[byte & 15];
	}
	return text;
}

// Cuts the terminating NUL off.
std::string asText(std::string note)
{
	return note.substr(0, note.find('\0'));
}

std::string contents(const fs::path &file)
{
	nvmeof::Result<std::string> text = readSmallFile(file);
	return text ? *text : std::string();
}

using Modinfo = std::map<std::string, std::string, std::less<>>;

std::optional<Modinfo> modinfoOf(kmod_module *module)
{
	kmod_list *list = nullptr, *entry;
	if (kmod_module_get_info(module, &list) < 0)
		return std::nullopt;
	Modinfo info;
	kmod_list_foreach(entry, list)
	{
		info.emplace(kmod_module_info_get_key(entry), kmod_module_info_get_value(entry));
	}
	kmod_module_info_free_list(list);
	return info;
}

std::string valueOf(const Modinfo &info, std::string_view key)
{
	auto found = info.find(key);
	return found == info.end() ? "" : found->second;
}

Kmod newContext()
{
	const char *none = nullptr; // no modprobe.d files: they do not influence the choice of the file
	Kmod context(kmod_new(nullptr, &none));
	if (context)
		kmod_set_log_priority(context.get(), 0);
	return context;
}

// The file that modprobe would load; empty: none.
std::string installedFile(const char *name)
{
	Kmod context = newContext();
	kmod_list *list = nullptr;
	std::string file;
	if (!context || kmod_module_new_from_lookup(context.get(), name, &list) < 0)
		return file;
	if (list) {
		Module module(kmod_module_get_module(list));
		if (const char *path = kmod_module_get_path(module.get()))
			file = path;
	}
	kmod_module_unref_list(list);
	return file;
}

} // namespace

std::optional<Build> loadedBuild(const fs::path &folder)
{
	std::error_code error;
	if (!fs::exists(folder / "refcnt", error)) // without it, the driver is built in
		return std::nullopt;
	std::string version = contents(folder / "version");
	std::string source = contents(folder / "notes/.note.nvmeof");
	std::string buildId = contents(folder / "notes/.note.gnu.build-id");
	return Build{version.substr(0, version.find('\n')), asText(noteIn(source, sourceOwner, sourceType)),
		     hex(noteIn(buildId, buildOwner, NT_GNU_BUILD_ID)),
		     asText(noteIn(source, sourceOwner, contractType))};
}

namespace {

std::optional<Modinfo> modinfoOfFile(const fs::path &file)
{
	Kmod context = newContext();
	kmod_module *found = nullptr;
	if (!context || kmod_module_new_from_path(context.get(), file.c_str(), &found) < 0)
		return std::nullopt;
	Module module(found);
	return modinfoOf(module.get());
}

Build buildFrom(const Modinfo &info, const fs::path &file)
{
	Build build{valueOf(info, versionKey), valueOf(info, sourceKey), "", valueOf(info, contractKey)};
	nvmeof::Result<std::string> whole = readSmallFile(file, maxModuleSize);
	if (whole)
		build.buildId = hex(noteIn(sectionOf(*whole, ".note.gnu.build-id"), buildOwner, NT_GNU_BUILD_ID));
	return build;
}

// Returns "6.12.117+deb12-amd64" for the vermagic "6.12.117+deb12-amd64 SMP preempt mod_unload modversions".
std::string kernelOf(const Modinfo &info)
{
	std::string magic = valueOf(info, "vermagic");
	return magic.substr(0, magic.find(' '));
}

nvmeof::Error badFile(const fs::path &file, const std::string &why)
{
	nvmeof::Error error = nvmeof::errorFromErrno(ENOEXEC, file.string() + ": " + why);
	error.object = {nvmeof::ErrorObject::Kind::file, file.string()};
	return error;
}

} // namespace

std::optional<Build> buildOfFile(const fs::path &file)
{
	std::optional<Modinfo> info = modinfoOfFile(file);
	return info ? std::optional(buildFrom(*info, file)) : std::nullopt;
}

} // namespace nofctl

namespace nvmeof {

Build libraryBuild()
{
	return {nofctl::version, NVMEOF_SOURCE_ID, "", ""};
}

Result<ModuleBuild> moduleInFile(const std::filesystem::path &file)
{
	std::optional<nofctl::Modinfo> info = nofctl::modinfoOfFile(file);
	std::string name = info ? nofctl::valueOf(*info, "name") : "";
	if (name.empty())
		return nofctl::badFile(file, "the file does not exist, or is not a kernel module");
	utsname system{};
	uname(&system);
	if (nofctl::kernelOf(*info) != system.release)
		return nofctl::badFile(file, "it was built for kernel " + nofctl::kernelOf(*info) + ", this is " +
						     system.release);
	return ModuleBuild{name, nofctl::loadedBuild("/sys/module/" + name), nofctl::buildFrom(*info, file),
			   file.string()};
}

std::vector<ModuleBuild> moduleBuilds()
{
	std::vector<ModuleBuild> builds;
	for (const char *name : nofctl::modules) {
		ModuleBuild build{name, nofctl::loadedBuild(std::string("/sys/module/") + name), {}, {}};
		build.file = nofctl::installedFile(name);
		if (!build.file.empty())
			build.installed = nofctl::buildOfFile(build.file);
		builds.push_back(std::move(build));
	}
	return builds;
}

} // namespace nvmeof

namespace nofctl {

// ---- ELF

namespace {

constexpr unsigned char ourData = std::endian::native == std::endian::little ? ELFDATA2LSB : ELFDATA2MSB;

// Nothing if the object does not fit into @bytes.
template <typename T> std::optional<T> objectAt(std::span<const char> bytes, std::uint64_t offset)
{
	if (offset > bytes.size() || bytes.size() - offset < sizeof(T))
		return std::nullopt;
	T object;
	std::memcpy(&object, bytes.data() + offset, sizeof(object));
	return object;
}

std::span<const char> part(std::span<const char> bytes, std::uint64_t offset, std::uint64_t length)
{
	if (offset > bytes.size() || bytes.size() - offset < length)
		return {};
	return bytes.subspan(offset, length);
}

std::optional<Elf64_Shdr> header(std::span<const char> file, const Elf64_Ehdr &elf, unsigned index)
{
	// this bound prevents an overflow of the sum below
	if (elf.e_shentsize != sizeof(Elf64_Shdr) || elf.e_shoff > file.size())
		return std::nullopt;
	return objectAt<Elf64_Shdr>(file, elf.e_shoff + std::uint64_t(index) * sizeof(Elf64_Shdr));
}

bool hasName(std::span<const char> names, std::uint64_t offset, std::string_view name)
{
	std::span<const char> text = part(names, offset, name.size() + 1); // with the terminating NUL
	return !text.empty() && std::string_view(text.data(), name.size()) == name && text.back() == '\0';
}

constexpr std::uint64_t aligned(std::uint64_t size)
{
	return (size + 3) & ~std::uint64_t(3);
}

} // namespace

std::span<const char> sectionOf(std::span<const char> file, std::string_view name)
{
	std::optional<Elf64_Ehdr> elf = objectAt<Elf64_Ehdr>(file, 0);
	if (!elf || std::memcmp(elf->e_ident, ELFMAG, SELFMAG) != 0 || elf->e_ident[EI_CLASS] != ELFCLASS64 ||
	    elf->e_ident[EI_DATA] != ourData)
		return {};
	std::optional<Elf64_Shdr> strings = header(file, *elf, elf->e_shstrndx);
	if (!strings)
		return {};
	std::span<const char> names = part(file, strings->sh_offset, strings->sh_size);
	for (unsigned i = 0; i < elf->e_shnum; i++) {
		std::optional<Elf64_Shdr> section = header(file, *elf, i);
		if (section && hasName(names, section->sh_name, name))
			return part(file, section->sh_offset, section->sh_size);
	}
	return {};
}

std::string noteIn(std::span<const char> notes, std::string_view owner, unsigned type)
{
	for (std::uint64_t at = 0; std::optional<Elf64_Nhdr> note = objectAt<Elf64_Nhdr>(notes, at);) {
		std::uint64_t name = at + sizeof(*note), desc = name + aligned(note->n_namesz);
		std::span<const char> bytes = part(notes, desc, note->n_descsz);
		if (note->n_type == type && note->n_namesz == owner.size() + 1 && hasName(notes, name, owner))
			return {bytes.begin(), bytes.end()};
		at = desc + aligned(note->n_descsz);
	}
	return {};
}

} // namespace nofctl
