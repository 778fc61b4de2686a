// SPDX-License-Identifier: LGPL-2.1-or-later
// A loop device on a file in memory, with any block size; it can be resized.
#pragma once

#include <cstdint>
#include <string>

namespace guest {

class Loop {
public:
	explicit Loop(std::uint64_t size, unsigned blockSize = 512);
	~Loop();
	Loop(const Loop &) = delete;
	Loop &operator=(const Loop &) = delete;

	const std::string &device() const { return device_; }
	void resize(std::uint64_t size);

private:
	std::string file_, device_;
	int fd_ = -1;
};

} // namespace guest
