// SPDX-License-Identifier: LGPL-2.1-or-later
#include <nvmeof/address.h>

#include <arpa/inet.h>
#include <ifaddrs.h>

namespace nvmeof {

std::vector<std::string> ownAddresses()
{
	std::vector<std::string> found;
	ifaddrs *all = nullptr;
	if (::getifaddrs(&all))
		return found;
	for (const ifaddrs *one = all; one; one = one->ifa_next) {
		char text[INET6_ADDRSTRLEN];
		if (!one->ifa_addr)
			continue;
		const int family = one->ifa_addr->sa_family;
		const void *address = &reinterpret_cast<const sockaddr_in *>(one->ifa_addr)->sin_addr;
		if (family == AF_INET6)
			address = &reinterpret_cast<const sockaddr_in6 *>(one->ifa_addr)->sin6_addr;
		if ((family == AF_INET || family == AF_INET6) && ::inet_ntop(family, address, text, sizeof(text)))
			found.emplace_back(text);
	}
	::freeifaddrs(all);
	return found;
}

} // namespace nvmeof
