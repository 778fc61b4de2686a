// SPDX-License-Identifier: LGPL-2.1-or-later
#include "listening.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace cdc {

using nvmeof::Address;
using nvmeof::Result;

namespace {

constexpr int backlog = 65535; // limited by net.core.somaxconn

void set(int socket, int level, int option)
{
	const int yes = 1;
	::setsockopt(socket, level, option, &yes, sizeof(yes));
}

// Returns a socket or a negative errno
int bound(const addrinfo &where, bool shared)
{
	const int socket = ::socket(where.ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (socket < 0)
		return -errno;
	set(socket, SOL_SOCKET, SO_REUSEADDR);
	if (shared)
		set(socket, SOL_SOCKET, SO_REUSEPORT);
	if (where.ai_family == AF_INET6)
		set(socket, IPPROTO_IPV6, IPV6_V6ONLY);
	if (::bind(socket, where.ai_addr, where.ai_addrlen) == 0 && ::listen(socket, backlog) == 0)
		return socket;
	const int error = -errno;
	::close(socket);
	return error;
}

// Interfaces with addresses of one machine only, or, of kube-ipvs0, of services
constexpr const char *localInterfaces[] = {"cali",   "cilium_", "cni",  "docker", "flannel", "kube-", "lxc",
					   "podman", "tap",     "tunl", "veth",   "virbr",   "vnet",  "weave"};

bool isForContainers(const std::string &interface)
{
	const std::size_t dockerNetwork = std::strlen("br-0123456789ab");
	if (interface.starts_with("br-") && interface.size() == dockerNetwork &&
	    interface.find_first_not_of("0123456789abcdef", 3) == interface.npos)
		return true;
	return std::ranges::any_of(localInterfaces, [&](const char *start) { return interface.starts_with(start); });
}

bool isLocalScope(const std::string &address)
{
	in_addr four{};
	in6_addr six{};
	if (::inet_pton(AF_INET, address.c_str(), &four) == 1) {
		const std::uint32_t bits = ntohl(four.s_addr);
		return bits >> 24 == IN_LOOPBACKNET || bits >> 16 == 0xa9fe; // 169.254.0.0/16
	}
	return ::inet_pton(AF_INET6, address.c_str(), &six) != 1 || IN6_IS_ADDR_LOOPBACK(&six) ||
	       IN6_IS_ADDR_LINKLOCAL(&six) || IN6_IS_ADDR_SITELOCAL(&six);
}

} // namespace

bool isAdvertisable(const std::string &interface, const std::string &address, const std::vector<Prefix> &networks)
{
	if (isLocalScope(address))
		return false;
	if (networks.empty())
		return !isForContainers(interface);
	const std::optional<Peer> peer = Peer::parse(address);
	return peer && std::ranges::any_of(networks, [&](const Prefix &network) { return network.holds(*peer); });
}

std::vector<std::string> advertisableAddresses(const std::vector<Prefix> &networks)
{
	std::vector<std::string> found;
	ifaddrs *all = nullptr;
	if (::getifaddrs(&all))
		return found;
	for (const ifaddrs *one = all; one; one = one->ifa_next) {
		char text[NI_MAXHOST];
		const int family = one->ifa_addr ? one->ifa_addr->sa_family : AF_UNSPEC;
		if ((family != AF_INET && family != AF_INET6) || one->ifa_flags & IFF_LOOPBACK)
			continue;
		const socklen_t size = family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
		if (::getnameinfo(one->ifa_addr, size, text, sizeof(text), nullptr, 0, NI_NUMERICHOST) == 0 &&
		    isAdvertisable(one->ifa_name, text, networks))
			found.emplace_back(text);
	}
	::freeifaddrs(all);
	return found;
}

Result<std::vector<int>> listenAt(const Address &address, std::size_t count)
{
	addrinfo hints{}, *where = nullptr;
	hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
	hints.ai_socktype = SOCK_STREAM;
	if (int error = ::getaddrinfo(address.traddr.c_str(), address.trsvcid.c_str(), &hints, &where))
		return nvmeof::errorFromErrno(EINVAL, address.toString() + ": " + ::gai_strerror(error));
	std::vector<int> sockets;
	int error = 0;
	// without SO_REUSEPORT first: it would share the address with another process
	if (const int alone = bound(*where, false); alone < 0)
		error = -alone;
	else
		::close(alone);
	while (!error && sockets.size() < count) {
		const int one = bound(*where, true);
		if (one < 0)
			error = -one;
		else
			sockets.push_back(one);
	}
	::freeaddrinfo(where);
	if (!error)
		return sockets;
	for (int socket : sockets)
		::close(socket);
	return nvmeof::errorFromErrno(error, "cannot listen at " + address.toString() + ": " + std::strerror(error));
}

} // namespace cdc
