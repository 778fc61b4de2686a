// SPDX-License-Identifier: LGPL-2.1-or-later
#include "disk_users.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <thread>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>
#include <libmount/libmount.h>

#include "libctl/base/text.h"
#include "volume.h"

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
void findMounts(const Result<std::vector<Mount>> &mounts, const Family &family, std::vector<User> &users)
{
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

// @diskOf: index in @users of the disk with that node, "/dev/nvmeof0n1p1"
void findPrograms(const SystemPaths &systemPaths, const std::map<std::string, std::size_t> &diskOf,
		  std::vector<std::vector<User>> &users)
{
	for (const fs::path &process : entries(systemPaths.proc)) {
		if (!isProcess(process))
			continue;
		std::map<std::size_t, std::size_t> opens; // by disk
		for (const fs::path &fd : entries(process / "fd")) {
			std::error_code error;
			if (auto at = diskOf.find(fs::read_symlink(fd, error)); at != diskOf.end())
				opens[at->second]++;
		}
		for (const auto &[disk, count] : opens)
			users[disk].push_back({"program",
					       fmt::format("{}, process {}", firstLine(process / "comm"),
							   process.filename().string()),
					       count});
	}
}

} // namespace

std::vector<std::vector<User>> usersOf(const SystemPaths &systemPaths, const std::vector<std::string> &disks)
{
	std::vector<std::vector<User>> users;
	if (disks.empty())
		return users;
	const Result<std::vector<Mount>> mounts = mountsOf(systemPaths);
	std::map<std::string, std::size_t> diskOf;
	for (const std::string &disk : disks) {
		const Family family(systemPaths, disk);
		for (const std::string &name : family.names)
			diskOf.emplace("/dev/" + name, users.size());
		std::vector<User> &own = users.emplace_back();
		findMounts(mounts, family, own);
		findHolders(systemPaths, family, own);
		findSwap(systemPaths, family, own);
	}
	findPrograms(systemPaths, diskOf, users);
	return users;
}

std::vector<User> usersOf(const SystemPaths &systemPaths, const std::string &disk)
{
	return usersOf(systemPaths, std::vector{disk}).front();
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
			users.push_back({"unseen", counted(openers, "opener") + " not visible from here"});
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

// ---- udev database

namespace {

// std::filesystem::equivalent() does not support device nodes.
bool leadsTo(const fs::path &link, const fs::path &node)
{
	std::error_code one, other;
	const fs::path to = fs::canonical(link, one);
	return !one && to == fs::canonical(node, other) && !other;
}

} // namespace

// udev writes a line "I:..." after it has applied the rules and created the links. "S:..." is a link below /dev.
UdevEntry udevEntry(const SystemPaths &systemPaths, const std::string &disk)
{
	UdevEntry entry;
	std::error_code error;
	const fs::path node = systemPaths.dev / disk;
	if (!fs::exists(node, error))
		return entry;
	std::ifstream database(systemPaths.udev / "data" / ("b" + firstLine(systemPaths.sys / "block" / disk / "dev")));
	for (std::string line; std::getline(database, line);) {
		entry.ready = entry.ready || line.starts_with("I:");
		if (!line.starts_with("S:disk/by-id/") || !leadsTo(systemPaths.dev / line.substr(2), node))
			continue;
		if (entry.byId.empty() || line.find("-uuid.") != line.npos)
			entry.byId = systemPaths.dev / line.substr(2);
	}
	entry.ready = entry.ready || !fs::exists(systemPaths.udev / "control", error);
	return entry;
}

// ---- mounts

namespace {

std::string text(const char *given)
{
	return given ? given : "";
}

bool hasOption(const char *options, const char *name)
{
	return options && mnt_optstr_get_option(options, name, nullptr, nullptr) == 0;
}

unsigned long flagsOf(const char *options)
{
	unsigned long flags = 0;
	mnt_optstr_get_flags(options ? options : "", &flags, mnt_get_builtin_optmap(MNT_LINUX_MAP));
	return flags;
}

Mount mountOf(libmnt_fs *fs)
{
	return {mnt_fs_get_id(fs),
		mnt_fs_get_parent_id(fs),
		mnt_fs_get_devno(fs),
		text(mnt_fs_get_root(fs)),
		text(mnt_fs_get_target(fs)),
		text(mnt_fs_get_fstype(fs)),
		text(mnt_fs_get_source(fs)),
		hasOption(mnt_fs_get_vfs_options(fs), "ro") || hasOption(mnt_fs_get_fs_options(fs), "ro"),
		flagsOf(mnt_fs_get_vfs_options(fs))};
}

Error untold(std::string message)
{
	return errorFromErrno(EIO, std::move(message));
}

// The directory that a mount covers: its file system and the path within
std::pair<dev_t, std::string> coveredBy(const std::vector<Mount> &all, const Mount &mount)
{
	auto parent = std::ranges::find(all, mount.parent, &Mount::id);
	if (parent == all.end())
		return {0, mount.point};
	const auto below = std::filesystem::path(mount.point).lexically_relative(parent->point);
	return {parent->device, (std::filesystem::path(parent->root) / below).lexically_normal()};
}

// An O_PATH descriptor: opening it causes no file system I/O.
class PathHandle {
public:
	explicit PathHandle(const std::string &path) : fd_(::open(path.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC)) {}
	~PathHandle()
	{
		if (fd_ >= 0)
			::close(fd_);
	}
	PathHandle(const PathHandle &) = delete;
	PathHandle &operator=(const PathHandle &) = delete;

	explicit operator bool() const { return fd_ >= 0; }
	bool isLink() const
	{
		struct stat of; // status of the link itself, which cannot be a mount point
		const bool known = ::fstatat(fd_, "", &of, AT_EMPTY_PATH | AT_NO_AUTOMOUNT) == 0;
		return known && S_ISLNK(of.st_mode);
	}
	std::string name() const
	{
		std::error_code error;
		return std::filesystem::read_symlink(fmt::format("/proc/self/fd/{}", fd_), error);
	}
	int mountId() const
	{
		std::ifstream lines(fmt::format("/proc/self/fdinfo/{}", fd_));
		int id = -1;
		for (std::string word; lines >> word;)
			if (word == "mnt_id:")
				lines >> id;
		return id;
	}

private:
	int fd_;
};

} // namespace

Result<std::vector<Mount>> mountsOf(const SystemPaths &systemPaths)
{
	const std::string file = systemPaths.proc / "self/mountinfo";
	const std::unique_ptr<libmnt_table, decltype(&mnt_unref_table)> table(mnt_new_table_from_file(file.c_str()),
									      mnt_unref_table);
	const std::unique_ptr<libmnt_iter, decltype(&mnt_free_iter)> at(mnt_new_iter(MNT_ITER_FORWARD), mnt_free_iter);
	if (!table || !at)
		return untold(file + " cannot be read");
	std::vector<Mount> all;
	libmnt_fs *fs = nullptr;
	int more = 0;
	while ((more = mnt_table_next_fs(table.get(), at.get(), &fs)) == 0)
		all.push_back(mountOf(fs));
	return more == 1 ? Result<std::vector<Mount>>(all) : untold(file + " cannot be read");
}

Result<std::optional<Mount>> mountAt(const SystemPaths &systemPaths, const std::string &path)
{
	const PathHandle handle(path);
	if (!handle && (errno == ENOENT || errno == ENOTDIR))
		return std::optional<Mount>();
	if (!handle)
		return errorFromErrno(errno, path + ": " + std::strerror(errno));
	if (handle.isLink()) { // otherwise operations on the path would affect the link's target
		Error error;
		error.code = ErrorCode::invalid;
		error.message =
			path + " is a symbolic link, which is allowed only for its parent directories; remove it";
		return error;
	}
	Result<std::vector<Mount>> all = mountsOf(systemPaths);
	if (!all)
		return all.error();
	const std::string name = handle.name();
	auto found = std::ranges::find(*all, handle.mountId(), &Mount::id);
	if (name.empty() || found == all->end()) // /proc is missing, or the file system was just unmounted
		return untold(path + ": cannot determine its mount; try again");
	return found->point == name ? std::optional(*found) : std::nullopt; // otherwise the path is below a mount point
}

std::vector<std::string> copiesOf(const std::vector<Mount> &all, const std::string &point)
{
	std::vector<std::string> copies{point};
	auto found = std::ranges::find(all.rbegin(), all.rend(), point, &Mount::point);
	if (found == all.rend())
		return copies;
	const auto covered = coveredBy(all, *found);
	for (const Mount &other : all)
		if (other.point != point && coveredBy(all, other) == covered)
			copies.push_back(other.point);
	return copies;
}

std::string canonicalPath(const std::string &path)
{
	const PathHandle handle(path);
	return handle ? handle.name() : path;
}

} // namespace nofctl::volume
