// SPDX-License-Identifier: LGPL-2.1-or-later
// File descriptor with an owner, and a wake-up for poll().
#pragma once

#include <sys/eventfd.h>
#include <unistd.h>
#include <cstdint>
#include <utility>

namespace target {

class Fd {
public:
	Fd() = default;
	explicit Fd(int fd) : fd_(fd) {}
	Fd(Fd &&other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
	Fd &operator=(Fd &&other) noexcept
	{
		std::swap(fd_, other.fd_);
		return *this;
	}
	~Fd() { reset(); }

	int get() const { return fd_; }
	explicit operator bool() const { return fd_ >= 0; }
	void reset()
	{
		if (fd_ >= 0)
			::close(std::exchange(fd_, -1));
	}

private:
	int fd_ = -1;
};

// Wakes a poll() in another thread.
class Wake {
public:
	Wake() : fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}
	int fd() const { return fd_.get(); }
	void set() const
	{
		std::uint64_t one = 1;
		[[maybe_unused]] auto n = ::write(fd_.get(), &one, sizeof(one));
	}
	void clear() const
	{
		std::uint64_t seen;
		[[maybe_unused]] auto n = ::read(fd_.get(), &seen, sizeof(seen));
	}

private:
	Fd fd_;
};

} // namespace target
