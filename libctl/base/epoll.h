// SPDX-License-Identifier: LGPL-2.1-or-later
// Owner of a file descriptor, and an epoll set that is polled as one descriptor.
#pragma once

#include <cerrno>
#include <sys/epoll.h>
#include <unistd.h>
#include <utility>

#include <nvmeof/result.h>

namespace nofctl {

class OwnedFd {
public:
	explicit OwnedFd(int fd = -1) : fd_(fd) {}
	OwnedFd(OwnedFd &&other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
	OwnedFd &operator=(OwnedFd &&other) noexcept
	{
		std::swap(fd_, other.fd_);
		return *this;
	}
	~OwnedFd()
	{
		if (fd_ >= 0)
			::close(fd_);
	}
	int get() const { return fd_; }

private:
	int fd_;
};

class Epoll {
public:
	static nvmeof::Result<Epoll> create()
	{
		Epoll made;
		made.fd_ = OwnedFd(::epoll_create1(EPOLL_CLOEXEC));
		if (made.fd_.get() < 0)
			return nvmeof::errorFromErrno(errno);
		return made;
	}

	int fd() const { return fd_.get(); }

	// Adds @fd to the set or removes it.
	nvmeof::Result<void> watch(int fd, bool wanted)
	{
		epoll_event event{};
		event.events = EPOLLIN;
		event.data.fd = fd;
		if (::epoll_ctl(fd_.get(), wanted ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, fd, &event) == 0 ||
		    errno == (wanted ? EEXIST : ENOENT))
			return {};
		return nvmeof::errorFromErrno(errno);
	}

private:
	OwnedFd fd_;
};

} // namespace nofctl
