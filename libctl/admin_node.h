// SPDX-License-Identifier: LGPL-2.1-or-later
// The device node of a controller: admin commands to the target.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <libnvme.h>
#include <nvmeof/result.h>

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
	nvmeof::Result<nvme_id_ctrl> identify(std::chrono::milliseconds timeout);
	// A part of a log page from byte @offset on. @retain: an event that told of the log stays as it is.
	nvmeof::Result<void> getLog(nvme_cmd_get_log_lid log, std::uint64_t offset, std::span<std::byte> into,
				    bool retain, std::chrono::milliseconds timeout);
	// Discovery Information Management. @task: wire::DimTask
	nvmeof::Result<void> manageDiscovery(std::uint8_t task, std::vector<std::uint8_t> data,
					     std::chrono::milliseconds timeout);

private:
	explicit AdminNode(int fd) : fd_(fd) {}

	int fd_;
};

} // namespace nofctl
