// SPDX-License-Identifier: LGPL-2.1-or-later
// Admin commands to the target, through the controller's device node.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <nvmeof/connect.h>
#include <nvmeof/result.h>

#include "libctl/wire/nvme.h"
#include "libctl/wire/registration.h"

namespace nofctl {

// Errors of the commands: refused, with the NVMe status; failed with ECONNRESET, ENOTCONN or EAGAIN if the connection
// was lost during the command, is down, or is being established.
class AdminNode {
public:
	// @controller: name without /dev/
	static nvmeof::Result<AdminNode> open(const std::string &controller);

	AdminNode(AdminNode &&other) noexcept;
	AdminNode &operator=(AdminNode &&) = delete;
	~AdminNode();

	// Identify Controller; see wire::at for fields. @timeout: when it expires, the connection counts as lost; 0:
	// the kernel's default, 60 s
	nvmeof::Result<wire::Bytes> identify(std::chrono::milliseconds timeout);
	// Reads a part of a log page, starting at byte @offset, a multiple of 4. @retain: sets Retain Asynchronous
	// Event
	nvmeof::Result<void> getLog(wire::LogPage log, std::uint64_t offset, std::span<std::byte> into, bool retain,
				    std::chrono::milliseconds timeout);
	// Discovery Information Management
	nvmeof::Result<void> manageDiscovery(wire::DimTask task, wire::Bytes data, std::chrono::milliseconds timeout);

private:
	explicit AdminNode(int fd) : fd_(fd) {}

	// @data: input or output, depending on the opcode. @what: name of the command for error messages
	nvmeof::Result<void> submit(const wire::Command &cmd, std::span<std::byte> data,
				    std::chrono::milliseconds timeout, const char *what);

	int fd_;
};

// Registers this host with a centralized discovery controller: TP8010, explicit registration. @controller: an existing
// discovery controller; @options: those of its connect. Blocks. False: the service does not report that it accepts
// registrations.
nvmeof::Result<bool> registerHost(const std::string &controller, const nvmeof::ConnectOptions &options,
				  std::chrono::milliseconds timeout);

} // namespace nofctl
