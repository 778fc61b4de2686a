// SPDX-License-Identifier: LGPL-2.1-or-later
// Files of our services that are there after a power cut: when a function returns, the text is on the disk.
#pragma once

#include <cerrno>
#include <filesystem>
#include <string_view>

#include <fcntl.h>
#include <unistd.h>

#include <nvmeof/result.h>

namespace durable {

namespace detail {

inline nvmeof::Result<void> synced(int fd)
{
	return ::fsync(fd) ? nvmeof::Result<void>(nvmeof::errorFromErrno(errno)) : nvmeof::Result<void>();
}

inline nvmeof::Result<void> writeAll(int fd, std::string_view text)
{
	while (!text.empty()) {
		const ssize_t n = ::write(fd, text.data(), text.size());
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return nvmeof::errorFromErrno(n ? errno : EIO);
		text.remove_prefix(static_cast<std::size_t>(n));
	}
	return synced(fd);
}

// @flags: O_APPEND or O_TRUNC
inline nvmeof::Result<void> writeFile(const std::filesystem::path &file, std::string_view text, int flags, mode_t mode)
{
	const int fd = ::open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | flags, mode);
	if (fd < 0)
		return nvmeof::errorFromErrno(errno);
	nvmeof::Result<void> written = writeAll(fd, text);
	if (::close(fd) && written)
		return nvmeof::errorFromErrno(errno);
	return written;
}

// A new name is on the disk with the folder.
inline nvmeof::Result<void> syncFolder(const std::filesystem::path &folder)
{
	const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return nvmeof::errorFromErrno(errno);
	nvmeof::Result<void> done = synced(fd);
	::close(fd);
	return done;
}

} // namespace detail

// The name that replaceFile() writes under first
inline std::filesystem::path asideOf(std::filesystem::path file)
{
	return file += ".new";
}

// The file is made if it is not there. Errors: with sysErrno; a part of @text may be there.
inline nvmeof::Result<void> appendToFile(const std::filesystem::path &file, std::string_view text, mode_t mode)
{
	return detail::writeFile(file, text, O_APPEND, mode);
}

// At any moment there is the old text or the new one, whole. Errors: with sysErrno; where the new text could not be
// written the old one is there.
inline nvmeof::Result<void> replaceFile(const std::filesystem::path &file, std::string_view text, mode_t mode)
{
	const std::filesystem::path aside = asideOf(file);
	nvmeof::Result<void> written = detail::writeFile(aside, text, O_TRUNC, mode);
	if (written && ::rename(aside.c_str(), file.c_str()))
		written = nvmeof::errorFromErrno(errno);
	if (written)
		return detail::syncFolder(file.parent_path());
	::unlink(aside.c_str());
	return written;
}

} // namespace durable
