// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>
#include <utility>

#include <nvmeof/error.h>

namespace nofctl {

// For errors of this program or its environment
inline nvmeof::Error makeError(std::string message)
{
	nvmeof::Error error;
	error.message = std::move(message);
	return error;
}

// For an invalid argument
inline nvmeof::Error invalidError(std::string message)
{
	nvmeof::Error error = makeError(std::move(message));
	error.code = nvmeof::ErrorCode::invalid;
	return error;
}

} // namespace nofctl
