// SPDX-License-Identifier: LGPL-2.1-or-later
#include "admin_node.h"

#include <cerrno>
#include <fcntl.h>
#include <unistd.h>
#include <utility>

#include "wire/status.h"

namespace nofctl {

using namespace nvmeof;

namespace {

// @status: as libnvme returns it: negative with errno, or what the target said
Result<void> outcome(int status, const char *what)
{
	if (status == 0)
		return {};
	if (status < 0) {
		Error error = errorFromErrno(errno);
		error.message = std::string(what) + ": " + error.message;
		return error;
	}
	Error error;
	error.code = ErrorCode::refused;
	error.nvmeStatus = static_cast<std::uint16_t>(status & wire::st_type_and_code);
	error.message = std::string(what) + ": " + describeStatus(*error.nvmeStatus);
	return error;
}

std::uint32_t milliseconds(std::chrono::milliseconds timeout)
{
	return static_cast<std::uint32_t>(timeout.count());
}

} // namespace

Result<AdminNode> AdminNode::open(const std::string &controller)
{
	std::string node = "/dev/" + controller;
	int fd = ::open(node.c_str(), O_RDWR | O_CLOEXEC);
	if (fd >= 0)
		return AdminNode(fd);
	Error error = errorFromErrno(errno);
	error.message = node + ": " + error.message;
	error.object = ErrorObject::named(controller);
	return error;
}

AdminNode::AdminNode(AdminNode &&other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

AdminNode::~AdminNode()
{
	if (fd_ >= 0)
		::close(fd_);
}

Result<nvme_id_ctrl> AdminNode::identify(std::chrono::milliseconds timeout)
{
	nvme_id_ctrl id{};
	nvme_identify_args args{};
	args.args_size = sizeof(args);
	args.fd = fd_;
	args.data = &id;
	args.timeout = milliseconds(timeout);
	args.cns = NVME_IDENTIFY_CNS_CTRL;
	Result<void> done = outcome(::nvme_identify(&args), "Identify Controller");
	return done ? Result<nvme_id_ctrl>(id) : done.error();
}

Result<void> AdminNode::getLog(nvme_cmd_get_log_lid log, std::uint64_t offset, std::span<std::byte> into, bool retain,
			       std::chrono::milliseconds timeout)
{
	nvme_get_log_args args{};
	args.args_size = sizeof(args);
	args.fd = fd_;
	args.lid = log;
	args.lpo = offset;
	args.log = into.data();
	args.len = static_cast<std::uint32_t>(into.size());
	args.rae = retain;
	args.timeout = milliseconds(timeout);
	return outcome(::nvme_get_log(&args), "Get Log Page");
}

Result<void> AdminNode::manageDiscovery(std::uint8_t task, std::vector<std::uint8_t> data,
					std::chrono::milliseconds timeout)
{
	nvme_dim_args args{};
	args.args_size = sizeof(args);
	args.fd = fd_;
	args.data = data.data();
	args.data_len = static_cast<std::uint32_t>(data.size());
	args.tas = task;
	args.timeout = milliseconds(timeout);
	return outcome(::nvme_dim_send(&args), "Discovery Information Management");
}

} // namespace nofctl
