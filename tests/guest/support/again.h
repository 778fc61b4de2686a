// SPDX-License-Identifier: LGPL-2.1-or-later
// How to have a failure again.
#pragma once

#include <map>
#include <string>

namespace guest {

// Variables of the environment, and what they have to be for a test to go the same way.
using Circumstances = std::map<std::string, std::string>;

// What chance or a loop has chosen: it can be asked for by this variable. Until the end of the test case, or "".
void decided(const std::string &variable, const std::string &value);
Circumstances circumstances();
void setCircumstances(const Circumstances &circumstances);

// The command that runs this program in a guest like this one; arguments: in the shell's words. "": there is none.
std::string againCommand(const std::string &arguments, const Circumstances &circumstances);
// The test case of that name alone
std::string testAgain(const std::string &testCase, const Circumstances &circumstances);

// A number that decides which way a program goes: the variable's, or else $NVMEOF_SEED, which qemu/run draws, or a
// random one. The same each time in one program.
unsigned long seedFrom(const std::string &variable);

} // namespace guest
