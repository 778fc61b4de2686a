// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>
#include <utility>

#include <nvmeof/error.h>

namespace nofctl {

// For errors of this program or its environment; invalidError() is for invalid input.
inline nvmeof::Error makeError(std::string message)
{
	nvmeof::Error error;
	error.message = std::move(message);
	return error;
}

} // namespace nofctl
