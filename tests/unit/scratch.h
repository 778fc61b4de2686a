// SPDX-License-Identifier: LGPL-2.1-or-later
// A temporary directory of a test, removed at its end.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

class Scratch {
public:
	Scratch()
	{
		std::string name = std::filesystem::temp_directory_path() / "nvmeof-test.XXXXXX";
		if (!::mkdtemp(name.data()))
			std::abort();
		path_ = name;
	}
	Scratch(const Scratch &) = delete;
	Scratch &operator=(const Scratch &) = delete;
	~Scratch()
	{
		std::error_code ignored;
		std::filesystem::remove_all(path_, ignored);
	}

	const std::filesystem::path &path() const { return path_; }

	void write(const std::filesystem::path &file, const std::string &text) const
	{
		std::filesystem::create_directories((path_ / file).parent_path());
		std::ofstream(path_ / file) << text;
	}

	std::string read(const std::filesystem::path &file) const
	{
		std::ostringstream text;
		text << std::ifstream(path_ / file).rdbuf();
		return text.str();
	}

private:
	std::filesystem::path path_;
};
