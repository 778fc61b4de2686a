// SPDX-License-Identifier: LGPL-2.1-or-later
// A number that the kernel's netlink code does not take: it says no more than "integer out of range", and which one.
#pragma once

#include <optional>

#include <nvmeof/error.h>

#include "reply.h"
#include "request.h"

namespace nofctl {

// Names the option or setting, and what is allowed. Nothing: that is not what is wrong.
std::optional<nvmeof::Error> rangeError(const Reply &reply, const Request &request);

} // namespace nofctl
