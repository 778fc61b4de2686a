// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <vector>

#include <nvmeof/address.h>
#include <nvmeof/result.h>

namespace cdc {

// A socket for each of @count threads, among which the kernel spreads connections. Errors: also where somebody else
// listens there
nvmeof::Result<std::vector<int>> listenAt(const nvmeof::Address &address, std::size_t count);

} // namespace cdc
