// SPDX-License-Identifier: LGPL-2.1-or-later
// A fabric address as sockets have it.
#pragma once

#include <optional>

#include <sys/socket.h>

#include <nvmeof/address.h>

namespace initiator {

struct Endpoint {
	sockaddr_storage address{};
	socklen_t length = 0;

	int family() const { return address.ss_family; }
	// Nothing: it is not numeric, or its scope is none of this machine's.
	static std::optional<Endpoint> of(const nvmeof::Address &address);
};

} // namespace initiator
