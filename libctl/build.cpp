// SPDX-License-Identifier: LGPL-2.1-or-later
#include "build.h"

#include <cstring>
#include <elf.h>
#include <libkmod.h>
#include <memory>
#include <string_view>

#include "elf_notes.h"
#include "file.h"
#include "source_id.h"
#include "version.h"

using nvmeof::Build;
using nvmeof::ModuleBuild;

namespace nofctl {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view sourceOwner = "nvmeof"; // kmod/core/source.h
constexpr unsigned sourceType = 1;
constexpr std::string_view buildOwner = "GNU";
constexpr const char *sourceKey = "nvmeof_source"; // in modinfo
constexpr const char *versionKey = "version";
constexpr const char *modules[] = {"nvmeof", "nvmeof_tcp", "nvmeof_rdma"};
constexpr std::size_t mostOfFile = 64 << 20; // with debug information they have a few MiB

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

// Without the zero at its end
std::string asText(std::string note)
{
	return note.substr(0, note.find('\0'));
}

std::string contents(const fs::path &file)
{
	nvmeof::Result<std::string> text = readSmallFile(file);
	return text ? *text : std::string();
}

Build fromModinfo(kmod_module *module, bool &good)
{
	Build build;
	kmod_list *list = nullptr, *entry;
	good = kmod_module_get_info(module, &list) >= 0;
	if (!good)
		return build;
	kmod_list_foreach(entry, list)
	{
		std::string_view key = kmod_module_info_get_key(entry);
		if (key == versionKey)
			build.version = kmod_module_info_get_value(entry);
		else if (key == sourceKey)
			build.source = kmod_module_info_get_value(entry);
	}
	kmod_module_info_free_list(list);
	return build;
}

Kmod newContext()
{
	const char *none = nullptr; // modprobe.d has no say in which file a module is
	Kmod context(kmod_new(nullptr, &none));
	if (context)
		kmod_set_log_priority(context.get(), 0);
	return context;
}

// Where modprobe finds it; empty: nowhere.
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
	if (!fs::exists(folder / "refcnt", error)) // a folder without is of a driver that is built in
		return std::nullopt;
	std::string version = contents(folder / "version");
	std::string source = contents(folder / "notes/.note.nvmeof");
	std::string buildId = contents(folder / "notes/.note.gnu.build-id");
	return Build{version.substr(0, version.find('\n')), asText(noteIn(source, sourceOwner, sourceType)),
		     hex(noteIn(buildId, buildOwner, NT_GNU_BUILD_ID))};
}

std::optional<Build> buildOfFile(const fs::path &file)
{
	Kmod context = newContext();
	kmod_module *found = nullptr;
	if (!context || kmod_module_new_from_path(context.get(), file.c_str(), &found) < 0)
		return std::nullopt;
	Module module(found);
	bool good = false;
	Build build = fromModinfo(module.get(), good);
	if (!good)
		return std::nullopt;
	nvmeof::Result<std::string> whole = readSmallFile(file, mostOfFile);
	if (whole)
		build.buildId = hex(noteIn(sectionOf(*whole, ".note.gnu.build-id"), buildOwner, NT_GNU_BUILD_ID));
	return build;
}

} // namespace nofctl

namespace nvmeof {

Build libraryBuild()
{
	return {nofctl::version, NVMEOF_SOURCE_ID, ""};
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
