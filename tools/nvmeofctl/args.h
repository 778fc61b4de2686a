// SPDX-License-Identifier: LGPL-2.1-or-later
// Options of a parsed command line. The key is the long name without dashes ("nqn"), or the name of a positional option
// in the command table ("NAME").
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <nvmeof/result.h>

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
