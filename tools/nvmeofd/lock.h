// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <filesystem>

#include <nvmeof/result.h>

namespace nvmeofd {

// Holds the lock until the process ends. Error: another process has it; the message has its PID.
nvmeof::Result<void> lockForLife(const std::filesystem::path &file);

} // namespace nvmeofd
