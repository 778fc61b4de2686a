// SPDX-License-Identifier: LGPL-2.1-or-later
#include "poller.h"

#include <cerrno>
#include <system_error>

#include <unistd.h>

#include "guard.h"

namespace serving {

namespace {

int made(int fd)
{
	if (fd < 0)
		throw std::system_error(errno, std::generic_category(), "cannot watch descriptors");
	return fd;
}

} // namespace

Poller::Poller(Loop &loop) : fd_(made(::epoll_create1(EPOLL_CLOEXEC))), readable_(loop, fd_, [this] { poll(); }) {}

Poller::~Poller()
{
	::close(fd_);
}

bool Poller::add(int fd, std::uint32_t events, Handler &handler)
{
	epoll_event event{.events = events, .data = {.ptr = &handler}};
	return ::epoll_ctl(fd_, EPOLL_CTL_ADD, fd, &event) == 0;
}

void Poller::want(int fd, std::uint32_t events, Handler &handler)
{
	epoll_event event{.events = events, .data = {.ptr = &handler}};
	::epoll_ctl(fd_, EPOLL_CTL_MOD, fd, &event);
}

void Poller::remove(int fd, const Handler &handler)
{
	::epoll_ctl(fd_, EPOLL_CTL_DEL, fd, nullptr);
	for (std::size_t i = next_; i < count_; i++)
		if (events_[i].data.ptr == &handler)
			events_[i].data.ptr = nullptr;
	if (current_ == &handler)
		current_ = nullptr;
}

// One batch per call, so that other sources of the loop are not delayed.
void Poller::poll()
{
	const int count = ::epoll_wait(fd_, events_.data(), static_cast<int>(events_.size()), 0);
	count_ = count < 0 ? 0 : static_cast<std::size_t>(count);
	for (next_ = 0; next_ < count_;) {
		const epoll_event event = events_[next_++];
		current_ = static_cast<Handler *>(event.data.ptr);
		if (current_ && !guarded([&] { current_->ready(event.events); }) && current_)
			guarded([this] { current_->threw(); });
	}
	current_ = nullptr;
	count_ = 0;
}

} // namespace serving
