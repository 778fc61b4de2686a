// SPDX-License-Identifier: LGPL-2.1-or-later
#include "output_file.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include <sys/stat.h>
#include <unistd.h>

using nvmeof::Result;

namespace {

nvmeof::Error failure(const std::filesystem::path &file, int error)
{
	nvmeof::Error why = nvmeof::errorFromErrno(error);
	why.code = nvmeof::ErrorCode::failed; // whatever it is, it is not about an object of the driver
	why.message = file.string() + ": " + why.message;
	return why;
}

nvmeof::Error notRegular(const std::filesystem::path &file)
{
	nvmeof::Error why = failure(file, EEXIST);
	why.message = file.string() + ": is not a regular file; name a file in a directory of your own";
	return why;
}

// Removed unless it was renamed; closed in any case.
class Draft {
public:
	explicit Draft(const std::filesystem::path &file)
		: name_((file.parent_path() / ("." + file.filename().string() + ".XXXXXX")).string()),
		  fd_(::mkstemp(name_.data()))
	{
	}
	~Draft()
	{
		if (fd_ >= 0)
			::close(fd_);
		if (fd_ >= 0 && !kept_)
			::unlink(name_.c_str());
	}
	Draft(const Draft &) = delete;
	Draft &operator=(const Draft &) = delete;

	bool opened() const { return fd_ >= 0; }
	bool write(const std::string &text) const
	{
		for (std::size_t at = 0; at < text.size();) {
			ssize_t n = ::write(fd_, text.data() + at, text.size() - at);
			if (n < 0 && errno != EINTR)
				return false;
			at += n > 0 ? static_cast<std::size_t>(n) : 0;
		}
		return ::fchmod(fd_, 0644) == 0;
	}
	bool become(const std::filesystem::path &file)
	{
		kept_ = ::rename(name_.c_str(), file.c_str()) == 0;
		return kept_;
	}

private:
	std::string name_;
	int fd_;
	bool kept_ = false;
};

} // namespace

Result<void> replaceFile(const std::filesystem::path &file, const std::string &text)
{
	std::error_code ignored;
	std::filesystem::file_status there = std::filesystem::symlink_status(file, ignored);
	if (std::filesystem::exists(there) && !std::filesystem::is_regular_file(there))
		return notRegular(file);
	Draft draft(file);
	if (!draft.opened() || !draft.write(text) || !draft.become(file))
		return failure(file, errno);
	return {};
}
