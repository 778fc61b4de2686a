// SPDX-License-Identifier: LGPL-2.1-or-later
// Direct I/O with data patterns on a block device
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace guest {

// Memory aligned for O_DIRECT
class Buffer {
public:
	explicit Buffer(std::size_t size);
	~Buffer();
	Buffer(const Buffer &) = delete;
	Buffer &operator=(const Buffer &) = delete;

	std::uint8_t *data() { return data_; }
	std::size_t size() const { return size_; }
	void fill(std::uint32_t seed); // each word differs from its neighbours and from those of other seeds
	bool holds(std::uint32_t seed) const;
	bool zero() const;

private:
	std::uint8_t *data_;
	std::size_t size_;
};

// Functions return 0 or a negative errno.
class Disk {
public:
	explicit Disk(const std::string &path, int flags = 0); // O_DIRECT | O_RDWR | flags
	~Disk();
	Disk(const Disk &) = delete;
	Disk &operator=(const Disk &) = delete;

	int fd() const { return fd_; } // or negative errno of open()
	int write(std::uint64_t offset, Buffer &from) const;
	int read(std::uint64_t offset, Buffer &to) const;
	int flush() const;
	int discard(std::uint64_t offset, std::uint64_t length) const;
	int zeroOut(std::uint64_t offset, std::uint64_t length) const;
	std::uint64_t size() const;
	unsigned blockSize() const;
	// Subsystem NQN of the open disk, whose name may have been reused. Empty: the disk no longer exists.
	std::string subsysnqn() const;
	// Writes the pattern of the seed, reads it back and compares: 0, -EILSEQ or a negative errno.
	int verified(std::uint64_t offset, std::size_t length, std::uint32_t seed) const;

private:
	int fd_;
};

} // namespace guest
