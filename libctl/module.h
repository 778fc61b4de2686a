// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>

#include <nvmeof/result.h>

namespace nofctl {

// Loads it and what it depends on. noModule, with the kernel's errno and what that means here, when it cannot be.
nvmeof::Result<void> loadModule(const std::string &name);

// What an attempt that ended in a negative errno of libkmod's, or one of its positive values, amounts to.
nvmeof::Error moduleError(const std::string &name, int result);

} // namespace nofctl
