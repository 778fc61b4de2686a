// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <memory>

#include "config.h"
#include "serving/loop.h"
#include "store.h"

namespace cdc {

// The configured store, not started yet. @rebuild: replace a damaged local file by a new one. Errors: the password file
// of etcd cannot be read
nvmeof::Result<std::unique_ptr<Store>> makeStore(serving::Loop &loop, const StoreRules &rules, bool rebuild);

} // namespace cdc
