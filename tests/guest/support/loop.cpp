// SPDX-License-Identifier: LGPL-2.1-or-later
#include "loop.h"

#include "shell.h"

#include <fcntl.h>
#include <linux/loop.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <system_error>

namespace guest {
namespace {

[[noreturn]] void fail(const std::string &what)
{
	throw std::system_error(errno, std::generic_category(), what);
}

} // namespace

Loop::Loop(std::uint64_t size, unsigned blockSize)
{
	loadModules({"loop"});
	int control = ::open("/dev/loop-control", O_RDWR | O_CLOEXEC);
	int number = ::ioctl(control, LOOP_CTL_GET_FREE);
	::close(control);
	if (number < 0)
		fail("LOOP_CTL_GET_FREE");
	device_ = "/dev/loop" + std::to_string(number);
	file_ = "/tmp/loop" + std::to_string(number);
	int file = ::open(file_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (file < 0 || ::ftruncate(file, static_cast<off_t>(size)))
		fail(file_);
	fd_ = ::open(device_.c_str(), O_RDWR | O_CLOEXEC);
	loop_config config{};
	config.fd = static_cast<__u32>(file);
	config.block_size = blockSize;
	int failed = ::ioctl(fd_, LOOP_CONFIGURE, &config);
	::close(file);
	if (failed)
		fail("LOOP_CONFIGURE");
}

Loop::~Loop()
{
	::ioctl(fd_, LOOP_CLR_FD, 0);
	::close(fd_);
	::unlink(file_.c_str());
}

void Loop::resize(std::uint64_t size)
{
	if (::truncate(file_.c_str(), static_cast<off_t>(size)) || ::ioctl(fd_, LOOP_SET_CAPACITY, 0))
		fail("resize " + device_);
}

} // namespace guest
