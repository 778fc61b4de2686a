// SPDX-License-Identifier: LGPL-2.1-or-later
// Comparison of documents with golden files, and checks against the reference documentation
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include <catch2/catch.hpp>

namespace golden {

const std::filesystem::path sources = NVMEOF_SOURCES; // directory of the tests, set by the build

inline std::string textOf(const std::filesystem::path &file)
{
	std::ostringstream text;
	text << std::ifstream(file).rdbuf();
	return text.str();
}

// NVMEOF_GOLDEN=write replaces the golden file.
inline void checkFile(const std::filesystem::path &file, const std::string &text)
{
	const char *mode = std::getenv("NVMEOF_GOLDEN");
	if (mode && std::string(mode) == "write")
		std::ofstream(file) << text;
	CHECK(textOf(file) == text);
}

template <typename Json> void keysOf(const Json &json, std::set<std::string> &keys)
{
	for (const auto &item : json.items()) {
		if (json.is_object())
			keys.insert(item.key());
		if (item.value().is_structured())
			keysOf(item.value(), keys);
	}
}

} // namespace golden
