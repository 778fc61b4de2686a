// SPDX-License-Identifier: LGPL-2.1-or-later
// Datagrams to and from the generic netlink family. Only this file uses a netlink socket; tests replace it with
// replaceChannelFactory().
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

// The time point @timeout from now; Clock::time_point::max() for a negative @timeout.
Clock::time_point deadlineIn(std::chrono::milliseconds timeout);

// Waits until @fd is readable. False: @deadline passed. An error is that of poll(2).
nvmeof::Result<bool> waitReadable(int fd, Clock::time_point deadline);

// Receives one datagram of the kernel from a netlink socket without blocking. Discards those of other processes, at
// most 16 in one call, so that a process that keeps sending cannot hold the caller up. EAGAIN: no datagram of the
// kernel yet; if the socket is still readable, call again.
nvmeof::Result<std::vector<std::byte>> receiveDatagram(int fd);

nvmeof::Error noFamily();
// @code: a negative error of libnl
nvmeof::Error libnlError(const char *what, int code);

class Channel {
public:
	virtual ~Channel() = default;

	// For poll(2).
	virtual int fd() const = 0;
	// Message type of the family.
	virtual std::uint16_t family() const = 0;
	// Sends one message. Its header has type, flags and sequence number set.
	virtual nvmeof::Result<void> send(std::span<const std::byte> message) = 0;
	// Receives one datagram from the kernel without blocking; see receiveDatagram(). ENOBUFS: some were dropped.
	virtual nvmeof::Result<std::vector<std::byte>> receive() = 0;

	// Join the multicast groups for the end of the family and for its events. When the family is unregistered, the
	// kernel silently drops members of its groups. Callers therefore join the first group before the second.
	virtual nvmeof::Result<void> joinEnd() = 0;
	virtual nvmeof::Result<void> joinEvents() = 0;
};

enum class ChannelUse { requests, events };

// noModule if the family does not exist.
nvmeof::Result<std::unique_ptr<Channel>> openChannel(ChannelUse use);

// Opens channels.
class Kernel {
public:
	virtual ~Kernel() = default;
	virtual nvmeof::Result<std::unique_ptr<Channel>> open(ChannelUse use) = 0;
};

// For tests: all channels opened from now on come from @kernel; nullptr: from the real kernel. Must not run while
// another thread opens a channel.
void replaceChannelFactory(Kernel *kernel);

} // namespace nofctl
