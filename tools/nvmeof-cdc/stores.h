// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <memory>

#include "config.h"
#include "serving/loop.h"
#include "store.h"

namespace cdc {

// The store that a configuration wants, not started yet. @rebuild: a file of ours that is damaged is moved aside, and
// made anew. Errors: the password of etcd cannot be read
nvmeof::Result<std::unique_ptr<Store>> makeStore(serving::Loop &loop, const StoreRules &rules, bool rebuild);

} // namespace cdc
