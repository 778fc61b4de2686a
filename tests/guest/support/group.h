// SPDX-License-Identifier: LGPL-2.1-or-later
// Groups of test cases: one program has them all, and is started by the name of one.
#pragma once

#include <string>

namespace guest {

// Whether the program has the test cases of this source file, as it was started: by the name of a group (a link,
// /nvmeof/tests/recovery) those that CMakeLists.txt lists for that group, by its own name all.
bool inGroup(const std::string &sourceFile);

} // namespace guest
