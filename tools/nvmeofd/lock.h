// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <filesystem>

#include <nvmeof/result.h>

namespace nvmeofd {

// Held until the process ends, however it does. Error: another one has it, with its process ID.
nvmeof::Result<void> lockForLife(const std::filesystem::path &file);

} // namespace nvmeofd
