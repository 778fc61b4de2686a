// SPDX-License-Identifier: LGPL-2.1-or-later
// The NVMe structures and constants the target needs; NVMe Base 2.0 and NVM Command Set 1.0 unless another is named.
#pragma once

#include "wire.h"

namespace target {

// Figure 87; the data pointer of fabrics is always an SGL descriptor.
struct Sgl {
	Le64 addr;
	Le32 length;
	std::uint8_t reserved[3];
	std::uint8_t type;
};
static_assert(sizeof(Sgl) == 16);

constexpr std::uint8_t sgl_in_capsule = 0x01; // data block, address is an offset in the capsule
constexpr std::uint8_t sgl_transport = 0x5a;  // transport data block
constexpr std::size_t log_limit = 1 << 20;    // most that one Get Log Page returns here, bytes

struct Command {
	std::uint8_t opcode;
	std::uint8_t flags;
	Le16 cid;
	Le32 nsid; // fabrics commands: the first byte is FCTYPE
	Le32 cdw2, cdw3;
	Le64 metadata;
	Sgl sgl;
	Le32 cdw10, cdw11, cdw12, cdw13, cdw14, cdw15;

	std::uint8_t fctype() const { return static_cast<std::uint8_t>(nsid & 0xff); }
	std::uint64_t slba() const { return cdw10 | std::uint64_t(cdw11) << 32; }
	std::uint32_t blocks() const { return (cdw12 & 0xffff) + 1; }
	// Of Get Log Page, bytes
	std::uint64_t logBytes() const { return ((cdw10 >> 16 | std::uint64_t(cdw11 & 0xffff) << 16) + 1) * 4; }
	std::uint64_t logOffset() const { return cdw12 | std::uint64_t(cdw13) << 32; }
};
static_assert(sizeof(Command) == 64);

struct Completion {
	Le64 result;
	Le16 sqhd;
	Le16 sqid;
	Le16 cid;
	Le16 status; // status field << 1, no phase in fabrics
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
};

enum FabricsType : std::uint8_t { fc_property_set = 0x00, fc_connect = 0x01, fc_property_get = 0x04 };

// Status: SCT in bits 10:8, SC in 7:0, DNR in bit 14, CRD in 12:11
enum Status : std::uint16_t {
	st_ok = 0x000,
	st_invalid_opcode = 0x001,
	st_invalid_field = 0x002,
	st_internal = 0x006,
	st_abort_requested = 0x007,
	st_invalid_ns = 0x00b,
	st_lba_range = 0x080,
	st_ns_not_ready = 0x082,
	st_invalid_log = 0x109,
	st_ccr_in_progress = 0x13f,
	st_ccr_limit = 0x141,
	st_connect_format = 0x180,
	st_connect_busy = 0x181,
	st_connect_param = 0x182,
	st_connect_host = 0x184,
	st_discover_restart = 0x190,
	st_write_fault = 0x280,
	st_read_error = 0x281,
	st_path_internal = 0x300,
	st_ana_persistent_loss = 0x301,
	st_ana_inaccessible = 0x302,
	st_ana_transition = 0x303,
	st_host_aborted = 0x371, // of the host itself, never on the wire
	st_dnr = 0x4000,
};

enum Property : std::uint32_t { prop_cap = 0x00, prop_vs = 0x08, prop_cc = 0x14, prop_csts = 0x1c };

enum Cns : std::uint8_t { cns_ns = 0, cns_ctrl = 1, cns_active = 2, cns_descs = 3, cns_cs_ns = 5, cns_cs_ctrl = 6 };

enum LogPage : std::uint8_t {
	log_error = 1,
	log_smart = 2,
	log_firmware = 3,
	log_changed_ns = 4,
	log_ana = 0x0c,
	log_ccr = 0x1e,
	log_discovery = 0x70,
};

enum Feature : std::uint8_t {
	feat_write_cache = 0x06,
	feat_queues = 0x07,
	feat_async_event = 0x0b,
	feat_keep_alive = 0x0f,
};

enum AnaState : std::uint8_t {
	ana_optimized = 1,
	ana_non_optimized = 2,
	ana_inaccessible = 3,
	ana_persistent_loss = 4,
	ana_change = 15,
};

// Base 2.3, figure 305
enum CcrStatus : std::uint8_t { ccr_in_progress = 0, ccr_success = 1, ccr_failed = 2 };
enum CcrFlag : std::uint8_t { ccr_validated = 1, ccr_initiated = 2 };

struct ConnectData {
	std::uint8_t hostid[16];
	Le16 cntlid;
	std::uint8_t reserved[238];
	char subsysnqn[256];
	char hostnqn[256];
	std::uint8_t reserved2[256];
};
static_assert(sizeof(ConnectData) == 1024);

} // namespace target
