// SPDX-License-Identifier: LGPL-2.1-or-later
// A fabric address as a socket address
#pragma once

#include <optional>

#include <sys/socket.h>

#include <nvmeof/address.h>

namespace initiator {

struct Endpoint {
	sockaddr_storage address{};
	socklen_t length = 0;

	int family() const { return address.ss_family; }
	// Absent: the address is not numeric, or its scope does not exist on this machine.
	static std::optional<Endpoint> of(const nvmeof::Address &address);
};

} // namespace initiator
