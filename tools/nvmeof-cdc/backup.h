// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A backup: all records except instances, and the generation, as one JSON document: {"backup": 1, "generation": N,
 * "time": S, "records": [{"key": ..., "value": {...}}]}. 'nvmeofctl cdc backup' reads it from a running service;
 * 'nvmeof-cdc move' restores it.
 */
#pragma once

#include <filesystem>
#include <memory>

#include "model.h"
#include "store.h"

namespace cdc {

// @time: seconds since 1970
Json backupJson(const Model &model, double time);

// A read-only store with the contents of a backup file. Errors: the file cannot be read or is not a backup.
nvmeof::Result<std::unique_ptr<Store>> openBackup(const std::filesystem::path &file);

} // namespace cdc
