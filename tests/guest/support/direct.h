// SPDX-License-Identifier: LGPL-2.1-or-later
// Device memory: peer-to-peer pages of an emulated NVMe drive's CMB, and of a stand-in for a GPU. Also software RDMA
// devices that claim to reach such memory (tests/kmod/direct).
#pragma once

#include "block.h"
#include "shell.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <stdexcept>
#include <string>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>
#include <vector>

namespace guest {

// A mapping of a device's file
class Mapped {
public:
	Mapped(const std::string &file, std::size_t size, off_t offset = 0) : size_(size)
	{
		fd_ = ::open(file.c_str(), O_RDWR | O_CLOEXEC);
		if (fd_ < 0)
			throw std::runtime_error(file + ": " + std::strerror(errno));
		auto at = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, offset);
		if (at == MAP_FAILED)
			throw std::runtime_error(file + ": mmap: " + std::strerror(errno));
		data_ = static_cast<char *>(at);
	}
	~Mapped()
	{
		::munmap(data_, size_);
		::close(fd_);
	}
	Mapped(const Mapped &) = delete;
	Mapped &operator=(const Mapped &) = delete;

	char *data() const { return data_; }
	std::size_t size() const { return size_; }
	int fd() const { return fd_; }

private:
	int fd_ = -1;
	char *data_ = nullptr;
	std::size_t size_;
};

// Files that allocate peer-to-peer memory on this machine; empty if the kernel does not support it
inline std::vector<std::string> peerMemories()
{
	std::vector<std::string> files;
	must("modprobe nvme && udevadm settle");
	auto text = run("ls /sys/bus/pci/devices/*/p2pmem/allocate 2> /dev/null").text;
	for (std::size_t at = 0, end; (end = text.find('\n', at)) != std::string::npos; at = end + 1)
		files.push_back(text.substr(at, end - at));
	return files;
}

// Direct I/O of any kind of memory; returns 0 or a negative errno.
inline int put(const Disk &disk, std::uint64_t offset, const char *from, std::size_t length)
{
	auto n = ::pwrite(disk.fd(), from, length, static_cast<off_t>(offset));
	return n < 0 ? -errno : static_cast<std::size_t>(n) == length ? 0 : -EIO;
}

inline int get(const Disk &disk, std::uint64_t offset, char *to, std::size_t length)
{
	auto n = ::pread(disk.fd(), to, length, static_cast<off_t>(offset));
	return n < 0 ? -errno : static_cast<std::size_t>(n) == length ? 0 : -EIO;
}

// RDMA devices that claim PCI peer-to-peer support. Construct after the host: the module inspects the driver's module.
class Claims {
public:
	Claims(const std::string &devices, const std::string &parameters)
	{
		must("modprobe nvmeof_claims devices=" + devices + " " + parameters);
	}
	~Claims() { run("rmmod nvmeof_claims"); }
	Claims(const Claims &) = delete;
	Claims &operator=(const Claims &) = delete;

	static std::string get(const std::string &parameter) { return readFile(file(parameter)); }
	static void set(const std::string &parameter, const std::string &value) { writeFile(file(parameter), value); }

private:
	static std::string file(const std::string &parameter)
	{
		return "/sys/module/nvmeof_claims/parameters/" + parameter;
	}
};

} // namespace guest
