// SPDX-License-Identifier: LGPL-2.1-or-later
#include "staged_volumes.h"

#include <cerrno>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "capability.h"
#include "libctl/base/file.h"

namespace csi {

namespace fs = std::filesystem;
using namespace nvmeof;
using Json = nlohmann::json;

namespace {

// Absent: the file does not exist. For an unreadable file an empty text, which is not a valid record, so that it does
// not count as missing.
std::optional<std::string> textOf(const fs::path &file)
{
	constexpr std::size_t largest = 1 << 20;
	Result<std::string> text = nofctl::readSmallFile(file, largest);
	if (text)
		return *std::move(text);
	return text.error().sysErrno == ENOENT ? std::nullopt : std::optional<std::string>("");
}

} // namespace

bool Staged::sameRequest(const Staged &other) const
{
	return context == other.context && fileSystem == other.fileSystem && options == other.options &&
	       sameAccess(accessMode, other.accessMode);
}

// Escapes everything except letters, digits and "-_." as %xx, and a leading dot
fs::path Folder::file(const std::string &name) const
{
	std::string plain;
	for (unsigned char c : name)
		if (std::isalnum(c) || c == '-' || c == '_' || (c == '.' && !plain.empty()))
			plain += static_cast<char>(c);
		else
			plain += fmt::format("%{:02x}", c);
	return path_ / (plain + ".json");
}

std::optional<std::string> Folder::read(const std::string &name) const
{
	return textOf(file(name));
}

// Atomic: after a power failure the file has the old or the new text.
Result<void> Folder::write(const std::string &name, const std::string &text) const
{
	std::error_code ignored;
	fs::create_directories(path_, ignored);
	nofctl::removeUnfinished(file(name)); // left by a killed plugin; each volume has one writer
	return nofctl::replaceFile(file(name), text, 0600, nofctl::Durable::yes);
}

void Folder::remove(const std::string &name) const
{
	std::error_code ignored;
	fs::remove(file(name), ignored);
}

std::vector<std::string> Folder::textsExcept(const std::string &name) const
{
	const fs::path but = file(name).filename();
	std::vector<std::string> all;
	std::error_code error;
	for (fs::directory_iterator one(path_, error), end; !error && one != end; one.increment(error)) {
		if (one->path().extension() != ".json" || one->path().filename() == but)
			continue;
		if (std::optional<std::string> text = textOf(one->path()))
			all.push_back(*std::move(text));
	}
	return all;
}

namespace {

/*
 * A malformed record counts as missing: the orchestrator's calls repeat its contents. Release 0.1.0 wrote a record only
 * after a successful stage, without "complete".
 */
std::optional<Staged> parse(const std::string &text)
try {
	const Json json = Json::parse(text);
	Staged staged;
	staged.context = json.at("context").get<Texts>();
	staged.path = json.value("path", "");
	staged.fileSystem = json.value("file_system", "");
	staged.options = json.value("options", std::vector<std::string>());
	staged.accessMode = json.value("access_mode", 0);
	staged.complete = json.value("complete", true);
	staged.formatting = json.value("formatting", false);
	return staged;
} catch (const Json::exception &) {
	return std::nullopt;
}

} // namespace

std::optional<Staged> StagedVolumes::find(const std::string &volume) const
{
	std::optional<std::string> text = folder_.read(volume);
	return text ? parse(*text) : std::nullopt;
}

std::vector<Staged> StagedVolumes::others(const std::string &volume) const
{
	std::vector<Staged> all;
	for (const std::string &text : folder_.textsExcept(volume))
		if (std::optional<Staged> staged = parse(text))
			all.push_back(*staged);
	return all;
}

Result<void> StagedVolumes::add(const std::string &volume, const Staged &staged) const
{
	const Json json{{"context", staged.context},        {"path", staged.path},
			{"file_system", staged.fileSystem}, {"options", staged.options},
			{"access_mode", staged.accessMode}, {"complete", staged.complete},
			{"formatting", staged.formatting}};
	return folder_.write(volume, json.dump());
}

} // namespace csi
