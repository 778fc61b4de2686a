// SPDX-License-Identifier: LGPL-2.1-or-later
// Parses the command line into a command and its options, and describes these as help.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nvmeof/result.h>

#include "command.h"

// Options of a parsed command line. The key is the long name without dashes ("nqn"), or the name of a positional option
// in the command table ("NAME").
class Args {
public:
	void add(const std::string &option, std::string value) { values_[option].push_back(std::move(value)); }

	bool has(const std::string &option) const { return values_.contains(option); }
	std::optional<std::string> text(const std::string &option) const;
	std::string textOr(const std::string &option, const std::string &fallback) const;
	const std::vector<std::string> &all(const std::string &option) const;

	// Empty if the option is absent. The parser has already rejected values that are no number or time.
	std::optional<std::uint32_t> number(const std::string &option) const;
	std::optional<std::chrono::milliseconds> seconds(const std::string &option) const; // -1 ms: never

private:
	std::map<std::string, std::vector<std::string>> values_;
};

nvmeof::Error usageError(std::string message);

struct CommandLine {
	const Command *command = nullptr; // null: print @text and exit with @exitCode
	Args args;
	std::string text;
	int exitCode = 0;
	std::vector<std::string> notices = {}; // old spellings on the line, for stderr
};

// @words: argv without the program name
CommandLine parseCommandLine(const std::vector<std::string> &words);

// For an option ("--tls", "-S") or a command ("id-ctrl") that nvme-cli has and nvmeofctl lacks: the message, with what
// to use instead. Empty if it is not one of these.
std::optional<std::string> unsupportedOption(std::string_view name);
std::optional<std::string> unsupportedCommand(std::string_view name);

// Help texts, generated from the command table.
std::string helpOfAll();
std::string helpOf(const Command &command);
// "nvmeofctl connect --nqn NQN --traddr ADDR[:PORT] [OPTION]..."
std::string usageOf(const Command &command);
