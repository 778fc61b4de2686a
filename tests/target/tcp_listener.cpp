// SPDX-License-Identifier: LGPL-2.1-or-later
#include "listener.h"
#include "tcp_connection.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <system_error>

namespace target {
namespace {

[[noreturn]] void fail(const char *what)
{
	throw std::system_error(errno, std::generic_category(), what);
}

// IPv4 addresses use their IPv4-mapped form, so that one socket type suffices.
sockaddr_in6 makeAddress(const std::string &text, std::uint16_t port)
{
	sockaddr_in6 sa{};
	sa.sin6_family = AF_INET6;
	sa.sin6_port = htons(port);
	auto full = text.find(':') == std::string::npos ? "::ffff:" + text : text;
	if (inet_pton(AF_INET6, full.c_str(), &sa.sin6_addr) != 1)
		throw std::invalid_argument("not a numeric address: " + text);
	return sa;
}

Fd socketOn(const std::string &address, std::uint16_t port)
{
	Fd fd(::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
	int one = 1, zero = 0;
	::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	::setsockopt(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &zero, sizeof(zero));
	auto sa = makeAddress(address, port);
	if (::bind(fd.get(), reinterpret_cast<sockaddr *>(&sa), sizeof(sa)))
		fail("bind");
	if (::listen(fd.get(), 1024))
		fail("listen");
	return fd;
}

std::uint16_t portOf(const Fd &fd)
{
	sockaddr_in6 sa{};
	socklen_t len = sizeof(sa);
	if (::getsockname(fd.get(), reinterpret_cast<sockaddr *>(&sa), &len))
		fail("getsockname");
	return ntohs(sa.sin6_port);
}

class TcpListener : public Listener {
public:
	TcpListener(Server &server, const std::string &address, std::uint16_t port)
		: server_(server), socket_(socketOn(address, port))
	{
	}

	std::uint16_t port() const override { return portOf(socket_); }
	int fd() const override { return socket_.get(); }
	std::shared_ptr<Connection> accept() override
	{
		Fd socket(::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
		if (!socket)
			return nullptr;
		int one = 1;
		::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
		return std::make_shared<TcpConnection>(server_, std::move(socket));
	}

private:
	Server &server_;
	Fd socket_;
};

} // namespace

std::unique_ptr<Listener> listenTcp(Server &server, const std::string &address, std::uint16_t port)
{
	return std::make_unique<TcpListener>(server, address, port);
}

} // namespace target
