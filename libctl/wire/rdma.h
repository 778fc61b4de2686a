// SPDX-License-Identifier: LGPL-2.1-or-later
// Additional structures of NVMe/RDMA: private data of connection manager messages, and keyed SGL descriptors; NVMe RDMA
// Transport 1.0, 3.2 and 3.5, NVMe Base 2.0, 4.1.2.
#pragma once

#include "nvme.h"

namespace nofctl::wire {

// Private data of a connect request (RDMA_CM_REQUEST)
struct RdmaRequest {
	Le16 recfmt;
	Le16 qid;
	Le16 hrqsize; // entries of the host's receive queue (HRQSIZE)
	Le16 hsqsize; // entries of the host's send queue minus 1 (HSQSIZE)
	Le16 cntlid;  // for I/O queues; older hosts leave it 0
	std::uint8_t reserved[22];
};
static_assert(sizeof(RdmaRequest) == 32);

// Private data of an accept message
struct RdmaAccept {
	Le16 recfmt;
	Le16 crqsize;
	std::uint8_t reserved[28];
};
static_assert(sizeof(RdmaAccept) == 32);

// Private data of a reject message
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

constexpr std::uint8_t sgl_keyed = 0x40;            // keyed SGL data block descriptor, address
constexpr std::uint8_t sgl_keyed_invalidate = 0x4f; // likewise; the target invalidates the key in its response

// A keyed SGL data block descriptor; has the size of Sgl
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
