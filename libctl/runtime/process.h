// SPDX-License-Identifier: LGPL-2.1-or-later
// Limits of the process of a service
#pragma once

namespace runtime {

// Keeps the memory, which has keys in it, out of core dumps, and from debuggers of the same user. With
// NVMEOF_CORE_DUMPS=1 in the environment, nothing is changed: for developers.
void protectMemory();

// Each connection of a service needs a descriptor: allows as many as the service manager does.
void raiseFileLimit();

} // namespace runtime
