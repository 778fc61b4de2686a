// SPDX-License-Identifier: LGPL-2.1-or-later
// Commands and completions; NVMe Base 2.0 and NVM Command Set 1.0, unless another specification is named.
#pragma once

#include "bytes.h"
#include "status.h"

namespace nofctl::wire {

// Figure 87. The data pointer of commands over fabrics is always an SGL descriptor.
struct Sgl {
	Le64 addr;
	Le32 length;
	std::uint8_t reserved[3];
	std::uint8_t type;
};
static_assert(sizeof(Sgl) == 16);

constexpr std::uint8_t sgl_in_capsule = 0x01; // data block descriptor, address is an offset in the capsule
constexpr std::uint8_t sgl_transport = 0x5a;  // transport SGL data block descriptor
constexpr std::uint8_t use_sgl = 0x40;        // PSDT in the command flags; fabrics always use SGLs

struct Command {
	std::uint8_t opcode;
	std::uint8_t flags;
	Le16 cid;
	Le32 nsid; // fabrics commands: byte 0 is FCTYPE
	Le32 cdw2, cdw3;
	Le64 metadata;
	Sgl sgl;
	Le32 cdw10, cdw11, cdw12, cdw13, cdw14, cdw15;

	std::uint8_t fctype() const { return static_cast<std::uint8_t>(nsid & 0xff); }
	std::uint64_t slba() const { return cdw10 | std::uint64_t(cdw11) << 32; }
	std::uint32_t blocks() const { return (cdw12 & 0xffff) + 1; }
	// Get Log Page fields; lengths in bytes
	std::uint64_t logBytes() const { return ((cdw10 >> 16 | std::uint64_t(cdw11 & 0xffff) << 16) + 1) * 4; }
	std::uint64_t logOffset() const { return cdw12 | std::uint64_t(cdw13) << 32; }
	bool logRetain() const { return cdw10 >> 15 & 1; }
	// Whether the command transfers data to the controller; figure 86
	bool hostToController() const;
};
static_assert(sizeof(Command) == 64);

struct Completion {
	Le64 result;
	Le16 sqhd;
	Le16 sqid;
	Le16 cid;
	Le16 status; // status field << 1; the phase tag is unused in fabrics
};
static_assert(sizeof(Completion) == 16);

enum AdminOpcode : std::uint8_t {
	op_get_log = 0x02,
	op_identify = 0x06,
	op_abort = 0x08,
	op_set_features = 0x09,
	op_get_features = 0x0a,
	op_async_event = 0x0c,
	op_keep_alive = 0x18,
	op_cross_reset = 0x38, // TP8028
	op_fabrics = 0x7f,
};

enum IoOpcode : std::uint8_t {
	op_flush = 0x00,
	op_write = 0x01,
	op_read = 0x02,
	op_write_zeroes = 0x08,
	op_dsm = 0x09,
	op_resv_register = 0x0d,
	op_resv_report = 0x0e,
	op_resv_acquire = 0x11,
	op_resv_release = 0x15,
	op_zone_send = 0x79, // ZNS 1.1
	op_zone_receive = 0x7a,
	op_zone_append = 0x7d,
};

enum Feature : std::uint8_t {
	feat_write_cache = 0x06,
	feat_queues = 0x07,
	feat_async_event = 0x0b,
	feat_keep_alive = 0x0f,
	feat_host_behavior = 0x16,
};

enum LogPage : std::uint8_t {
	log_error = 1,
	log_smart = 2,
	log_firmware = 3,
	log_effects = 5,
	log_changed_ns = 4,
	log_ana = 0x0c,
	log_ccr = 0x1e, // Base 2.3
	log_discovery = 0x70,
	log_reservation = 0x80,
};

// Result of an Asynchronous Event Request; figure 145
struct AsyncEvent {
	std::uint8_t type;
	std::uint8_t info;
	std::uint8_t log;

	constexpr std::uint32_t result() const { return type | std::uint32_t(info) << 8 | std::uint32_t(log) << 16; }
};

constexpr AsyncEvent event_ns_changed{2, 0, log_changed_ns};
constexpr AsyncEvent event_firmware_activation{2, 1, log_firmware};
constexpr AsyncEvent event_ana_changed{2, 3, log_ana};
constexpr AsyncEvent event_reservation{6, 0, log_reservation};
constexpr AsyncEvent event_ccr_completed{2, 0xf4, log_ccr};
constexpr AsyncEvent event_discovery_changed{2, 0xf0, log_discovery};

// A command without data
Command plain(std::uint8_t opcode);
Command setFeature(Feature feature, std::uint32_t value);

// Reads part of a log page from byte @offset on. @bytes: a multiple of 4. @retain: Retain Asynchronous Event
Command getLog(std::uint8_t page, std::uint64_t offset, std::uint32_t bytes, bool retain = false);

} // namespace nofctl::wire
