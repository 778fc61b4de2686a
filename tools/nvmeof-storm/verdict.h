// SPDX-License-Identifier: LGPL-2.1-or-later
// What all that came is worth.
#pragma once

#include "exit_code.h"
#include "storm.h"

namespace storm {

// Judges the logs, which adds to the oddities, and then all together.
ExitCode judge(const Options &options, Outcome &outcome);
const char *toString(ExitCode code); // "good"

// The log that most hosts were told; null: none
const KnownLogs::Log *usualLog(const KnownLogs &logs);
// Empty: written. Else why not
std::string save(const KnownLogs &logs, const std::string &file);

} // namespace storm
