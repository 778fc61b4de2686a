// SPDX-License-Identifier: LGPL-2.1-or-later
// A program of the system, by its name, without a shell.
#pragma once

#include <string>
#include <vector>

#include <nvmeof/result.h>

namespace csi {

// Until it ends. An exit status above @mostStatus is an error, with what it wrote.
nvmeof::Result<void> runProgram(const std::vector<std::string> &words, int mostStatus = 0);

} // namespace csi
