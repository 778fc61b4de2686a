// SPDX-License-Identifier: LGPL-2.1-or-later
#include "listening.h"

#include <cerrno>
#include <cstring>

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

} // namespace

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
