// SPDX-License-Identifier: LGPL-2.1-or-later
#include "nbft.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <map>
#include <netpacket/packet.h>

#include "text.h"

namespace nofctl::nbft {

std::vector<Link> linksOfMachine()
{
	std::map<std::string, Link> links;
	ifaddrs *all = nullptr;
	if (::getifaddrs(&all))
		return {};
	for (const ifaddrs *one = all; one; one = one->ifa_next) {
		if (!one->ifa_addr)
			continue;
		Link &link = links[one->ifa_name];
		link.name = one->ifa_name;
		const int family = one->ifa_addr->sa_family;
		const void *address = &reinterpret_cast<const sockaddr_in *>(one->ifa_addr)->sin_addr;
		char text[INET6_ADDRSTRLEN];
		if (family == AF_PACKET) {
			const auto *packet = reinterpret_cast<const sockaddr_ll *>(one->ifa_addr);
			if (packet->sll_halen == 6)
				link.mac = macText(std::span<const std::uint8_t, 6>(packet->sll_addr, 6));
			continue;
		}
		if (family == AF_INET6)
			address = &reinterpret_cast<const sockaddr_in6 *>(one->ifa_addr)->sin6_addr;
		if ((family == AF_INET || family == AF_INET6) && ::inet_ntop(family, address, text, sizeof(text)))
			link.addresses.emplace_back(text);
	}
	::freeifaddrs(all);
	std::vector<Link> found;
	for (auto &[name, link] : links)
		found.push_back(std::move(link));
	return found;
}

} // namespace nofctl::nbft
