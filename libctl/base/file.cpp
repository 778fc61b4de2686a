// SPDX-License-Identifier: LGPL-2.1-or-later
#include "file.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "make_error.h"

namespace nofctl {

using nvmeof::Error;
using nvmeof::Result;

namespace {

constexpr std::string_view suffix = ".XXXXXX"; // template for mkostemp(3)

class Fd {
public:
	explicit Fd(int fd) : fd_(fd) {}
	Fd(const Fd &) = delete;
	Fd &operator=(const Fd &) = delete;
	~Fd()
	{
		if (fd_ >= 0)
			::close(fd_);
	}
	int get() const { return fd_; }

private:
	int fd_;
};

// A new temporary file with a unique name. The destructor removes it unless it was renamed.
class Draft {
public:
	explicit Draft(const std::string &start)
		: name_(start + std::string(suffix)), fd_(::mkostemp(name_.data(), O_CLOEXEC))
	{
	}
	Draft(const Draft &) = delete;
	Draft &operator=(const Draft &) = delete;
	~Draft()
	{
		if (fd_.get() >= 0 && !renamed_)
			::unlink(name_.c_str());
	}

	int fd() const { return fd_.get(); }
	bool linkAs(const std::filesystem::path &file) const { return ::link(name_.c_str(), file.c_str()) == 0; }
	bool renameTo(const std::filesystem::path &file)
	{
		renamed_ = ::rename(name_.c_str(), file.c_str()) == 0;
		return renamed_;
	}

private:
	std::string name_;
	Fd fd_;
	bool renamed_ = false;
};

std::string draftStart(const std::filesystem::path &file)
{
	return (file.parent_path() / ("." + file.filename().string())).string();
}

Error fileError(const std::filesystem::path &file, int sysErrno)
{
	return nvmeof::errorFromErrno(sysErrno, file.string() + ": " + std::strerror(sysErrno));
}

// ENOENT on a write must not be reported as noSuchObject.
Error writeError(const std::filesystem::path &file, int sysErrno)
{
	Error error = fileError(file, sysErrno);
	error.code = nvmeof::ErrorCode::failed;
	return error;
}

bool writeAll(int fd, std::string_view text)
{
	while (!text.empty()) {
		const ssize_t n = ::write(fd, text.data(), text.size());
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return false;
		text.remove_prefix(static_cast<std::size_t>(n));
	}
	return true;
}

// A new directory entry is durable only after the directory is synced.
bool syncFolder(std::filesystem::path folder)
{
	if (folder.empty())
		folder = ".";
	const Fd fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	return fd.get() >= 0 && ::fsync(fd.get()) == 0;
}

bool regularOrAbsent(const std::filesystem::path &file)
{
	std::error_code ignored;
	const std::filesystem::file_status there = std::filesystem::symlink_status(file, ignored);
	return !std::filesystem::exists(there) || std::filesystem::is_regular_file(there);
}

} // namespace

Result<std::string> readSmallFile(const std::filesystem::path &file, std::size_t max)
{
	Fd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
	if (fd.get() < 0)
		return fileError(file, errno);
	constexpr std::size_t piece = 64 << 10;
	std::string text;
	std::size_t length = 0;
	while (length < max) {
		text.resize(std::min(length + piece, max));
		ssize_t n = ::read(fd.get(), text.data() + length, text.size() - length);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return fileError(file, errno);
		if (n == 0)
			break;
		length += static_cast<std::size_t>(n);
	}
	text.resize(length);
	return text;
}

Result<std::string> readWholeFile(const std::filesystem::path &file, std::size_t largest)
{
	Result<std::string> text = readSmallFile(file, largest + 1);
	if (!text || text->size() <= largest)
		return text;
	const bool mib = largest % (1 << 20) == 0;
	return invalidError(file.string() + ": larger than " +
			    (mib ? std::to_string(largest >> 20) + " MiB" : std::to_string(largest >> 10) + " KiB"));
}

// Uses link(2), so that readers never see a partial file and the first of two writers wins.
Result<bool> createFile(const std::filesystem::path &file, const std::string &text)
{
	Draft draft(draftStart(file));
	if (draft.fd() >= 0 && ::fchmod(draft.fd(), 0644) == 0 && writeAll(draft.fd(), text) &&
	    ::fsync(draft.fd()) == 0 && draft.linkAs(file) && syncFolder(file.parent_path()))
		return true;
	return errno == EEXIST ? Result<bool>(false) : Result<bool>(fileError(file, errno));
}

Result<void> replaceFile(const std::filesystem::path &file, std::string_view text, mode_t mode, Durable durable)
{
	if (!regularOrAbsent(file)) {
		Error error = writeError(file, EEXIST);
		error.message = file.string() + ": is not a regular file; name a file in a directory of your own";
		return error;
	}
	Draft draft(draftStart(file));
	if (draft.fd() < 0 || ::fchmod(draft.fd(), mode) != 0 || !writeAll(draft.fd(), text) ||
	    (durable == Durable::yes && ::fsync(draft.fd()) != 0) || !draft.renameTo(file) ||
	    (durable == Durable::yes && !syncFolder(file.parent_path())))
		return writeError(file, errno);
	return {};
}

Result<void> appendToFile(const std::filesystem::path &file, std::string_view text, mode_t mode)
{
	const Fd fd(::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, mode));
	if (fd.get() < 0 || !writeAll(fd.get(), text) || ::fsync(fd.get()) != 0)
		return writeError(file, errno);
	return {};
}

void removeUnfinished(const std::filesystem::path &file)
{
	const std::string start = draftStart(file) + ".";
	std::error_code error, ignored;
	for (std::filesystem::directory_iterator one(file.parent_path(), error), end; !error && one != end;
	     one.increment(error)) {
		const std::string name = one->path().string();
		if (name.starts_with(start) && name.size() == start.size() + suffix.size() - 1)
			std::filesystem::remove(one->path(), ignored);
	}
}

} // namespace nofctl
