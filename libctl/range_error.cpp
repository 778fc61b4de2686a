// SPDX-License-Identifier: LGPL-2.1-or-later
#include "range_error.h"

#include <cerrno>
#include <string>

#include "base/invalid_error.h"

namespace nofctl {

namespace {

// Name of an attribute, with the kernel's unit. Settings have the names that "set" uses.
std::string describeAttribute(nvmeof_attr type)
{
	switch (type) {
	case NVMEOF_A_NR_IO_QUEUES:
		return "number of I/O queues";
	case NVMEOF_A_NR_POLL_QUEUES:
		return "number of polled queues";
	case NVMEOF_A_QUEUE_SIZE:
		return "queue size";
	case NVMEOF_A_TAGS:
		return "tags";
	case NVMEOF_A_KATO:
		return "keep-alive time in ms";
	case NVMEOF_A_RECONNECT_DELAY:
		return "reconnect-delay in ms";
	case NVMEOF_A_CONNECT_TMO:
		return "connect timeout in ms";
	case NVMEOF_A_STALL_TMO:
		return "stall-tmo in ms";
	case NVMEOF_A_ACK_TMO:
		return "ack-tmo in ms";
	case NVMEOF_A_RETRY_COUNT:
		return "retry-count";
	case NVMEOF_A_SPILL_US:
		return "spill-us";
	case NVMEOF_A_SPILL_DEPTH:
		return "spill-depth";
	case NVMEOF_A_DEGRADE:
		return "degrade";
	case NVMEOF_A_FENCING:
		return "fencing";
	case NVMEOF_A_DELAYED_REMOVAL:
		return "delayed-removal-secs";
	case NVMEOF_A_QUIESCE_TMO:
		return "quiesce-tmo";
	default:
		return "attribute " + std::to_string(type);
	}
}

} // namespace

std::optional<nvmeof::Error> rangeError(const Reply &reply, const Request &request)
{
	std::optional<nvmeof_attr> type = reply.offset ? request.attributeAt(*reply.offset) : std::nullopt;
	if (reply.sysErrno != ERANGE || !type)
		return std::nullopt;
	nvmeof::Error error = invalidError(describeAttribute(*type) + " is out of range");
	error.sysErrno = ERANGE;
	if (reply.allowed)
		error.message += ": " + std::to_string(reply.allowed->min) + " to " +
				 std::to_string(reply.allowed->max) + " is allowed";
	return error;
}

} // namespace nofctl
