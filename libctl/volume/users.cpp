// SPDX-License-Identifier: LGPL-2.1-or-later
#include "users.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <fstream>
#include <set>
#include <sys/sysmacros.h>
#include <thread>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include "first_line.h"
#include "mounts.h"

namespace nofctl::volume {

namespace fs = std::filesystem;
using namespace nvmeof;
using namespace std::chrono_literals;

namespace {

std::vector<fs::path> entries(const fs::path &folder)
{
	std::error_code error;
	std::vector<fs::path> found;
	for (fs::directory_iterator one(folder, error), end; !error && one != end; one.increment(error))
		found.push_back(one->path());
	std::ranges::sort(found);
	return found;
}

// A disk and its partitions
struct Family {
	std::vector<fs::path> folders; // directories in sysfs
	std::set<std::string> names, numbers;

	Family(const SystemPaths &systemPaths, const std::string &disk)
	{
		add(systemPaths.sys / "block" / disk);
		std::error_code error;
		for (const fs::path &folder : entries(systemPaths.sys / "block" / disk))
			if (fs::exists(folder / "partition", error))
				add(folder);
	}

private:
	void add(const fs::path &folder)
	{
		folders.push_back(folder);
		names.insert(folder.filename());
		numbers.insert(firstLine(folder / "dev"));
	}
};

void findHolders(const SystemPaths &systemPaths, const Family &family, std::vector<User> &users)
{
	for (const fs::path &folder : family.folders)
		for (const fs::path &holder : entries(folder / "holders")) {
			const std::string name = holder.filename();
			const std::string mapped = firstLine(systemPaths.sys / "block" / name / "dm/name");
			users.push_back({"device", mapped.empty() ? name : fmt::format("{} ({})", name, mapped)});
		}
}

// If a container uses the disk as a block volume, the node itself is bind-mounted from devtmpfs.
void findMounts(const SystemPaths &systemPaths, const Family &family, std::vector<User> &users)
{
	const Result<std::vector<Mount>> mounts = mountsOf(systemPaths);
	if (!mounts) { // users are unknown, so the disk counts as in use
		users.push_back({"unseen", mounts.error().message});
		return;
	}
	for (const Mount &mount : *mounts) {
		auto isNode = [&](const std::string &name) { return mount.source == "/dev/" + name; };
		auto isRoot = [&](const std::string &name) { return mount.root == "/" + name; };
		const std::string number = fmt::format("{}:{}", major(mount.device), minor(mount.device));
		if (family.numbers.contains(number) || std::ranges::any_of(family.names, isNode))
			users.push_back({"mount", mount.point});
		else if (mount.type == "devtmpfs" && std::ranges::any_of(family.names, isRoot))
			users.push_back({"bind", mount.point});
	}
}

void findSwap(const SystemPaths &systemPaths, const Family &family, std::vector<User> &users)
{
	std::ifstream swaps(systemPaths.proc / "swaps");
	for (std::string line; std::getline(swaps, line);)
		for (const std::string &name : family.names)
			if (line.starts_with("/dev/" + name + " ") || line.starts_with("/dev/" + name + "\t"))
				users.push_back({"swap", "/dev/" + name});
}

bool isProcess(const fs::path &folder)
{
	const std::string name = folder.filename();
	return !name.empty() && std::ranges::all_of(name, [](char c) { return c >= '0' && c <= '9'; });
}

void findPrograms(const SystemPaths &systemPaths, const Family &family, std::vector<User> &users)
{
	for (const fs::path &process : entries(systemPaths.proc)) {
		if (!isProcess(process))
			continue;
		auto hasOpen = [&](const fs::path &fd) {
			std::error_code error;
			const std::string to = fs::read_symlink(fd, error);
			return to.starts_with("/dev/") && family.names.contains(to.substr(5));
		};
		if (std::ranges::any_of(entries(process / "fd"), hasOpen))
			users.push_back({"program", fmt::format("{}, process {}", firstLine(process / "comm"),
								process.filename().string())});
	}
}

} // namespace

std::vector<User> usersOf(const SystemPaths &systemPaths, const std::string &disk)
{
	const Family family(systemPaths, disk);
	std::vector<User> users;
	findMounts(systemPaths, family, users);
	findHolders(systemPaths, family, users);
	findSwap(systemPaths, family, users);
	findPrograms(systemPaths, family, users);
	return users;
}

Result<std::vector<User>> allUsersOf(const SystemPaths &systemPaths, Client &client, const std::string &disk)
{
	for (auto deadline = std::chrono::steady_clock::now() + 2s;;) {
		std::vector<User> users = usersOf(systemPaths, disk);
		const bool programs = std::ranges::all_of(users, [](const User &u) { return u.kind == "program"; });
		Result<Namespace> ns = client.nameSpace(disk);
		if (!ns && ns.error().code != ErrorCode::noSuchObject)
			return ns.error();
		const std::uint32_t openers = ns ? ns->openers : 0;
		if (!programs || (users.empty() && openers == 0))
			return users;
		if (std::chrono::steady_clock::now() < deadline) {
			std::this_thread::sleep_for(50ms);
			continue;
		}
		if (users.empty())
			users.push_back({"unseen", fmt::format("{} opener{} not visible from here", openers,
							       openers == 1 ? "" : "s")});
		return users;
	}
}

std::string toString(const std::vector<User> &users)
{
	std::string text;
	for (const User &user : users)
		text += fmt::format("{}{}{}", text.empty() ? "" : "; ",
				    user.kind == "mount"  ? "mounted on "
				    : user.kind == "bind" ? "given to a container at "
				    : user.kind == "swap" ? "swap on "
							  : "in use by ",
				    user.what);
	return text;
}

// Read-only, because udev processes a device again after it was open for writing.
ExclusiveOpen::ExclusiveOpen(const SystemPaths &systemPaths, const std::string &disk)
	: fd_(::open((systemPaths.dev / disk).c_str(), O_RDONLY | O_EXCL | O_NONBLOCK | O_CLOEXEC)),
	  refused_(fd_ < 0 && errno == EBUSY)
{
}

ExclusiveOpen::ExclusiveOpen(ExclusiveOpen &&other) noexcept
	: fd_(std::exchange(other.fd_, -1)), refused_(other.refused_)
{
}

ExclusiveOpen::~ExclusiveOpen()
{
	if (fd_ >= 0)
		::close(fd_);
}

} // namespace nofctl::volume
