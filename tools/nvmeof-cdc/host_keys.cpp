// SPDX-License-Identifier: LGPL-2.1-or-later
#include "host_keys.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <map>
#include <optional>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "libctl/base/hex.h"
#include "libctl/base/make_error.h"
#include "libctl/keys/source.h"
#include "record.h"

namespace cdc {

using namespace nofctl;
using nvmeof::Result;

namespace {

constexpr std::size_t maxFiles = 300000, maxProblems = 20;
constexpr std::size_t textsSize = 64u << 10;
constexpr std::string_view credentialPrefix = "credential:";

enum class Use { dhchap, dhchapCtrl, tls };

constexpr std::pair<std::string_view, Use> suffixes[] = {
	{".dhchap", Use::dhchap}, {".dhchap-ctrl", Use::dhchapCtrl}, {".tls", Use::tls}};

struct KeyFile {
	std::string hostnqn;
	Use use;
};

// Replaces %XX. Nothing: the name is malformed
std::optional<std::string> decoded(std::string_view name)
{
	std::string text;
	for (std::size_t i = 0; i < name.size(); i++) {
		if (name[i] != '%') {
			text += name[i];
			continue;
		}
		const int high = i + 2 < name.size() ? hexDigit(name[i + 1]) : -1;
		const int low = i + 2 < name.size() ? hexDigit(name[i + 2]) : -1;
		if (high < 0 || low < 0)
			return {};
		text += static_cast<char>(high << 4 | low);
		i += 2;
	}
	return text;
}

std::optional<KeyFile> keyFileOf(std::string_view name)
{
	for (const auto &[suffix, use] : suffixes) {
		if (!name.ends_with(suffix))
			continue;
		auto nqn = decoded(name.substr(0, name.size() - suffix.size()));
		if (nqn && checkName(*nqn))
			return KeyFile{*std::move(nqn), use};
	}
	return {};
}

struct CloseDir {
	void operator()(DIR *dir) const { ::closedir(dir); }
};

struct Directory {
	std::string path, prefix;
	bool credentials = false;
};

Result<Directory> directoryOf(const std::string &where)
{
	if (!where.starts_with(credentialPrefix))
		return Directory{where, {}, false};
	const std::string name = where.substr(credentialPrefix.size());
	const char *folder = std::getenv("CREDENTIALS_DIRECTORY");
	if (!folder || !*folder)
		return invalidError(fmt::format("{}: there are no credentials here; 'LoadCredential={}:DIRECTORY' in "
						"the unit provides them",
						where, name));
	return Directory{folder, name + "_", true};
}

bool isFolder(const std::string &path)
{
	struct stat is {};
	return ::stat(path.c_str(), &is) == 0 && S_ISDIR(is.st_mode);
}

// The keys that the files of a directory are by their names
Result<std::map<std::string, KeyFile>> keyFilesIn(const Directory &directory, const std::vector<std::string> &names)
{
	std::map<std::string, KeyFile> files; // by path
	std::map<std::pair<std::string, Use>, std::string> known;
	std::string first;
	std::size_t more = 0;
	auto fault = [&](std::string message) {
		if (first.empty())
			first = std::move(message);
		else
			more++;
	};
	for (const std::string &name : names) {
		const std::string path = directory.path + "/" + directory.prefix + name;
		auto file = keyFileOf(name);
		if (file) {
			auto [other, fresh] = known.try_emplace({file->hostnqn, file->use}, path);
			if (!fresh)
				fault(fmt::format("{} and {} are the same key of host {}: remove one of them",
						  other->second, path, file->hostnqn));
			files.emplace(path, *std::move(file));
		} else if (!isFolder(path)) {
			fault(path + ": its name is not HOSTNQN.dhchap, HOSTNQN.dhchap-ctrl or HOSTNQN.tls, so the key "
				     "of a host may be missing: rename or remove it");
		}
	}
	if (!first.empty())
		return invalidError(more ? fmt::format("{}; {} more of these files are faulty", first, more) : first);
	return files;
}

nvmeof::Error systemError(const std::string &path, int error)
{
	return nvmeof::errorFromErrno(error, fmt::format("{}: {}", path, std::strerror(error)));
}

// The names of its files, without the prefix
Result<std::vector<std::string>> namesIn(const Directory &directory)
{
	const std::unique_ptr<DIR, CloseDir> dir(::opendir(directory.path.c_str()));
	struct stat is {};
	if (!dir || ::fstat(::dirfd(dir.get()), &is) < 0)
		return systemError(directory.path, errno);
	if (!directory.credentials && is.st_uid != 0 && is.st_uid != ::geteuid())
		return invalidError(fmt::format("{}: it belongs to another user (uid {}), who can change keys in it: "
						"'chown root {}'",
						directory.path, is.st_uid, directory.path));
	if (!directory.credentials && is.st_mode & 022)
		return invalidError(fmt::format("{}: its mode is {:04o}, so others can change keys in it: 'chmod 700 "
						"{}'",
						directory.path, is.st_mode & 07777, directory.path));
	std::vector<std::string> names;
	errno = 0;
	while (const dirent *entry = ::readdir(dir.get())) {
		const std::string_view name = entry->d_name;
		if (name.starts_with('.') || !name.starts_with(directory.prefix))
			continue;
		if (names.size() == maxFiles)
			return invalidError(
				fmt::format("{}: it contains more than {} files", directory.path, maxFiles));
		names.emplace_back(name.substr(directory.prefix.size()));
	}
	if (errno)
		return systemError(directory.path, errno);
	std::ranges::sort(names);
	return names;
}

} // namespace

std::string_view HostKeys::keep(const SecretBytes &text)
{
	if (texts_.empty() || texts_.back().size() - used_ < text.size()) {
		texts_.emplace_back(textsSize);
		used_ = 0;
	}
	std::uint8_t *to = texts_.back().data() + used_;
	std::ranges::copy(text.bytes(), to);
	used_ += text.size();
	return {reinterpret_cast<const char *>(to), text.size()};
}

Result<HostKeys::Reading> HostKeys::read(const std::string &where)
{
	auto keys = std::make_shared<HostKeys>();
	Reading reading;
	reading.keys = keys;
	if (where.empty())
		return reading;
	Result<Directory> directory = directoryOf(where);
	if (!directory)
		return directory.error();
	Result<std::vector<std::string>> names = namesIn(*directory);
	if (!names)
		return names.error();
	std::size_t problems = 0;
	auto problem = [&](const std::string &message) {
		if (problems++ < maxProblems)
			reading.problems.push_back(message);
	};
	Result<std::map<std::string, KeyFile>> files = keyFilesIn(*directory, *names);
	if (!files)
		return files.error();
	for (const auto &[path, file] : *files) {
		Key &key = keys->keys_[file.hostnqn];
		Result<KeySource> source = KeySource::parse(
			directory->credentials ? std::string(credentialPrefix) + path.substr(directory->path.size() + 1)
					       : path);
		Result<SecretBytes> text = source ? readSecret(*source) : Result<SecretBytes>(source.error());
		Result<void> good = text ? Result<void>() : Result<void>(text.error());
		if (good && file.use != Use::tls)
			good = checkDhchapSecret(*source, *text);
		else if (good)
			if (Result<TlsPsk> psk = TlsPsk::parse(text->text()); !psk)
				good = invalidError(path + ": " + psk.error().message);
		if (!good) {
			key.unusable = true;
			problem(good.error().message);
			continue;
		}
		(file.use == Use::tls      ? key.tls
		 : file.use == Use::dhchap ? key.dhchap.host
					   : key.dhchap.ctrl) = keys->keep(*text);
	}
	for (auto &[nqn, key] : keys->keys_)
		if (key.dhchap.host.empty() && !key.dhchap.ctrl.empty() && !key.unusable) {
			key.unusable = true;
			problem(fmt::format(
				"{}: host {} has a .dhchap-ctrl file and no .dhchap file; the service proves "
				"its identity only to hosts that prove theirs",
				directory->path, nqn));
		}
	if (problems > maxProblems)
		reading.problems.push_back(
			fmt::format("{}: {} more problems", directory->path, problems - maxProblems));
	return reading;
}

const HostKeys::Key *HostKeys::of(const std::string &hostnqn) const
{
	const auto found = keys_.find(hostnqn);
	return found == keys_.end() ? nullptr : &found->second;
}

} // namespace cdc
