// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>
#include <utility>

#include <nvmeof/error.h>

namespace nofctl {

// An Error for an invalid argument.
inline nvmeof::Error invalidError(std::string message)
{
	nvmeof::Error error;
	error.code = nvmeof::ErrorCode::invalid;
	error.message = std::move(message);
	return error;
}

} // namespace nofctl
