// SPDX-License-Identifier: LGPL-2.1-or-later
// One executable contains the test cases of all guest programs; a program is a link to it.
#pragma once

#include <string>

namespace guest {

// Whether this program contains the test cases of the source file. /nvmeof/tests/recovery contains those of the files
// that CMakeLists.txt lists for it; the executable itself contains all.
bool inThisProgram(const std::string &sourceFile);

} // namespace guest
