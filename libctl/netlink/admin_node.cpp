// SPDX-License-Identifier: LGPL-2.1-or-later
#include "admin_node.h"

#include <arpa/inet.h>
#include <cerrno>
#include <fcntl.h>
#include <linux/nvme_ioctl.h>
#include <netdb.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <utility>

#include <nvmeof/identity.h>

#include "libctl/wire/identify.h"
#include "libctl/wire/registration.h"
#include "libctl/wire/status.h"

namespace nofctl {

using namespace nvmeof;

namespace {

// @status: result of the ioctl: -1 with errno set, or the NVMe status
Result<void> outcome(int status, const char *what)
{
	if (status == 0)
		return {};
	if (status < 0) {
		Error error = errorFromErrno(errno);
		error.message = std::string(what) + ": " + error.message;
		return error;
	}
	Error error;
	error.code = ErrorCode::refused;
	error.nvmeStatus = static_cast<std::uint16_t>(status & wire::st_type_and_code);
	error.message = std::string(what) + ": " + describeStatus(*error.nvmeStatus);
	return error;
}

} // namespace

Result<AdminNode> AdminNode::open(const std::string &controller)
{
	std::string node = "/dev/" + controller;
	int fd = ::open(node.c_str(), O_RDWR | O_CLOEXEC);
	if (fd >= 0)
		return AdminNode(fd);
	Error error = errorFromErrno(errno);
	error.message = node + ": " + error.message;
	error.object = ErrorObject::named(controller);
	return error;
}

AdminNode::AdminNode(AdminNode &&other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

AdminNode::~AdminNode()
{
	if (fd_ >= 0)
		::close(fd_);
}

Result<void> AdminNode::submit(const wire::Command &cmd, std::span<std::byte> data, std::chrono::milliseconds timeout,
			       const char *what)
{
	nvme_admin_cmd io{};
	io.opcode = cmd.opcode;
	io.nsid = cmd.nsid;
	io.addr = reinterpret_cast<std::uintptr_t>(data.data());
	io.data_len = static_cast<std::uint32_t>(data.size());
	io.cdw10 = cmd.cdw10;
	io.cdw11 = cmd.cdw11;
	io.cdw12 = cmd.cdw12;
	io.cdw13 = cmd.cdw13;
	io.cdw14 = cmd.cdw14;
	io.cdw15 = cmd.cdw15;
	io.timeout_ms = static_cast<std::uint32_t>(timeout.count());
	return outcome(::ioctl(fd_, NVME_IOCTL_ADMIN_CMD, &io), what);
}

Result<wire::Bytes> AdminNode::identify(std::chrono::milliseconds timeout)
{
	wire::Bytes id(wire::identifySize);
	Result<void> done = submit(wire::identify(wire::cns_ctrl), std::as_writable_bytes(std::span(id)), timeout,
				   "Identify Controller");
	return done ? Result<wire::Bytes>(std::move(id)) : done.error();
}

Result<void> AdminNode::getLog(wire::LogPage log, std::uint64_t offset, std::span<std::byte> into, bool retain,
			       std::chrono::milliseconds timeout)
{
	return submit(wire::getLog(log, offset, static_cast<std::uint32_t>(into.size()), retain), into, timeout,
		      "Get Log Page");
}

Result<void> AdminNode::manageDiscovery(wire::DimTask task, wire::Bytes data, std::chrono::milliseconds timeout)
{
	return submit(wire::informationManagement(task), std::as_writable_bytes(std::span(data)), timeout,
		      "Discovery Information Management");
}

// ---- registration

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
