// SPDX-License-Identifier: LGPL-2.1-or-later
// Help texts, generated from the command table.
#pragma once

#include <string>

#include "command.h"

std::string helpOfAll();
std::string helpOf(const Command &command);
// "nvmeofctl connect --nqn NQN --traddr ADDR[:PORT] [OPTION]..."
std::string usageOf(const Command &command);
