// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>
#include <utility>

#include <nvmeof/error.h>

namespace cdc {

// An Error about what went wrong here; nofctl::invalid() is about what somebody gave.
inline nvmeof::Error wrong(std::string message)
{
	nvmeof::Error error;
	error.message = std::move(message);
	return error;
}

} // namespace cdc
