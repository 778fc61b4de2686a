// SPDX-License-Identifier: LGPL-2.1-or-later
#include "doctor_probe.h"

#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <cstring>
#include <ifaddrs.h>
#include <map>
#include <memory>
#include <net/if.h>
#include <netdb.h>
#include <netinet/icmp6.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/ip_icmp.h>
#include <optional>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <tuple>
#include <unistd.h>

#include <fmt/format.h>

#include "libctl/base/epoll.h"
#include "libctl/base/file.h"

using namespace nvmeof;
using nofctl::OwnedFd;

namespace doctor {

namespace {

constexpr std::size_t mostAddresses = 64;
constexpr std::size_t echoHeader = 8; // bytes, the same in ICMP and ICMPv6
constexpr std::size_t smallEcho = 56; // bytes of data, as of ping
constexpr std::size_t largestPacket = 65535;
constexpr std::uint32_t leastMtu = 576; // bytes; that of any IPv4 host, RFC 791
constexpr std::uint16_t smallSequence = 1, fullSequence = 2;
constexpr auto echoInterval = std::chrono::milliseconds(250); // until a lost request is repeated

struct ProbeAddress {
	sockaddr_storage bytes{};
	socklen_t size = 0;

	int family() const { return bytes.ss_family; }
	const sockaddr *get() const { return reinterpret_cast<const sockaddr *>(&bytes); }
	sockaddr *get() { return reinterpret_cast<sockaddr *>(&bytes); }
	// Without port and scope
	bool sameHost(const ProbeAddress &other) const
	{
		if (family() != other.family())
			return false;
		if (family() == AF_INET)
			return reinterpret_cast<const sockaddr_in *>(&bytes)->sin_addr.s_addr ==
			       reinterpret_cast<const sockaddr_in *>(&other.bytes)->sin_addr.s_addr;
		return !std::memcmp(&reinterpret_cast<const sockaddr_in6 *>(&bytes)->sin6_addr,
				    &reinterpret_cast<const sockaddr_in6 *>(&other.bytes)->sin6_addr, sizeof(in6_addr));
	}
};

std::optional<ProbeAddress> numericAddress(const std::string &text, const char *port = nullptr)
{
	addrinfo hints{};
	hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
	hints.ai_socktype = SOCK_DGRAM;
	addrinfo *found = nullptr;
	if (::getaddrinfo(text.c_str(), port, &hints, &found))
		return std::nullopt;
	std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owned(found, ::freeaddrinfo);
	ProbeAddress address;
	address.size = found->ai_addrlen;
	std::memcpy(&address.bytes, found->ai_addr, found->ai_addrlen);
	return address;
}

// Several interfaces may have the same address: a link-local one, or one of an interface that is down.
std::string interfaceWith(const ProbeAddress &local)
{
	if (local.family() == AF_INET6) {
		char name[IF_NAMESIZE];
		const std::uint32_t scope = reinterpret_cast<const sockaddr_in6 *>(&local.bytes)->sin6_scope_id;
		if (scope && ::if_indextoname(scope, name))
			return name;
	}
	ifaddrs *list = nullptr;
	if (::getifaddrs(&list))
		return {};
	std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owned(list, ::freeifaddrs);
	std::string found;
	for (const ifaddrs *one = list; one; one = one->ifa_next) {
		if (!one->ifa_addr || one->ifa_addr->sa_family != local.family())
			continue;
		ProbeAddress address;
		address.size = local.size;
		std::memcpy(&address.bytes, one->ifa_addr, local.size);
		if (!address.sameHost(local))
			continue;
		if (one->ifa_flags & IFF_UP)
			return one->ifa_name;
		found = one->ifa_name;
	}
	return found;
}

std::uint32_t mtuOf(int fd, const std::string &interface)
{
	ifreq request{};
	interface.copy(request.ifr_name, IFNAMSIZ - 1);
	return ::ioctl(fd, SIOCGIFMTU, &request) ? 0 : static_cast<std::uint32_t>(request.ifr_mtu);
}

// A virtual interface without the attribute counts as connected. Reading it fails while the interface is down.
bool carrierOf(const std::string &interface)
{
	Result<std::string> text = nofctl::readSmallFile("/sys/class/net/" + interface + "/carrier");
	return text ? !text->starts_with('0') : text.error().code == ErrorCode::noSuchObject;
}

std::uint32_t routeMtu(const OwnedFd &socket, int family)
{
	int mtu = 0;
	socklen_t size = sizeof(mtu);
	const bool four = family == AF_INET;
	if (::getsockopt(socket.get(), four ? static_cast<int>(IPPROTO_IP) : static_cast<int>(IPPROTO_IPV6),
			 four ? IP_MTU : IPV6_MTU, &mtu, &size))
		return 0;
	return mtu > 0 ? static_cast<std::uint32_t>(mtu) : 0;
}

// Binds like the controller, as far as this is permitted.
void bindLike(const OwnedFd &socket, const Controller &c)
{
	if (!c.hostIface.empty())
		::setsockopt(socket.get(), SOL_SOCKET, SO_BINDTODEVICE, c.hostIface.c_str(),
			     static_cast<socklen_t>(c.hostIface.size()));
	if (std::optional<ProbeAddress> local = numericAddress(c.hostTraddr); local && !c.hostTraddr.empty())
		::bind(socket.get(), local->get(), local->size);
}

std::uint16_t internetChecksum(const std::vector<std::uint8_t> &bytes)
{
	std::uint32_t sum = 0;
	for (std::size_t i = 0; i < bytes.size(); i += 2)
		sum += static_cast<std::uint32_t>(bytes[i] << 8 | (i + 1 < bytes.size() ? bytes[i + 1] : 0));
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return static_cast<std::uint16_t>(~sum);
}

// The probe of one address. No packet is sent with the UDP socket: connecting it looks up the route.
class AddressProbe {
public:
	explicit AddressProbe(const Controller &c, std::uint16_t id) : id_(id)
	{
		std::optional<ProbeAddress> address = numericAddress(c.traddr);
		if (!address) {
			result_.skipped = "its address is not numeric";
			return;
		}
		peer_ = *address;
		findRoute(c);
		if (!result_.routeErrno && !result_.local && result_.carrier)
			openEcho(c);
	}

	const PathProbe &result() const { return result_; }
	int fd() const { return echo_.get(); }
	bool waiting() const { return echo_.get() >= 0 && result_.echo != Echo::full; }

	void send()
	{
		if (result_.echo == Echo::none)
			sendEcho(smallSequence, smallEcho);
		sendEcho(fullSequence, fullEcho());
	}

	void receive()
	{
		std::vector<std::uint8_t> packet(largestPacket + 1);
		for (unsigned packets = 0; packets < mostPackets; packets++) {
			const ssize_t n = ::recv(echo_.get(), packet.data(), packet.size(), MSG_DONTWAIT);
			if (n < 0 && (errno == EAGAIN || errno == EINTR))
				return;
			if (n < 0) // an ICMP error of an earlier packet; it does not end the socket
				if (++errors_ > mostErrors)
					return;
			if (n > 0)
				take(packet.data(), static_cast<std::size_t>(n));
		}
	}

	void finish()
	{
		if (echo_.get() < 0 || result_.echo != Echo::small)
			return;
		// A router's answer has changed the MTU of the route.
		if (const std::uint32_t mtu = routeMtu(route_, peer_.family()))
			result_.pathMtu = mtu;
	}

private:
	static constexpr unsigned mostErrors = 16;
	static constexpr unsigned mostPackets = 64; // per call: a raw socket receives those of others, too

	bool four() const { return peer_.family() == AF_INET; }

	void findRoute(const Controller &c)
	{
		route_ = OwnedFd(::socket(peer_.family(), SOCK_DGRAM | SOCK_CLOEXEC, 0));
		if (route_.get() < 0) {
			result_.skipped = fmt::format("no socket: {}", std::strerror(errno));
			return;
		}
		bindLike(route_, c);
		const ProbeAddress discard = *numericAddress(c.traddr, "9"); // UDP needs a port
		if (::connect(route_.get(), discard.get(), discard.size)) {
			if (errno == ENETUNREACH || errno == EHOSTUNREACH || errno == ENETDOWN)
				result_.routeErrno = errno;
			else
				result_.skipped = fmt::format("no route: {}", std::strerror(errno));
		}
		ProbeAddress local;
		local.size = sizeof(local.bytes);
		if (!result_.routeErrno && !::getsockname(route_.get(), local.get(), &local.size))
			result_.local = local.sameHost(peer_);
		result_.interface = c.hostIface.empty() && local.size ? interfaceWith(local) : c.hostIface;
		if (result_.interface.empty() || result_.interface == "lo") {
			result_.local = result_.local || result_.interface == "lo";
			return;
		}
		result_.carrier = carrierOf(result_.interface);
		result_.mtu = mtuOf(route_.get(), result_.interface);
		if (const std::uint32_t mtu = routeMtu(route_, peer_.family())) // may be set lower, or has been learned
			result_.mtu = std::min(result_.mtu, mtu);
	}

	void openEcho(const Controller &c)
	{
		if (!result_.skipped.empty())
			return;
		if (result_.mtu < leastMtu) {
			result_.skipped = "the MTU of its route is not known";
			return;
		}
		const int protocol = four() ? static_cast<int>(IPPROTO_ICMP) : static_cast<int>(IPPROTO_ICMPV6);
		echo_ = OwnedFd(::socket(peer_.family(), SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, protocol));
		if (echo_.get() < 0) {
			raw_ = true;
			echo_ = OwnedFd(::socket(peer_.family(), SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, protocol));
		}
		if (echo_.get() < 0) {
			result_.skipped = "not permitted to send pings: run this as root";
			return;
		}
		bindLike(echo_, c);
		// Sets "don't fragment", and ignores the MTU that was learned for the route.
		const int probe = four() ? IP_PMTUDISC_PROBE : IPV6_PMTUDISC_PROBE;
		const int buffer = 4 * static_cast<int>(largestPacket);
		::setsockopt(echo_.get(), SOL_SOCKET, SO_SNDBUF, &buffer, sizeof(buffer));
		if (four())
			::setsockopt(echo_.get(), IPPROTO_IP, IP_MTU_DISCOVER, &probe, sizeof(probe));
		else
			::setsockopt(echo_.get(), IPPROTO_IPV6, IPV6_MTU_DISCOVER, &probe, sizeof(probe));
		if (::connect(echo_.get(), peer_.get(), peer_.size)) { // without a port: a raw socket takes none
			result_.skipped = fmt::format("cannot send pings: {}", std::strerror(errno));
			echo_ = OwnedFd();
		}
	}

	// Bytes of data of an echo request that is as large as the MTU
	std::size_t fullEcho() const
	{
		constexpr std::size_t headers4 = 20, headers6 = 40;
		const std::size_t overhead = (four() ? headers4 : headers6) + echoHeader;
		return std::min<std::size_t>(result_.mtu, largestPacket) - overhead;
	}

	void sendEcho(std::uint16_t sequence, std::size_t data)
	{
		std::vector<std::uint8_t> packet(echoHeader + data, 0);
		packet[0] =
			four() ? static_cast<std::uint8_t>(ICMP_ECHO) : static_cast<std::uint8_t>(ICMP6_ECHO_REQUEST);
		packet[4] = static_cast<std::uint8_t>(id_ >> 8);
		packet[5] = static_cast<std::uint8_t>(id_ & 0xff);
		packet[6] = static_cast<std::uint8_t>(sequence >> 8);
		packet[7] = static_cast<std::uint8_t>(sequence & 0xff);
		if (raw_ && four()) { // the kernel computes all other checksums
			const std::uint16_t sum = internetChecksum(packet);
			packet[2] = static_cast<std::uint8_t>(sum >> 8);
			packet[3] = static_cast<std::uint8_t>(sum & 0xff);
		}
		::send(echo_.get(), packet.data(), packet.size(), MSG_DONTWAIT); // repeated if it fails
	}

	void take(const std::uint8_t *packet, std::size_t size)
	{
		if (raw_ && four()) { // preceded by the IP header
			const std::size_t header = (packet[0] & 0xfu) * 4;
			if (size < header)
				return;
			packet += header;
			size -= header;
		}
		const std::uint8_t reply = four() ? static_cast<std::uint8_t>(ICMP_ECHOREPLY)
						  : static_cast<std::uint8_t>(ICMP6_ECHO_REPLY);
		if (size < echoHeader || packet[0] != reply)
			return;
		if (raw_ && (packet[4] << 8 | packet[5]) != id_) // the kernel chooses the ID of other sockets
			return;
		const int sequence = packet[6] << 8 | packet[7];
		if (sequence == fullSequence && size == echoHeader + fullEcho())
			result_.echo = Echo::full;
		else if (sequence == smallSequence && result_.echo == Echo::none)
			result_.echo = Echo::small;
	}

	std::uint16_t id_;
	ProbeAddress peer_;
	OwnedFd route_, echo_;
	bool raw_ = false;
	unsigned errors_ = 0;
	PathProbe result_;
};

void exchangeEchoes(std::vector<AddressProbe> &probes, std::chrono::milliseconds patience)
{
	using Clock = std::chrono::steady_clock;
	const auto end = Clock::now() + patience;
	auto next = Clock::now();
	for (;;) {
		const auto now = Clock::now();
		std::vector<pollfd> fds;
		std::vector<AddressProbe *> waiting;
		for (AddressProbe &probe : probes) {
			if (!probe.waiting())
				continue;
			if (now >= next)
				probe.send();
			fds.push_back({probe.fd(), POLLIN, 0});
			waiting.push_back(&probe);
		}
		if (now >= next)
			next = now + echoInterval;
		if (waiting.empty() || now >= end)
			return;
		const auto left = std::chrono::ceil<std::chrono::milliseconds>(std::min(end, next) - now);
		if (::poll(fds.data(), fds.size(), static_cast<int>(std::max<std::int64_t>(left.count(), 1))) <= 0)
			continue;
		for (std::size_t i = 0; i < fds.size(); i++)
			if (fds[i].revents)
				waiting[i]->receive();
	}
}

} // namespace

std::vector<PathProbe> probePaths(const std::vector<Controller> &controllers, std::chrono::milliseconds patience)
{
	std::vector<PathProbe> results;
	std::vector<AddressProbe> probes;
	std::map<std::tuple<std::string, std::string, std::string>, std::size_t> known; // controllers share an address
	auto isProbed = [](const Controller &c) { return c.transport == "tcp" && !isEnding(c.state); };
	auto keyOf = [](const Controller &c) { return std::tuple(c.traddr, c.hostTraddr, c.hostIface); };
	for (const Controller &c : controllers)
		if (isProbed(c) && probes.size() < mostAddresses && known.try_emplace(keyOf(c), probes.size()).second)
			probes.emplace_back(
				c, static_cast<std::uint16_t>(static_cast<std::size_t>(::getpid()) + probes.size()));
	exchangeEchoes(probes, patience);
	for (AddressProbe &probe : probes)
		probe.finish();
	for (const Controller &c : controllers) {
		if (!isProbed(c))
			continue;
		const auto found = known.find(keyOf(c));
		if (found != known.end())
			results.push_back(probes[found->second].result());
		else
			results.emplace_back().skipped =
				fmt::format("only the first {} addresses are probed", mostAddresses);
		results.back().controller = c.name;
	}
	return results;
}

} // namespace doctor
