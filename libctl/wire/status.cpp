// SPDX-License-Identifier: LGPL-2.1-or-later
#include "status.h"

namespace nofctl::wire {

namespace {

struct StatusName {
	Status status;
	const char *name;
};

constexpr StatusName statusNames[] = {
	{st_invalid_opcode, "Invalid Command Opcode"},
	{st_invalid_field, "Invalid Field in Command"},
	{st_transfer, "Data Transfer Error"},
	{st_internal, "Internal Error"},
	{st_abort_requested, "Command Abort Requested"},
	{st_invalid_ns, "Invalid Namespace or Format"},
	{st_sequence, "Command Sequence Error"},
	{st_invalid_log, "Invalid Log Page"},
	{st_connect_format, "Connect Incompatible Format"},
	{st_connect_busy, "Connect Controller Busy"},
	{st_connect_param, "Connect Invalid Parameters"},
	{st_connect_restart, "Connect Restart Discovery"},
	{st_connect_host, "Connect Invalid Host"},
	{st_discover_restart, "Discover Restart"},
	{st_auth_required, "Authentication Required"},
	{st_path_internal, "Internal Path Error"},
	{st_ana_persistent_loss, "Asymmetric Access Persistent Loss"},
	{st_ana_inaccessible, "Asymmetric Access Inaccessible"},
	{st_ana_transition, "Asymmetric Access Transition"},
	{st_ctrl_pathing, "Controller Pathing Error"},
	{st_host_pathing, "Host Pathing Error"},
	{st_host_aborted, "Command Aborted By Host"},
};

} // namespace

const char *statusName(std::uint16_t status)
{
	for (const StatusName &entry : statusNames)
		if (entry.status == (status & st_type_and_code))
			return entry.name;
	return nullptr;
}

} // namespace nofctl::wire
