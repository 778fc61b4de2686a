// SPDX-License-Identifier: LGPL-2.1-or-later
// The verdict on everything that hosts received
#pragma once

#include "exit_code.h"
#include "storm.h"

namespace storm {

// Checks the logs, which adds to the violations, and returns the overall result.
ExitCode judge(const Options &options, Outcome &outcome);
const char *toString(ExitCode code); // "good"

// The log that most hosts received; null: none
const KnownLogs::Log *usualLog(const KnownLogs &logs);
// Empty: written; otherwise an error message
std::string save(const KnownLogs &logs, const std::string &file);

} // namespace storm
