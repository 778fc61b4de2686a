// SPDX-License-Identifier: LGPL-2.1-or-later
// Access to the files of a machine, mainly sysfs: of this machine, of a copy in a directory, or of a recording. All
// readers use this interface. The functions at the end find the network interfaces of the machine in these files.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace nofctl::gpu {

// Paths are absolute paths on the machine itself.
class Tree {
public:
	virtual ~Tree() = default;
	// Reads at most maxBytes. Nothing if the file does not exist or cannot be read.
	virtual std::optional<std::string> read(const std::string &file) const = 0;
	// Sorted names in @folder that begin with @start. Empty if it is not a directory.
	virtual std::vector<std::string> list(const std::string &folder, const std::string &start = "") const = 0;
	// Resolved target of a symbolic link; nothing if there is none.
	virtual std::optional<std::string> target(const std::string &link) const = 0;
	// The first line that begins with @start. The file may have any length.
	virtual std::optional<std::string> line(const std::string &file, const std::string &start) const = 0;

	// Content without trailing blanks; empty if it cannot be read.
	std::string text(const std::string &file) const;
	// Accepts decimal and 0x...; nothing for other content.
	std::optional<std::int64_t> number(const std::string &file) const;
	// The last component of the link's target: the name of a driver or group. Empty: no link.
	std::string linkName(const std::string &link) const;

	static constexpr std::size_t maxBytes = 1 << 20;
};

// This machine, or a copy: @root serves as /. Absolute links are resolved below it, too.
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

// A recording, or files made by a test.
class MemoryTree : public Tree {
public:
	std::optional<std::string> read(const std::string &file) const override;
	std::vector<std::string> list(const std::string &folder, const std::string &start = "") const override;
	std::optional<std::string> target(const std::string &link) const override;
	std::optional<std::string> line(const std::string &file, const std::string &start) const override;

	void file(const std::string &path, std::string content) { files_[path] = std::move(content); }
	void link(const std::string &path, std::string target) { links_[path] = std::move(target); }
	void name(const std::string &path) { names_.insert(path); } // exists, content unknown

	const std::map<std::string, std::string> &files() const { return files_; }
	const std::map<std::string, std::string> &links() const { return links_; }
	const std::set<std::string> &names() const { return names_; }

private:
	std::map<std::string, std::string> files_, links_;
	std::set<std::string> names_;
};

// Forwards to another tree and records everything that was read.
class RecordingTree : public Tree {
public:
	explicit RecordingTree(const Tree &from) : from_(from) {}

	std::optional<std::string> read(const std::string &file) const override;
	std::vector<std::string> list(const std::string &folder, const std::string &start = "") const override;
	std::optional<std::string> target(const std::string &link) const override;
	std::optional<std::string> line(const std::string &file, const std::string &start) const override;

	const MemoryTree &kept() const { return kept_; }

private:
	const Tree &from_;
	mutable MemoryTree kept_;
};

// The last component of a path.
std::string baseOf(std::string_view path);
// Lines without line ends.
std::vector<std::string> linesOf(std::string_view text);
// Words separated by blanks.
std::vector<std::string> wordsOf(std::string_view text);

// The interface for an address, from the main routing table as shown in /proc. Empty: no route, or not an address.
// Policy routing (ip rule) is not considered.
std::string interfaceTowards(const Tree &tree, const std::string &address);
// The interface with that IPv6 address. For IPv4, the interface whose network contains the address.
std::string interfaceWith(const Tree &tree, const std::string &address);
// The interface of a connection: @hostIface, else the one with @hostTraddr, else the one towards @traddr. Empty: not
// known
std::string interfaceOf(const Tree &tree, const std::string &hostIface, const std::string &hostTraddr,
			const std::string &traddr);
// "eth1 has no carrier", "eth1 is down", "there is no interface eth1"; empty: none of these, or @interface is empty
std::string interfaceTrouble(const Tree &tree, const std::string &interface);
// Addresses of an interface, without link-local IPv6 addresses.
std::vector<std::string> addressesOf(const Tree &tree, const std::string &interface);

} // namespace nofctl::gpu
