// SPDX-License-Identifier: LGPL-2.1-or-later
// One executable has the test cases of all guest programs; a program is a link to it.
#pragma once

#include <string>

namespace guest {

// Whether the program that was started has the test cases of this source file: /nvmeof/tests/recovery has those of the
// files that CMakeLists.txt lists for it, the executable by its own name has all.
bool inThisProgram(const std::string &sourceFile);

} // namespace guest
