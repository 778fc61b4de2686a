// SPDX-License-Identifier: LGPL-2.1-or-later
#include "block.h"

#include "shell.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>

namespace guest {
namespace {

std::uint32_t word(std::uint32_t seed, std::size_t index)
{
	auto x = static_cast<std::uint32_t>(index) * 2654435761u ^ seed * 40503u;
	return x ^ x >> 15;
}

int result(ssize_t done, std::size_t wanted)
{
	if (done < 0)
		return -errno;
	return static_cast<std::size_t>(done) == wanted ? 0 : -EIO;
}

} // namespace

Buffer::Buffer(std::size_t size)
	: data_(static_cast<std::uint8_t *>(std::aligned_alloc(4096, (size + 4095) / 4096 * 4096))), size_(size)
{
	if (!data_)
		throw std::bad_alloc();
	std::memset(data_, 0, size_);
}

Buffer::~Buffer()
{
	std::free(data_);
}

void Buffer::fill(std::uint32_t seed)
{
	for (std::size_t i = 0; i < size_ / 4; i++) {
		auto w = word(seed, i);
		std::memcpy(data_ + i * 4, &w, 4);
	}
}

bool Buffer::holds(std::uint32_t seed) const
{
	for (std::size_t i = 0; i < size_ / 4; i++) {
		auto w = word(seed, i);
		if (std::memcmp(data_ + i * 4, &w, 4))
			return false;
	}
	return true;
}

bool Buffer::zero() const
{
	return std::all_of(data_, data_ + size_, [](auto b) { return b == 0; });
}

Disk::Disk(const std::string &path, int flags) : fd_(::open(path.c_str(), O_RDWR | O_DIRECT | O_CLOEXEC | flags))
{
	if (fd_ < 0)
		fd_ = -errno;
}

Disk::~Disk()
{
	if (fd_ >= 0)
		::close(fd_);
}

int Disk::write(std::uint64_t offset, Buffer &from) const
{
	return result(::pwrite(fd_, from.data(), from.size(), static_cast<off_t>(offset)), from.size());
}

int Disk::read(std::uint64_t offset, Buffer &to) const
{
	return result(::pread(fd_, to.data(), to.size(), static_cast<off_t>(offset)), to.size());
}

int Disk::flush() const
{
	return ::fdatasync(fd_) ? -errno : 0;
}

int Disk::discard(std::uint64_t offset, std::uint64_t length) const
{
	std::uint64_t range[2] = {offset, length};
	return ::ioctl(fd_, BLKDISCARD, range) ? -errno : 0;
}

int Disk::zeroOut(std::uint64_t offset, std::uint64_t length) const
{
	std::uint64_t range[2] = {offset, length};
	return ::ioctl(fd_, BLKZEROOUT, range) ? -errno : 0;
}

std::uint64_t Disk::size() const
{
	std::uint64_t bytes = 0;
	return ::ioctl(fd_, BLKGETSIZE64, &bytes) ? 0 : bytes;
}

std::string Disk::subsysnqn() const
{
	struct stat st;
	if (::fstat(fd_, &st))
		return "";
	return readFile("/sys/dev/block/" + std::to_string(major(st.st_rdev)) + ":" +
			std::to_string(minor(st.st_rdev)) + "/device/subsysnqn");
}

unsigned Disk::blockSize() const
{
	int bytes = 0;
	return ::ioctl(fd_, BLKSSZGET, &bytes) ? 0 : static_cast<unsigned>(bytes);
}

int Disk::verified(std::uint64_t offset, std::size_t length, std::uint32_t seed) const
{
	Buffer out(length), in(length);
	out.fill(seed);
	if (int err = write(offset, out))
		return err;
	if (int err = read(offset, in))
		return err;
	return in.holds(seed) ? 0 : -EILSEQ;
}

} // namespace guest
