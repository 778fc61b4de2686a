// SPDX-License-Identifier: LGPL-2.1-or-later
#include "endpoint.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include <netdb.h>

namespace initiator {

std::optional<Endpoint> Endpoint::of(const nvmeof::Address &address)
{
	addrinfo hints{}, *found = nullptr;
	hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
	hints.ai_socktype = SOCK_STREAM;
	if (::getaddrinfo(address.traddr.c_str(), address.trsvcid.c_str(), &hints, &found))
		return {};
	const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owned(found, ::freeaddrinfo);
	Endpoint endpoint;
	endpoint.length = std::min<socklen_t>(found->ai_addrlen, sizeof(endpoint.address));
	std::memcpy(&endpoint.address, found->ai_addr, endpoint.length);
	return endpoint;
}

} // namespace initiator
