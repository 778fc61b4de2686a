// SPDX-License-Identifier: LGPL-2.1-or-later
// Commands that reproduce a failure
#pragma once

#include <map>
#include <string>

namespace guest {

// Environment variables with the values that make a test take the same course
using Choices = std::map<std::string, std::string>;

// Records a random or loop choice that this variable can fix, until the end of the test case; "" removes it.
void recordChoice(const std::string &variable, const std::string &value);
Choices choices();
void setCircumstances(const Choices &choices);

// Command that runs this program in a guest like this one; arguments: shell words. "": not available
std::string reproduceCommand(const std::string &arguments, const Choices &choices);
// Command that runs only this test case
std::string reproduceTest(const std::string &testCase, const Choices &choices);

// Seed for this program: the value of the variable, otherwise $NVMEOF_SEED (drawn by qemu/run), otherwise random.
// Constant within a program.
unsigned long seedFrom(const std::string &variable);

} // namespace guest
