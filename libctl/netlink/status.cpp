// SPDX-License-Identifier: LGPL-2.1-or-later
// Names of NVMe status values that a connect or a path can fail with.
#include "status.h"

#include <cstdio>

#include <nvmeof/error.h>

#include "libctl/wire/status.h"

namespace nvmeof {

std::string describeStatus(std::uint16_t nvmeStatus)
{
	char number[32];
	std::snprintf(number, sizeof(number), "status 0x%x", nvmeStatus);
	const char *name = nofctl::wire::statusName(nvmeStatus);
	return name ? std::string(name) + " (" + number + ")" : number;
}

} // namespace nvmeof

nvmeof::ErrorCode nofctl::codeOfStatus(std::uint16_t nvmeStatus)
{
	return (nvmeStatus & wire::st_type_and_code) == wire::st_auth_required ? nvmeof::ErrorCode::authentication
									       : nvmeof::ErrorCode::refused;
}
