// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * All records but instances, and the generation, as one JSON document: {"backup": 1, "generation": N, "time": S,
 * "records": [{"key": ..., "value": {...}}]}. It is taken from a service that runs, and put back by 'nvmeof-cdc move'.
 */
#pragma once

#include <filesystem>
#include <memory>

#include "model.h"
#include "store.h"

namespace cdc {

// @time: seconds since 1970
Json backupJson(const Model &model, double time);

// A store that tells what stands in such a document, and takes nothing. Errors: it cannot be read, or is none.
nvmeof::Result<std::unique_ptr<Store>> openBackup(const std::filesystem::path &file);

} // namespace cdc
