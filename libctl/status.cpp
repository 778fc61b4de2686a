// SPDX-License-Identifier: LGPL-2.1-or-later
// NVMe status values in words: those that a connect or a path can end with.
#include <cstdio>
#include <iterator>

#include <nvmeof/error.h>

#include "status.h"

namespace nvmeof {

namespace {

struct StatusName {
	std::uint16_t status; // SCT in bits 10:8, SC in bits 7:0
	const char *name;
};

// NVMe Base 2.0, 3.3.3.2.1, and for 0x180 to 0x191 its chapter on Fabrics commands.
constexpr StatusName statusNames[] = {
	{0x001, "Invalid Command Opcode"},
	{0x002, "Invalid Field in Command"},
	{0x004, "Data Transfer Error"},
	{0x006, "Internal Error"},
	{0x007, "Command Abort Requested"},
	{0x00b, "Invalid Namespace or Format"},
	{0x00c, "Command Sequence Error"},
	{0x109, "Invalid Log Page"},
	{0x180, "Connect Incompatible Format"},
	{0x181, "Connect Controller Busy"},
	{0x182, "Connect Invalid Parameters"},
	{0x183, "Connect Restart Discovery"},
	{0x184, "Connect Invalid Host"},
	{0x190, "Discover Restart"},
	{0x191, "Authentication Required"},
	{0x300, "Internal Path Error"},
	{0x301, "Asymmetric Access Persistent Loss"},
	{0x302, "Asymmetric Access Inaccessible"},
	{0x303, "Asymmetric Access Transition"},
	{0x360, "Controller Pathing Error"},
	{0x370, "Host Pathing Error"},
	{0x371, "Command Aborted By Host"},
};

} // namespace

std::string describeStatus(std::uint16_t nvmeStatus)
{
	char number[32];
	std::snprintf(number, sizeof(number), "status 0x%x", nvmeStatus);
	for (const StatusName &entry : statusNames)
		if (entry.status == (nvmeStatus & nofctl::statusTypeAndCode))
			return std::string(entry.name) + " (" + number + ")";
	return number;
}

} // namespace nvmeof
