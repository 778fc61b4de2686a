// SPDX-License-Identifier: LGPL-2.1-or-later
// The device node of a controller: admin commands to the target.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <nvmeof/result.h>

#include "wire/nvme.h"
#include "wire/registration.h"

namespace nofctl {

// Errors of the commands: refused, with the status that the target gave; failed with ECONNRESET, ENOTCONN or EAGAIN
// where the connection was lost, is lost, or is being made.
class AdminNode {
public:
	// @controller: its plain name
	static nvmeof::Result<AdminNode> open(const std::string &controller);

	AdminNode(AdminNode &&other) noexcept;
	AdminNode &operator=(AdminNode &&) = delete;
	~AdminNode();

	// @timeout: until the connection counts as lost; 0: the kernel's, 60 s
	// Identify Controller; fields: wire::at
	nvmeof::Result<wire::Bytes> identify(std::chrono::milliseconds timeout);
	// A part of a log page from byte @offset on: a multiple of 4 bytes. @retain: an event that told of the log
	// stays as it is.
	nvmeof::Result<void> getLog(wire::LogPage log, std::uint64_t offset, std::span<std::byte> into, bool retain,
				    std::chrono::milliseconds timeout);
	// Discovery Information Management
	nvmeof::Result<void> manageDiscovery(wire::DimTask task, wire::Bytes data, std::chrono::milliseconds timeout);

private:
	explicit AdminNode(int fd) : fd_(fd) {}

	// @data: in or out, as the opcode says. @what: the command's name
	nvmeof::Result<void> submit(const wire::Command &cmd, std::span<std::byte> data,
				    std::chrono::milliseconds timeout, const char *what);

	int fd_;
};

} // namespace nofctl
