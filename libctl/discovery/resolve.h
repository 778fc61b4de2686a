// SPDX-License-Identifier: LGPL-2.1-or-later
// Checks addresses and interface names of a configuration; resolve.cpp also resolves host names.
#pragma once

#include <string>
#include <string_view>

#include <nvmeof/result.h>

namespace nofctl {

// Checks an argument of resolveAddress() without resolving a host name. Errors: invalid, if it is neither an address
// nor a host name, the port is wrong, or the address is multicast or broadcast.
nvmeof::Result<void> checkAddress(std::string_view text);

// Whether it is an IPv6 link-local address without a scope
bool needsInterface(std::string_view text);

// 0.0.0.0 or ::
bool isUnspecified(std::string_view text);

// Whether the kernel allows the text as the name of a network interface: 1 to 15 bytes
bool isInterfaceName(std::string_view text);

} // namespace nofctl
