// SPDX-License-Identifier: LGPL-2.1-or-later
#include "exchange.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <fmt/format.h>

#include "libctl/base/file.h"
#include "libctl/volume/first_line.h"

using namespace nvmeof;
using nofctl::volume::firstLine;
namespace fs = std::filesystem;

namespace {

constexpr std::string_view elfMagic = "\x7f"
				      "ELF";
constexpr std::size_t largestModule = 256 << 20;
// End of a signed module; see the kernel's scripts/sign-file.
constexpr std::string_view signedMagic = "~Module signature appended~\n";

bool signaturesDemanded()
{
	return firstLine("/sys/module/module/parameters/sig_enforce") == "Y";
}

Error moduleError(const std::string &name, const char *what)
{
	int reason = errno;
	Error error = errorFromErrno(reason, fmt::format("cannot {} {}: {}", what, name, std::strerror(reason)));
	error.code = ErrorCode::failed; // ENOENT means an unknown symbol
	error.object = {ErrorObject::Kind::module, name};
	return error;
}

} // namespace

Result<ModuleImage> ModuleImage::read(const fs::path &file)
{
	Result<ModuleBuild> module = moduleInFile(file);
	if (!module)
		return module.error();
	Result<std::string> bytes = nofctl::readWholeFile(file, largestModule);
	if (!bytes)
		return bytes.error();
	ModuleImage image;
	image.module_ = *module;
	image.bytes_ = *std::move(bytes);
	return image;
}

std::string ModuleImage::mismatchReason(const std::string &name, const ModuleBuild &core) const
{
	const Build &build = *module_.installed;
	if (module_.name != name)
		return fmt::format("{} is the module {}, not {}", module_.file, module_.name, name);
	if (!bytes_.starts_with(elfMagic))
		return fmt::format("{} is compressed: decompress it, and give the result with --file", module_.file);
	if (!core.loaded || core.loaded->contract.empty() || build.contract != core.loaded->contract)
		return fmt::format("{} was built for another version of {} than the loaded one", module_.file,
				   core.name);
	if (signaturesDemanded() && !bytes_.ends_with(signedMagic))
		return fmt::format("{} is not signed, and the kernel loads signed modules only", module_.file);
	return "";
}

Result<void> ModuleImage::load(const std::string &parameters) const
{
	if (syscall(SYS_init_module, bytes_.data(), bytes_.size(), parameters.c_str()) == 0)
		return {};
	return moduleError(module_.name, "load");
}

Result<void> ModuleImage::checkLoadable() const
{
	Result<void> loaded = load("");
	if (loaded || loaded.error().sysErrno == EEXIST)
		return {};
	return loaded;
}

std::string loadedParameters(const std::string &module)
{
	std::string text;
	std::error_code error;
	for (const fs::directory_entry &entry : fs::directory_iterator("/sys/module/" + module + "/parameters", error))
		text += fmt::format("{}{}={}", text.empty() ? "" : " ", entry.path().filename().string(),
				    firstLine(entry.path()));
	return text;
}

Result<void> unloadModule(const std::string &name)
{
	if (syscall(SYS_delete_module, name.c_str(), O_NONBLOCK) == 0)
		return {};
	return moduleError(name, "unload");
}
