// SPDX-License-Identifier: LGPL-2.1-or-later
// Accepts connections to a port, over TCP or RDMA.
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
	virtual int fd() const = 0; // readable when accept() may succeed
	// Null: no connection is pending, or it was rejected.
	virtual std::shared_ptr<Connection> accept() = 0;
};

// Port 0: any free port. Throw if listening fails.
std::unique_ptr<Listener> listenTcp(Server &server, const std::string &address, std::uint16_t port);
std::unique_ptr<Listener> listenRdma(Server &server, const std::string &address, std::uint16_t port);

} // namespace target
