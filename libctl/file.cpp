// SPDX-License-Identifier: LGPL-2.1-or-later
#include "file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace nofctl {

namespace {

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

nvmeof::Error fileError(const std::filesystem::path &file, int sysErrno)
{
	return nvmeof::errorFromErrno(sysErrno, file.string() + ": " + std::strerror(sysErrno));
}

bool writeAll(int fd, const std::string &text)
{
	std::size_t done = 0;
	while (done < text.size()) {
		ssize_t n = ::write(fd, text.data() + done, text.size() - done);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		done += static_cast<std::size_t>(n);
	}
	return ::fsync(fd) == 0;
}

} // namespace

nvmeof::Result<std::string> readSmallFile(const std::filesystem::path &file, std::size_t most)
{
	Fd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
	if (fd.get() < 0)
		return fileError(file, errno);
	constexpr std::size_t piece = 64 << 10;
	std::string text;
	std::size_t length = 0;
	while (length < most) {
		text.resize(std::min(length + piece, most));
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

// Written aside and linked into place, so that no reader ever sees half of it and the first of two writers wins.
nvmeof::Result<bool> createFile(const std::filesystem::path &file, const std::string &text)
{
	std::string aside = file.string() + ".XXXXXX";
	Fd fd(::mkostemp(aside.data(), O_CLOEXEC));
	if (fd.get() < 0)
		return fileError(file, errno);
	bool good =
		::fchmod(fd.get(), 0644) == 0 && writeAll(fd.get(), text) && ::link(aside.c_str(), file.c_str()) == 0;
	int why = errno;
	::unlink(aside.c_str());
	if (good)
		return true;
	if (why == EEXIST)
		return false;
	return fileError(file, why);
}

} // namespace nofctl
