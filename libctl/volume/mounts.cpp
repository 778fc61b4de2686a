// SPDX-License-Identifier: LGPL-2.1-or-later
#include "mounts.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <memory>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>
#include <libmount/libmount.h>

namespace nofctl::volume {

using namespace nvmeof;

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
