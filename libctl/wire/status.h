// SPDX-License-Identifier: LGPL-2.1-or-later
// Status field of a completion: SC in bits 7:0, SCT in 10:8, CRD in 12:11, More in 13, DNR in 14. NVMe Base 2.0,
// 3.3.3.2.1; fabrics command status: chapter 6.
#pragma once

#include <cstdint>

namespace nofctl::wire {

enum Status : std::uint16_t {
	st_ok = 0x000,
	st_invalid_opcode = 0x001,
	st_invalid_field = 0x002,
	st_transfer = 0x004,
	st_internal = 0x006,
	st_abort_requested = 0x007,
	st_invalid_ns = 0x00b,
	st_sequence = 0x00c,
	st_denied = 0x015, // Operation Denied
	st_host_id_format = 0x018,
	st_keep_alive = 0x01a, // Keep Alive Timeout Invalid
	st_write_protected = 0x020,
	st_interrupted = 0x021, // Command Interrupted: should be retried
	st_lba_range = 0x080,
	st_ns_not_ready = 0x082,
	st_resv_conflict = 0x083,
	st_async_limit = 0x105,
	st_invalid_log = 0x109,
	st_invalid_discovery = 0x12f,   // Invalid Discovery Information
	st_discovery_resources = 0x132, // Insufficient Discovery Resources
	st_ccr_in_progress = 0x13f,     // Base 2.3
	st_ccr_limit = 0x141,           // Base 2.3
	st_connect_format = 0x180,
	st_connect_busy = 0x181,
	st_connect_param = 0x182,
	st_connect_restart = 0x183,
	st_connect_host = 0x184,
	st_discover_restart = 0x190,
	st_auth_required = 0x191,
	st_invalid_pi = 0x181, // NVM command set; same number as a fabrics status
	st_write_fault = 0x280,
	st_read_error = 0x281,
	st_guard_check = 0x282,
	st_reftag_check = 0x284,
	st_path_internal = 0x300,
	st_ana_persistent_loss = 0x301,
	st_ana_inaccessible = 0x302,
	st_ana_transition = 0x303,
	st_ctrl_pathing = 0x360,
	st_host_pathing = 0x370,
	st_host_aborted = 0x371, // set by the host, never on the wire
	st_type_and_code = 0x7ff,
	st_crd1 = 1 << 11, // CRD: retry after CRDT1
	st_dnr = 0x4000,
};

// Names of status values that a connect, discovery or path can fail with; CRD, More and DNR are ignored. Null: other
// values.
const char *statusName(std::uint16_t status);

} // namespace nofctl::wire
