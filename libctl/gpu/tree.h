// SPDX-License-Identifier: LGPL-2.1-or-later
// Files of a machine, its sysfs above all: this one's, a copy in a folder, or a recording. All readers read through it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace nofctl::gpu {

// Paths are absolute, as they are on the machine itself.
class Tree {
public:
	virtual ~Tree() = default;
	// At most mostBytes of it. Nothing: it is not there, or cannot be read.
	virtual std::optional<std::string> read(const std::string &file) const = 0;
	// Names in it that begin so, sorted; none where it is no folder.
	virtual std::vector<std::string> list(const std::string &folder, const std::string &start = "") const = 0;
	// Where a link leads; nothing where there is none.
	virtual std::optional<std::string> target(const std::string &link) const = 0;
	// Its first line that begins so, of a file of any length.
	virtual std::optional<std::string> line(const std::string &file, const std::string &start) const = 0;

	// Without blanks at the end; empty where there is nothing to read.
	std::string text(const std::string &file) const;
	// Nothing where that is no number; 0x... is one, too.
	std::optional<std::int64_t> number(const std::string &file) const;
	// The last component of where the link leads: a driver, a group. Empty: none.
	std::string linkName(const std::string &link) const;

	static constexpr std::size_t mostBytes = 1 << 20;
};

// The machine itself, or a copy: what is below @root counts as /. Absolute links are followed below it, too.
class FolderTree : public Tree {
public:
	explicit FolderTree(std::string root = "") : root_(std::move(root)) {}

	std::optional<std::string> read(const std::string &file) const override;
	std::vector<std::string> list(const std::string &folder, const std::string &start = "") const override;
	std::optional<std::string> target(const std::string &link) const override;
	std::optional<std::string> line(const std::string &file, const std::string &start) const override;

private:
	std::string root_;
};

// What was recorded, or made up by a test.
class MemoryTree : public Tree {
public:
	std::optional<std::string> read(const std::string &file) const override;
	std::vector<std::string> list(const std::string &folder, const std::string &start = "") const override;
	std::optional<std::string> target(const std::string &link) const override;
	std::optional<std::string> line(const std::string &file, const std::string &start) const override;

	void file(const std::string &path, std::string content) { files_[path] = std::move(content); }
	void link(const std::string &path, std::string target) { links_[path] = std::move(target); }
	void name(const std::string &path) { names_.insert(path); } // there is something, of which no more is known

	const std::map<std::string, std::string> &files() const { return files_; }
	const std::map<std::string, std::string> &links() const { return links_; }
	const std::set<std::string> &names() const { return names_; }

private:
	std::map<std::string, std::string> files_, links_;
	std::set<std::string> names_;
};

// Passes on what another one has, and keeps all that was asked for and is there.
class KeepingTree : public Tree {
public:
	explicit KeepingTree(const Tree &from) : from_(from) {}

	std::optional<std::string> read(const std::string &file) const override;
	std::vector<std::string> list(const std::string &folder, const std::string &start = "") const override;
	std::optional<std::string> target(const std::string &link) const override;
	std::optional<std::string> line(const std::string &file, const std::string &start) const override;

	const MemoryTree &kept() const { return kept_; }

private:
	const Tree &from_;
	mutable MemoryTree kept_;
};

// The last component.
std::string baseOf(std::string_view path);
// Lines without their ends.
std::vector<std::string> linesOf(std::string_view text);
// Words between blanks.
std::vector<std::string> wordsOf(std::string_view text);

} // namespace nofctl::gpu
