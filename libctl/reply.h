// SPDX-License-Identifier: LGPL-2.1-or-later
// A datagram from the kernel, split into its messages, with the extended acknowledgement that libnl 3.7 leaves unread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <nvmeof/result.h>

namespace nofctl {

struct Range {
	std::int64_t least = 0, most = 0;
};

struct Reply {
	enum class Kind {
		data,    // a message of the family
		ack,     // the request is done
		done,    // the dump is done
		error,   // either has failed
		overrun, // messages were lost
		gone,    // the family is no longer there
		ignored,
	};

	Kind kind = Kind::ignored;
	std::uint32_t sequence = 0;
	bool interrupted = false; // NLM_F_DUMP_INTR: the objects changed while they were listed
	std::uint8_t command = 0;
	std::span<const std::byte> attributes; // of data; within the datagram
	int sysErrno = 0;                      // of error; positive
	std::string message;                   // NLMSGERR_ATTR_MSG
	std::string cookie;                    // NLMSGERR_ATTR_COOKIE, when it is printable text
	std::optional<std::uint32_t> offset;   // NLMSGERR_ATTR_OFFS: of what is wrong, in the request, from its header
	std::optional<Range> allowed;          // of NLMSGERR_ATTR_POLICY: for that, a number
};

// @family: message type of the family; other types are ignored, but for the news that it goes.
nvmeof::Result<std::vector<Reply>> splitReplies(std::span<const std::byte> datagram, std::uint16_t family);

} // namespace nofctl
