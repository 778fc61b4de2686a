// SPDX-License-Identifier: LGPL-2.1-or-later
// A better message for a number out of range: the kernel reports only "integer out of range" and the attribute.
#pragma once

#include <optional>

#include <nvmeof/error.h>

#include "reply.h"
#include "request.h"

namespace nofctl {

// An error that names the option or setting and its valid range. Nothing: @reply has another cause.
std::optional<nvmeof::Error> rangeError(const Reply &reply, const Request &request);

} // namespace nofctl
