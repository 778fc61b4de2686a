// SPDX-License-Identifier: LGPL-2.1-or-later
// Runs a program by name, without a shell.
#pragma once

#include <string>
#include <vector>

#include <nvmeof/result.h>

namespace csi {

// Waits for its end. Error: the exit status is above @maxStatus; the message has its output
nvmeof::Result<void> runProgram(const std::vector<std::string> &words, int maxStatus = 0);

} // namespace csi
