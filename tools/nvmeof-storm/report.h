// SPDX-License-Identifier: LGPL-2.1-or-later
// What a storm came to, for people and for programs.
#pragma once

#include "verdict.h"

namespace storm {

std::string text(const Options &options, const Outcome &outcome, ExitCode code);
// A document; nvmeof-storm(8) tells its members.
std::string json(const Options &options, const Outcome &outcome, ExitCode code);

} // namespace storm
