// SPDX-License-Identifier: LGPL-2.1-or-later
// The results of a run: verdict, and output as text and as JSON
#pragma once

#include "options.h"
#include "storm.h"

namespace storm {

// The verdict on everything that hosts received: checks the logs, which adds to the violations, and returns the overall
// result.
ExitCode judge(const Options &options, Outcome &outcome);
const char *toString(ExitCode code); // "good"

// Empty: written; otherwise an error message
std::string save(const KnownLogs &logs, const std::string &file);

std::string text(const Options &options, const Outcome &outcome, ExitCode code);
// A document; nvmeof-storm(8) describes its members.
std::string json(const Options &options, const Outcome &outcome, ExitCode code);

} // namespace storm
