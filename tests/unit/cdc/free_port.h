// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <catch2/catch.hpp>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace cdc {

inline sockaddr_in loopback(std::uint16_t port)
{
	sockaddr_in address{};
	address.sin_family = AF_INET;
	address.sin_port = htons(port);
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	return address;
}

inline void connectTo(int socket, std::uint16_t port)
{
	const sockaddr_in to = loopback(port);
	REQUIRE(::connect(socket, reinterpret_cast<const sockaddr *>(&to), sizeof(to)) == 0);
}

// Returns a TCP port of 127.0.0.1 on which no socket listens now.
inline std::uint16_t freePort()
{
	const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	sockaddr_in address = loopback(0);
	socklen_t length = sizeof(address);
	REQUIRE(::bind(socket, reinterpret_cast<sockaddr *>(&address), length) == 0);
	::getsockname(socket, reinterpret_cast<sockaddr *>(&address), &length);
	::close(socket);
	return ntohs(address.sin_port);
}

} // namespace cdc
