// SPDX-License-Identifier: LGPL-2.1-or-later
// Status of a command: SCT in bits 10:8, SC in 7:0, CRD in 12:11, More in 13, DNR in 14. NVMe Base 2.0, 3.3.3.2.1;
// those of fabrics commands: its chapter 6.
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
	st_interrupted = 0x021, // Command Interrupted: to be tried again
	st_lba_range = 0x080,
	st_ns_not_ready = 0x082,
	st_resv_conflict = 0x083,
	st_async_limit = 0x105,
	st_invalid_log = 0x109,
	st_invalid_discovery = 0x12f,   // Invalid Discovery Information
	st_discovery_resources = 0x132, // Insufficient Discovery Resources
	st_ccr_in_progress = 0x13f,     // Base 2.3
	st_ccr_limit = 0x141,           // likewise
	st_connect_format = 0x180,
	st_connect_busy = 0x181,
	st_connect_param = 0x182,
	st_connect_restart = 0x183,
	st_connect_host = 0x184,
	st_discover_restart = 0x190,
	st_auth_required = 0x191,
	st_invalid_pi = 0x181, // of the NVM command set: not the fabrics status of the same number
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
	st_host_aborted = 0x371, // of the host itself, never on the wire
	st_type_and_code = 0x7ff,
	st_crd1 = 1 << 11, // CRD: to be tried again after CRDT1
	st_dnr = 0x4000,
};

// Of those that a connect, a discovery or a path can end with, without regard to CRD, More and DNR; null: another one
const char *statusName(std::uint16_t status);

} // namespace nofctl::wire
