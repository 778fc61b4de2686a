// SPDX-License-Identifier: LGPL-2.1-or-later
// Where hosts come to a port, over one transport or the other.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace target {

class Connection;
class Server;

class Listener {
public:
	virtual ~Listener() = default;

	virtual std::uint16_t port() const = 0;
	virtual int fd() const = 0; // readable when somebody may have come
	// Null: nobody has, or it was sent away.
	virtual std::shared_ptr<Connection> accept() = 0;
};

// Port 0: any free one. Throw where it cannot be had.
std::unique_ptr<Listener> listenTcp(Server &server, const std::string &address, std::uint16_t port);
std::unique_ptr<Listener> listenRdma(Server &server, const std::string &address, std::uint16_t port);

} // namespace target
