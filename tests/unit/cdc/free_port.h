// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <algorithm>
#include <string>

#include <catch2/catch.hpp>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
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

// Returns a TCP port of 127.0.0.1 for this process alone, until it ends. It is outside the range from which the kernel
// takes the ports of outgoing connections. An abstract Unix socket with its number reserves it against other tests.
inline std::uint16_t freePort()
{
	static std::uint16_t last = static_cast<std::uint16_t>(20000 + ::getpid() * 16 % 10000);
	for (int tries = 0; tries < 10000; tries++) {
		last = last < 30000 ? static_cast<std::uint16_t>(last + 1) : 20000;
		sockaddr_un name{AF_UNIX, {}};
		const std::string text = "nvmeof-test-port-" + std::to_string(last);
		std::ranges::copy(text, name.sun_path + 1);
		const int reservation = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
		const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		const sockaddr_in address = loopback(last);
		const bool free = ::bind(reservation, reinterpret_cast<const sockaddr *>(&name), sizeof(name)) == 0 &&
				  ::bind(socket, reinterpret_cast<const sockaddr *>(&address), sizeof(address)) == 0;
		::close(socket);
		if (free)
			return last; // the reservation stays open
		::close(reservation);
	}
	FAIL("there is no free port");
	return 0;
}

} // namespace cdc
