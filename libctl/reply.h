// SPDX-License-Identifier: LGPL-2.1-or-later
// Splits a datagram from the kernel into messages and parses extended acknowledgements, which libnl 3.7 does not.
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
	std::int64_t min = 0, max = 0;
};

struct Reply {
	enum class Kind {
		data,    // a message of the family
		ack,     // the request succeeded
		done,    // the dump is complete
		error,   // the request or dump failed
		overrun, // messages were lost
		gone,    // the family was unregistered
		ignored,
	};

	Kind kind = Kind::ignored;
	std::uint32_t sequence = 0;
	bool interrupted = false; // NLM_F_DUMP_INTR: the objects changed while they were listed
	std::uint8_t command = 0;
	std::span<const std::byte> attributes; // for data; points into the datagram
	int sysErrno = 0;                      // for error; positive
	std::string message;                   // NLMSGERR_ATTR_MSG
	std::string cookie;                    // NLMSGERR_ATTR_COOKIE, if it is printable text
	std::optional<std::uint32_t> offset;   // NLMSGERR_ATTR_OFFS: of the bad attribute in the request
	std::optional<Range> allowed;          // NLMSGERR_ATTR_POLICY: range of that attribute
};

// @family: message type of the family. Other types are ignored, except the notification that the family was
// unregistered.
nvmeof::Result<std::vector<Reply>> splitReplies(std::span<const std::byte> datagram, std::uint16_t family);

} // namespace nofctl
