// SPDX-License-Identifier: LGPL-2.1-or-later
// Loads kernel modules.
#pragma once

#include <string>

#include <nvmeof/result.h>

namespace nofctl {

// Loads the module and its dependencies. Errors: noModule, with the kernel's errno and its meaning.
nvmeof::Result<void> loadModule(const std::string &name);

// @result: from libkmod, a negative errno or a positive KMOD_PROBE_* value.
nvmeof::Error moduleError(const std::string &name, int result);

} // namespace nofctl
