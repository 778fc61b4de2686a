// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>
#include <string_view>

#include <nvmeof/result.h>

namespace nofctl {

// Checks an argument of resolveAddress() without resolving a host name. invalid: it is neither an address
// nor a host name, its port is none, or nothing can be connected to at that address.
nvmeof::Result<void> checkAddress(std::string_view text);

// An IPv6 address that means nothing without an interface
bool needsInterface(std::string_view text);

// 0.0.0.0 or ::
bool isUnspecified(std::string_view text);

// 1 to 15 bytes that the kernel allows in the name of a network interface
bool isInterfaceName(std::string_view text);

} // namespace nofctl
