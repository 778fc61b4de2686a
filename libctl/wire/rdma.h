// SPDX-License-Identifier: LGPL-2.1-or-later
// What NVMe/RDMA has besides commands and completions: private data of the connection manager's messages, and keyed
// data blocks; NVMe RDMA Transport 1.0, 3.2 and 3.5, NVMe Base 2.0, 4.1.2.
#pragma once

#include "nvme.h"

namespace nofctl::wire {

// Private data of a connect request
struct RdmaRequest {
	Le16 recfmt;
	Le16 qid;
	Le16 hrqsize; // entries of the host's receive queue
	Le16 hsqsize; // of its send queue, less one
	Le16 cntlid;  // of I/O queues; older hosts leave it zero
	std::uint8_t reserved[22];
};
static_assert(sizeof(RdmaRequest) == 32);

// Of the message that accepts
struct RdmaAccept {
	Le16 recfmt;
	Le16 crqsize;
	std::uint8_t reserved[28];
};
static_assert(sizeof(RdmaAccept) == 32);

// Of the one that rejects
struct RdmaReject {
	Le16 recfmt;
	Le16 status;
};
static_assert(sizeof(RdmaReject) == 4);

enum RdmaRejectStatus : std::uint16_t {
	rj_length = 1,
	rj_recfmt = 2,
	rj_qid = 3,
	rj_hsqsize = 4,
	rj_hrqsize = 5,
	rj_resources = 6,
	rj_ird = 7,
	rj_ord = 8,
	rj_cntlid = 9,
};

constexpr std::uint8_t sgl_keyed = 0x40;            // keyed data block, address
constexpr std::uint8_t sgl_keyed_invalidate = 0x4f; // likewise, and the answer is to invalidate its key

// A descriptor of that kind, in the place of an Sgl
struct KeyedSgl {
	Le64 addr;
	std::uint8_t length24[3];
	Le32 key;
	std::uint8_t type;

	std::uint32_t length() const
	{
		return length24[0] | std::uint32_t(length24[1]) << 8 | std::uint32_t(length24[2]) << 16;
	}
	static KeyedSgl of(const Sgl &sgl) { return *decode<KeyedSgl>(bytesOf(sgl)); }
};
static_assert(sizeof(KeyedSgl) == sizeof(Sgl));

} // namespace nofctl::wire
