// SPDX-License-Identifier: LGPL-2.1-or-later
// Datagrams to and from the family in the kernel. Nothing else of the library touches a netlink socket, and a test puts
// a kernel of its own in its place.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <nvmeof/result.h>

namespace nofctl {

using Clock = std::chrono::steady_clock;

// A moment @timeout from now; never for a negative one.
Clock::time_point deadlineIn(std::chrono::milliseconds timeout);

// Waits until @fd is readable (true), or @deadline has passed.
bool waitReadable(int fd, Clock::time_point deadline);

nvmeof::Error noFamily();

class Channel {
public:
	virtual ~Channel() = default;

	// For poll(2).
	virtual int fd() const = 0;
	// The message type of the family.
	virtual std::uint16_t family() const = 0;
	// One message, whose header says which type, flags and sequence number.
	virtual nvmeof::Result<void> send(std::span<const std::byte> message) = 0;
	// One datagram from the kernel, without waiting. EAGAIN: there is none; ENOBUFS: some were dropped.
	virtual nvmeof::Result<std::vector<std::byte>> receive() = 0;

	/*
	 * Two groups of notifications: the end of the module, and its events. The kernel takes the members of a group
	 * that goes out of it without a word, so one joins the first one first.
	 */
	virtual nvmeof::Result<void> joinEnd() = 0;
	virtual nvmeof::Result<void> joinEvents() = 0;
};

enum class ChannelUse { requests, events };

// noModule when there is no such family.
nvmeof::Result<std::unique_ptr<Channel>> openChannel(ChannelUse use);

// Where channels come from.
class Kernel {
public:
	virtual ~Kernel() = default;
	virtual nvmeof::Result<std::unique_ptr<Channel>> open(ChannelUse use) = 0;
};

// For tests: every channel that is opened from now on is of @kernel; nullptr: of the real one. Not while another thread
// opens one.
void replaceKernel(Kernel *kernel);

} // namespace nofctl
