// SPDX-License-Identifier: LGPL-2.1-or-later
// Commands that reproduce a failure
#pragma once

#include <map>
#include <string>

namespace guest {

// Environment variables with the values that make a test take the same course
using Circumstances = std::map<std::string, std::string>;

// Records a random or loop choice that this variable can fix, until the end of the test case; "" removes it.
void decided(const std::string &variable, const std::string &value);
Circumstances circumstances();
void setCircumstances(const Circumstances &circumstances);

// Command that runs this program in a guest like this one; arguments: shell words. "": not available
std::string againCommand(const std::string &arguments, const Circumstances &circumstances);
// Command that runs only this test case
std::string testAgain(const std::string &testCase, const Circumstances &circumstances);

// Seed for this program: the value of the variable, otherwise $NVMEOF_SEED (drawn by qemu/run), otherwise random.
// Constant within a program.
unsigned long seedFrom(const std::string &variable);

} // namespace guest
