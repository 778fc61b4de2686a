// SPDX-License-Identifier: LGPL-2.1-or-later
// The options of a connect as the C interface sets them: text by name.
#pragma once

#include <string>

#include <nvmeof/client.h>
#include <nvmeof/nvmeof_c.h>

struct nvmeof_options {
	nvmeof::ConnectOptions connect{};
	nvmeof::WaitOptions wait{}; // nsid and uuid of it
};

namespace nofctl {

// invalid: no such name, or no such value
nvmeof::Result<void> setOption(nvmeof_options &options, const std::string &name, const std::string &value);

} // namespace nofctl
