// SPDX-License-Identifier: LGPL-2.1-or-later
#include "registration.h"

#include <arpa/inet.h>
#include <cerrno>
#include <netdb.h>
#include <sys/socket.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <nvmeof/identity.h>

#include "admin_node.h"
#include "wire/identify.h"
#include "wire/registration.h"

namespace nofctl {

using namespace nvmeof;

namespace {

// The local address that the system would use to reach @to; empty: no route
std::string localAddress(const Address &to)
{
	addrinfo hints{};
	hints.ai_socktype = SOCK_DGRAM;
	hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
	addrinfo *found = nullptr;
	if (::getaddrinfo(to.traddr.c_str(), to.trsvcid.c_str(), &hints, &found))
		return {};
	std::string address;
	int fd = ::socket(found->ai_family, found->ai_socktype | SOCK_CLOEXEC, 0);
	sockaddr_storage local{};
	socklen_t size = sizeof(local);
	char name[NI_MAXHOST];
	// connect(2) on a datagram socket sends nothing
	if (fd >= 0 && ::connect(fd, found->ai_addr, found->ai_addrlen) == 0 &&
	    ::getsockname(fd, reinterpret_cast<sockaddr *>(&local), &size) == 0 &&
	    ::getnameinfo(reinterpret_cast<sockaddr *>(&local), size, name, sizeof(name), nullptr, 0, NI_NUMERICHOST) ==
		    0)
		address = name;
	if (fd >= 0)
		::close(fd);
	::freeaddrinfo(found);
	return address.substr(0, address.find('%'));
}

Result<wire::Registration> describeHost(const ConnectOptions &options)
{
	Result<HostIdentity> identity =
		resolveIdentity(options.hostnqn, options.hostid, IdentityPlaces{}, IdentityUse::kept);
	if (!identity)
		return identity.error();
	wire::Registration host{wire::dim_host, identity->hostnqn, identity->hostid.bytes, {}, {}, {}};
	utsname system{};
	if (::uname(&system) == 0) {
		host.name = system.nodename;
		host.version = std::string(system.sysname) + " " + system.release;
	}
	std::string address = options.hostTraddr.empty() ? localAddress(options.address) : options.hostTraddr;
	if (address.empty())
		return errorFromErrno(ENETUNREACH, "this host has no route to " + options.address.toString());
	host.interfaces.push_back(
		wire::makeInterface(options.transport == "rdma" ? wire::tr_rdma : wire::tr_tcp, host.nqn, address));
	return host;
}

} // namespace

Result<bool> registerHost(const std::string &controller, const ConnectOptions &options,
			  std::chrono::milliseconds timeout)
{
	Result<AdminNode> node = AdminNode::open(controller);
	if (!node)
		return node.error();
	Result<wire::Bytes> id = node->identify(timeout);
	if (!id)
		return id.error();
	if ((*id)[wire::at::dctype] != wire::dc_centralized)
		return false;
	Result<wire::Registration> host = describeHost(options);
	if (!host)
		return host.error();
	Result<void> done = node->manageDiscovery(wire::dim_register, wire::encodeRegistration(*host), timeout);
	return done ? Result<bool>(true) : done.error();
}

} // namespace nofctl
