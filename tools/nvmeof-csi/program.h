// SPDX-License-Identifier: LGPL-2.1-or-later
// A program of the system, by its name, without a shell.
#pragma once

#include <string>
#include <vector>

#include <nvmeof/result.h>

namespace csi {

// Until it ends. An error has what it wrote to stderr.
nvmeof::Result<void> runProgram(const std::vector<std::string> &words);

} // namespace csi
