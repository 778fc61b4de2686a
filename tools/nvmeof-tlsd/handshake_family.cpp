// SPDX-License-Identifier: LGPL-2.1-or-later
#include "handshake_family.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <sstream>
#include <sys/socket.h>

#include <linux/netlink.h>

#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <netlink/msg.h>
#include <netlink/socket.h>

#include "libctl/base/file.h"
#include "libctl/netlink/channel.h"
#include "libctl/netlink/message.h"

namespace tlsd {

using nofctl::KeySerial;
using nofctl::libnlError;
using nofctl::malformedMessage;
using nofctl::OwnedFd;
using nofctl::Reply;
using nvmeof::Error;
using nvmeof::ErrorCode;
using nvmeof::Result;

namespace {

// linux/handshake.h, which the headers of Linux 6.1 do not have yet
constexpr const char *familyName = "handshake";
constexpr const char *groupName = "tlshd";
constexpr std::uint8_t familyVersion = 1;
constexpr std::uint32_t handlerClassTlshd = 1;
enum Command : std::uint8_t { acceptCommand = 2, doneCommand = 3 };
enum AcceptAttribute {
	acceptSocket = 1,
	acceptHandlerClass,
	acceptMessageType,
	acceptTimeout,
	acceptAuthMode,
	acceptPeerIdentity,
	acceptCertificate,
	acceptPeerName,
	acceptKeyring, // of newer kernels
};
enum DoneAttribute { doneStatus = 1, doneSocket, doneRemoteAuth };
enum MessageType : std::uint32_t { clientHello = 1, serverHello = 2 };
enum AuthNumber : std::uint32_t { authPsk = 2, authX509 = 3 };

constexpr std::size_t mostOfRequest = 16; // of one request; Linux 6.12 sends at most 5
constexpr std::size_t longestPeerName = 255;

template <typename T, typename To> bool takeNumber(std::span<const std::byte> payload, To &to)
{
	const std::optional<T> number = nofctl::numberOf<T>(payload);
	if (number)
		to = static_cast<To>(*number);
	return number.has_value();
}

Error noHandshakes()
{
	Error error;
	error.code = ErrorCode::noModule;
	error.message =
		"this kernel cannot pass handshakes to a program; it needs CONFIG_NET_HANDSHAKE, which Linux has "
		"since 6.4";
	return error;
}

} // namespace

std::optional<int> acceptedSocket(std::span<const std::byte> attributes)
{
	std::optional<int> socket;
	nofctl::eachAttribute(attributes, [&](int type, std::span<const std::byte> payload) {
		if (type == acceptSocket)
			socket = nofctl::numberOf<std::int32_t>(payload);
		return !socket;
	});
	return socket && *socket >= 0 ? socket : std::nullopt;
}

Result<HandshakeRequest> HandshakeRequest::parse(std::span<const std::byte> attributes)
{
	HandshakeRequest request;
	std::uint32_t type = 0, auth = 0, timeout = 0;
	auto take = [&](int attribute, std::span<const std::byte> payload) {
		switch (attribute) {
		case acceptMessageType:
			return takeNumber<std::uint32_t>(payload, type);
		case acceptAuthMode:
			return takeNumber<std::uint32_t>(payload, auth);
		case acceptTimeout:
			return takeNumber<std::uint32_t>(payload, timeout);
		case acceptPeerIdentity:
			return request.keys.size() < mostOfRequest &&
			       takeNumber<std::uint32_t>(payload, request.keys.emplace_back());
		case acceptKeyring:
			return takeNumber<std::uint32_t>(payload, request.keyring);
		case acceptPeerName:
			request.peerName = nofctl::textOf(payload);
			return request.peerName.size() <= longestPeerName;
		default:
			return true;
		}
	};
	if (!nofctl::eachAttribute(attributes, take))
		return malformedMessage("a wrong attribute");
	if (type != clientHello && type != serverHello)
		return malformedMessage("neither a client's nor a server's handshake");
	request.role = type == clientHello ? TlsRole::client : TlsRole::server;
	request.auth = auth == authPsk ? AuthMode::psk : auth == authX509 ? AuthMode::x509 : AuthMode::none;
	request.timeout = std::chrono::milliseconds(timeout);
	std::erase(request.keys, 0); // a server's: none in particular
	return request;
}

bool listenedBy(const std::string &netlinkSockets, unsigned group, const std::vector<std::uint32_t> &own)
{
	if (group == 0 || group > 32) // the file has the first 32 groups
		return false;
	std::istringstream lines(netlinkSockets);
	for (std::string line; std::getline(lines, line);) {
		std::istringstream words(line);
		std::string address;
		unsigned protocol = 0;
		std::uint32_t port = 0, groups = 0;
		if (!(words >> address >> protocol >> port >> std::hex >> groups) || protocol != NETLINK_GENERIC)
			continue;
		if (groups >> (group - 1) & 1 && std::find(own.begin(), own.end(), port) == own.end())
			return true;
	}
	return false;
}

void HandshakeFamily::Free::operator()(nl_sock *socket) const
{
	nl_socket_free(socket);
}

void HandshakeFamily::Free::operator()(nl_msg *message) const
{
	nlmsg_free(message);
}

Result<HandshakeFamily> HandshakeFamily::open()
{
	HandshakeFamily made;
	for (auto *socket : {&made.requests_, &made.events_}) {
		socket->reset(nl_socket_alloc());
		if (!*socket)
			return nvmeof::errorFromErrno(ENOMEM);
		if (const int code = genl_connect(socket->get()); code < 0)
			return libnlError("cannot open a netlink socket", code);
	}
	const int family = genl_ctrl_resolve(made.requests_.get(), familyName);
	if (family == -NLE_OBJ_NOTFOUND)
		return noHandshakes();
	if (family < 0)
		return libnlError("cannot find the handshake API of the kernel", family);
	made.family_ = static_cast<std::uint16_t>(family);
	made.group_ = genl_ctrl_resolve_grp(made.requests_.get(), familyName, groupName);
	if (made.group_ < 0)
		return libnlError("cannot find the multicast group of agents", made.group_);
	int on = 1;
	::setsockopt(nl_socket_get_fd(made.requests_.get()), SOL_NETLINK, NETLINK_CAP_ACK, &on, sizeof(on));
	return made;
}

Result<void> HandshakeFamily::checkRights()
{
	const Result<void> answer = done(-1, 0, 0); // without the right to: EPERM, else EBADF
	if (!answer && answer.error().sysErrno == EPERM)
		return nvmeof::errorFromErrno(EPERM, "taking handshakes from the kernel needs CAP_NET_ADMIN in the "
						     "initial user namespace: run it as root, not in a container of "
						     "its own");
	return {};
}

bool HandshakeFamily::otherAgent() const
{
	constexpr std::size_t largest = 1 << 20;
	const Result<std::string> sockets = nofctl::readWholeFile("/proc/net/netlink", largest);
	return sockets &&
	       listenedBy(*sockets, static_cast<unsigned>(group_), {nl_socket_get_local_port(events_.get())});
}

Result<void> HandshakeFamily::join()
{
	const int code = nl_socket_add_membership(events_.get(), group_);
	return code < 0 ? Result<void>(libnlError("cannot subscribe to handshakes", code)) : Result<void>();
}

int HandshakeFamily::fd() const
{
	return nl_socket_get_fd(events_.get());
}

// The content of the messages does not matter: if some were lost (ENOBUFS), handshakes wait all the same.
void HandshakeFamily::drain()
{
	constexpr int most = 64; // at once: what is left wakes the loop again
	for (int i = 0; i < most; i++)
		if (Result<std::vector<std::byte>> datagram = nofctl::receiveDatagram(fd());
		    !datagram && datagram.error().sysErrno != ENOBUFS)
			return;
}

HandshakeFamily::Message HandshakeFamily::message(std::uint8_t command) const
{
	Message made(nlmsg_alloc());
	if (!made || !genlmsg_put(made.get(), NL_AUTO_PORT, NL_AUTO_SEQ, family_, 0, NLM_F_REQUEST | NLM_F_ACK, command,
				  familyVersion))
		throw std::bad_alloc();
	return made;
}

// The kernel handles a request inside send(2), so its answer is there afterwards.
Result<std::optional<std::vector<std::byte>>> HandshakeFamily::exchange(const Message &message)
{
	const int fd = nl_socket_get_fd(requests_.get());
	nlmsghdr *header = nlmsg_hdr(message.get());
	header->nlmsg_seq = ++sequence_;
	header->nlmsg_pid = 0; // set by the kernel
	ssize_t sent;
	do
		sent = ::send(fd, header, header->nlmsg_len, 0);
	while (sent < 0 && errno == EINTR);
	if (sent < 0)
		return nvmeof::errorFromErrno(errno);
	std::optional<std::vector<std::byte>> answer;
	for (;;) {
		Result<std::vector<std::byte>> datagram = nofctl::receiveDatagram(fd);
		if (!datagram)
			return datagram.error();
		Result<std::vector<Reply>> replies = nofctl::splitReplies(*datagram, family_);
		if (!replies)
			return replies.error();
		for (const Reply &reply : *replies) {
			if (reply.sequence != sequence_)
				continue;
			if (reply.kind == Reply::Kind::data)
				answer.emplace(reply.attributes.begin(), reply.attributes.end());
			if (reply.kind == Reply::Kind::error)
				return nvmeof::errorFromErrno(reply.sysErrno, reply.message);
			if (reply.kind == Reply::Kind::ack)
				return answer;
		}
	}
}

Result<std::optional<HandshakeRequest>> HandshakeFamily::accept()
{
	using Accepted = std::optional<HandshakeRequest>;
	const Message message = this->message(acceptCommand);
	nla_put_u32(message.get(), acceptHandlerClass, handlerClassTlshd);
	clearProcessKeyring();
	Result<std::optional<std::vector<std::byte>>> answer = exchange(message);
	if (!answer && answer.error().sysErrno == EAGAIN)
		return Accepted();
	if (!answer) {
		Error error = answer.error();
		error.message = "cannot take a handshake: " + error.message + "; it is tried again";
		return error;
	}
	if (!*answer)
		return malformedMessage("an acknowledgement without a handshake");
	const KeySerial keyring = processKeyringEntry();
	clearProcessKeyring();
	const std::optional<int> fd = acceptedSocket(**answer);
	if (!fd)
		return malformedMessage("a handshake without a socket");
	OwnedFd socket(*fd);
	Result<HandshakeRequest> request = HandshakeRequest::parse(**answer);
	if (!request) {
		if (Result<void> ended = done(socket.get(), EIO, 0); !ended)
			return ended.error();
		return request.error();
	}
	request->socket = std::move(socket);
	if (!request->keyring)
		request->keyring = keyring;
	return Accepted(*std::move(request));
}

Result<void> HandshakeFamily::done(int socket, int status, KeySerial key)
{
	const Message message = this->message(doneCommand);
	nla_put_u32(message.get(), doneStatus, static_cast<std::uint32_t>(status));
	nla_put_s32(message.get(), doneSocket, socket);
	if (key)
		nla_put_u32(message.get(), doneRemoteAuth, static_cast<std::uint32_t>(key));
	const Result<std::optional<std::vector<std::byte>>> answer = exchange(message);
	return answer ? Result<void>() : answer.error();
}

} // namespace tlsd
