// SPDX-License-Identifier: LGPL-2.1-or-later
// Whether nvmeofd runs, and its state, for commands that must not wait for it.
#pragma once

#include <optional>
#include <string>

#include <nvmeof/result.h>

#include "json.h"

// Whether nvmeofd is on the system bus. Empty if there is no bus, or if it does not answer within one second.
std::optional<bool> daemonRuns();
// The document of 'nvmeofctl daemon status'. Errors: timedOut after one second; noSuchObject if nvmeofd does not run.
nvmeof::Result<Json> daemonStatus();
// Whether systemd says that @unit is active. Empty if it cannot be asked, or does not answer within one second.
std::optional<bool> unitActive(const std::string &unit);
// Whether systemd starts @unit at boot: "systemctl enable" makes a link in the .wants folder of a target.
bool unitEnabled(const std::string &unit);
