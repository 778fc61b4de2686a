// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <vector>

#include <nvmeof/address.h>
#include <nvmeof/result.h>

namespace cdc {

// One socket for each of @count threads; the kernel distributes connections among them. Errors: also if another process
// listens on the address
nvmeof::Result<std::vector<int>> listenAt(const nvmeof::Address &address, std::size_t count);

} // namespace cdc
