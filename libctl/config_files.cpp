// SPDX-License-Identifier: LGPL-2.1-or-later
// Reads the files of a configuration.
#include <nvmeof/config.h>

#include <algorithm>
#include <charconv>

#include "base/file.h"
#include "config_parse.h"

namespace nvmeof {

namespace {

constexpr std::size_t maxConfigSize = 1 << 20;

// The *.toml files in @folder, sorted by name.
std::vector<std::filesystem::path> partsIn(const std::filesystem::path &folder)
{
	std::vector<std::filesystem::path> parts;
	std::error_code error;
	for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
		if (at->path().extension() == ".toml" && !at->path().filename().string().starts_with('.'))
			parts.push_back(at->path());
	std::ranges::sort(parts);
	return parts;
}

// If the message begins with "FILE:LINE: ", its place moves to ConfigProblem::place.
ConfigProblem problemOf(const std::filesystem::path &file, const Error &error)
{
	ConfigProblem problem{{file.string(), 0}, error.message, error.code};
	std::string_view words = error.message;
	if (!words.starts_with(file.string() + ":"))
		return problem;
	words.remove_prefix(file.string().size() + 1);
	auto [end, wrong] = std::from_chars(words.data(), words.data() + words.size(), problem.place.line);
	words.remove_prefix(static_cast<std::size_t>(end - words.data()));
	problem.message = words.substr(std::min(words.find_first_not_of(": "), words.size()));
	return problem;
}

void readPart(ConfigReading &reading, const std::filesystem::path &file)
{
	Result<std::string> text = nofctl::readSmallFile(file, maxConfigSize + 1);
	if (!text && text.error().code == ErrorCode::noSuchObject)
		return;
	reading.config.files.push_back(file.string());
	if (!text)
		reading.problems.push_back(problemOf(file, text.error()));
	else if (text->size() > maxConfigSize)
		reading.problems.push_back({{file.string(), 0}, "larger than 1 MiB"});
	else
		nofctl::parseConfig(reading, *text, file.string());
}

// Rules of policy.conf follow all [[defaults]] and have "last" set: the first match is the only one that applies.
void readPolicyFile(ConfigReading &reading, const std::filesystem::path &file)
{
	Result<std::vector<PolicyRule>> rules = readPolicy(file);
	if (!rules && rules.error().code == ErrorCode::noSuchObject)
		return;
	reading.config.files.push_back(file.string());
	if (!rules) {
		reading.problems.push_back(problemOf(file, rules.error()));
		return;
	}
	for (const PolicyRule &rule : *rules)
		reading.config.defaults.push_back({rule.pattern, {}, rule.settings, {file.string(), rule.line}, true});
	reading.config.notes.push_back(file.string() +
				       " is read as well, with its own order of rules; [[defaults]] can replace it");
}

} // namespace

ConfigReading parseConfig(std::string_view text, const std::string &file)
{
	ConfigReading reading;
	reading.config.files.push_back(file);
	nofctl::parseConfig(reading, text, file);
	return reading;
}

ConfigReading inspectConfig(const ConfigFiles &files)
{
	ConfigReading reading;
	if (!files.main.empty()) {
		readPart(reading, files.main);
		std::filesystem::path folder = files.main;
		for (const std::filesystem::path &part : partsIn(folder.replace_extension(".d")))
			readPart(reading, part);
	}
	if (!files.policy.empty())
		readPolicyFile(reading, files.policy);
	return reading;
}

Result<Config> readConfig(const ConfigFiles &files)
{
	return inspectConfig(files).outcome();
}

} // namespace nvmeof
