// SPDX-License-Identifier: LGPL-2.1-or-later
// Options of a connect as the C interface sets them: text values by name.
#pragma once

#include <string>

#include <nvmeof/client.h>
#include <nvmeof/nvmeof_c.h>

struct nvmeof_options {
	nvmeof::ConnectOptions connect{};
	nvmeof::WaitOptions wait{}; // only nsid and uuid are used
};

namespace nofctl {

// Errors: invalid, for an unknown name or value.
nvmeof::Result<void> setOption(nvmeof_options &options, const std::string &name, const std::string &value);

} // namespace nofctl
