// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>
#include <vector>

#include <nvmeof/address.h>
#include <nvmeof/result.h>

#include "peers.h"

namespace cdc {

// One socket for each of @count threads; the kernel distributes connections among them. Errors: also if another process
// listens on the address
nvmeof::Result<std::vector<int>> listenAt(const nvmeof::Address &address, std::size_t count);

// Whether hosts elsewhere may reach @address of @interface: not loopback, link-local, or the deprecated site-local
// fec0::/10, and not an interface of containers or virtual machines of this machine. @networks: only addresses in one
// of them, of any interface; empty: all
bool isAdvertisable(const std::string &interface, const std::string &address, const std::vector<Prefix> &networks);
// Those addresses of this machine
std::vector<std::string> advertisableAddresses(const std::vector<Prefix> &networks);

} // namespace cdc
