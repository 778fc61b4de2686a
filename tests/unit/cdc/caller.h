// SPDX-License-Identifier: LGPL-2.1-or-later
// Client of a running service's control socket: sends lines and reads answers
#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include "running.h"

namespace cdc {

class ControlClient {
public:
	explicit ControlClient(const ServiceFixture &running)
		: socket_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0))
	{
		sockaddr_un address{};
		address.sun_family = AF_UNIX;
		std::ranges::copy(running.rules.control.string(), address.sun_path);
		const timeval limit{20, 0};
		::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
		REQUIRE(::connect(socket_, reinterpret_cast<sockaddr *>(&address), sizeof(address)) == 0);
	}
	~ControlClient() { ::close(socket_); }

	// Returns false if the peer has closed the connection.
	bool say(const std::string &text)
	{
		for (std::size_t sent = 0; sent < text.size();) {
			const ssize_t n = ::send(socket_, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
			if (n <= 0)
				return false;
			sent += static_cast<std::size_t>(n);
		}
		return true;
	}
	// Returns null at the end of the connection.
	Json next()
	{
		for (;;) {
			if (const std::size_t end = read_.find('\n'); end != read_.npos) {
				const std::string line = read_.substr(0, end);
				read_.erase(0, end + 1);
				return Json::parse(line);
			}
			char room[65536];
			const ssize_t n = ::recv(socket_, room, sizeof(room), 0);
			if (n < 0 && errno == EAGAIN)
				FAIL("no answer");
			if (n <= 0)
				return nullptr;
			read_.append(room, static_cast<std::size_t>(n));
		}
	}
	Json ask(const std::string &line)
	{
		REQUIRE(say(line + "\n"));
		return next();
	}
	void end() { ::shutdown(socket_, SHUT_WR); }
	int fd() const { return socket_; }

private:
	int socket_;
	std::string read_;
};

} // namespace cdc
