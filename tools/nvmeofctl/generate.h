// SPDX-License-Identifier: LGPL-2.1-or-later
// Text made from the table of commands.
#pragma once

#include <string>

std::string bashCompletion();
std::string zshCompletion();
std::string manPage();
