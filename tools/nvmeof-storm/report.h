// SPDX-License-Identifier: LGPL-2.1-or-later
// Output of the results, as text and as JSON
#pragma once

#include "verdict.h"

namespace storm {

std::string text(const Options &options, const Outcome &outcome, ExitCode code);
// A document; nvmeof-storm(8) describes its members.
std::string json(const Options &options, const Outcome &outcome, ExitCode code);

} // namespace storm
