// SPDX-License-Identifier: LGPL-2.1-or-later
#include <nvmeof/exclusion.h>

#include <algorithm>
#include <arpa/inet.h>
#include <cstring>
#include <fnmatch.h>
#include <utility>

namespace nvmeof {

std::string normalTraddr(const std::string &traddr)
{
	const std::size_t percent = std::min(traddr.find('%'), traddr.size());
	char text[INET6_ADDRSTRLEN];
	in_addr four;
	in6_addr six;
	if (::inet_pton(AF_INET, traddr.c_str(), &four) == 1)
		return ::inet_ntop(AF_INET, &four, text, sizeof(text));
	if (::inet_pton(AF_INET6, traddr.substr(0, percent).c_str(), &six) != 1)
		return traddr;
	if (IN6_IS_ADDR_V4MAPPED(&six)) {
		std::memcpy(&four, &six.s6_addr[12], sizeof(four));
		return ::inet_ntop(AF_INET, &four, text, sizeof(text));
	}
	return ::inet_ntop(AF_INET6, &six, text, sizeof(text)) + traddr.substr(percent);
}

bool Exclusion::covers(const ConnectOptions &options) const
{
	const std::pair<std::string, std::string> texts[] = {
		{transport, options.transport},
		{trsvcid, options.address.trsvcid},
		{normalTraddr(hostTraddr), normalTraddr(options.hostTraddr)},
		{hostIface, options.hostIface},
	};
	bool said = !traddr.empty() || !nqn.empty();
	for (const auto &[wanted, has] : texts) {
		if (!wanted.empty() && wanted != has)
			return false;
		said = said || !wanted.empty();
	}
	return said && (traddr.empty() || normalTraddr(traddr) == normalTraddr(options.address.traddr)) &&
	       (nqn.empty() || ::fnmatch(nqn.c_str(), options.subsysnqn.c_str(), 0) == 0);
}

} // namespace nvmeof
