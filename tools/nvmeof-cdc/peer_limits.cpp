// SPDX-License-Identifier: LGPL-2.1-or-later
#include "peer_limits.h"

#include <algorithm>
#include <arpa/inet.h>
#include <charconv>
#include <netinet/in.h>

#include "libctl/base/make_error.h"

namespace cdc {

using nvmeof::Result;

namespace {

constexpr std::array<std::uint8_t, 12> mapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
constexpr std::size_t networkBytes = 8;
constexpr std::size_t few = 4;
constexpr unsigned ipv4Bits = 32, ipv6Bits = 128;

bool isMapped(const Peer &peer)
{
	return std::equal(mapped.begin(), mapped.end(), peer.bytes.begin());
}

} // namespace

Peer Peer::of(const sockaddr_storage &address)
{
	Peer peer;
	if (address.ss_family == AF_INET6) {
		const auto &in6 = reinterpret_cast<const sockaddr_in6 &>(address);
		std::copy_n(in6.sin6_addr.s6_addr, peer.bytes.size(), peer.bytes.begin());
		return peer;
	}
	const auto &in4 = reinterpret_cast<const sockaddr_in &>(address);
	std::ranges::copy(mapped, peer.bytes.begin());
	const auto *from = reinterpret_cast<const std::uint8_t *>(&in4.sin_addr);
	std::copy_n(from, sizeof(in4.sin_addr), peer.bytes.begin() + mapped.size());
	return peer;
}

std::optional<Peer> Peer::parse(const std::string &text)
{
	Peer peer;
	if (::inet_pton(AF_INET6, text.c_str(), peer.bytes.data()) == 1)
		return peer;
	std::ranges::copy(mapped, peer.bytes.begin());
	if (::inet_pton(AF_INET, text.c_str(), peer.bytes.data() + mapped.size()) == 1)
		return peer;
	return {};
}

std::string Peer::text() const
{
	char text[INET6_ADDRSTRLEN] = "";
	if (isMapped(*this))
		::inet_ntop(AF_INET, bytes.data() + mapped.size(), text, sizeof(text));
	else
		::inet_ntop(AF_INET6, bytes.data(), text, sizeof(text));
	return text;
}

Peer Peer::network() const
{
	Peer network = *this;
	if (!isMapped(*this))
		std::fill(network.bytes.begin() + networkBytes, network.bytes.end(), std::uint8_t(0));
	return network;
}

Result<Prefix> Prefix::of(std::string_view text)
{
	const std::size_t slash = text.find('/');
	const std::string address(text.substr(0, slash));
	const std::optional<Peer> first = Peer::parse(address);
	if (!first)
		return nofctl::invalidError("'" + std::string(text) + "' does not begin with a numeric address");
	const unsigned max = address.find(':') == address.npos ? ipv4Bits : ipv6Bits;
	unsigned bits = max;
	if (slash != text.npos) {
		const std::string_view length = text.substr(slash + 1);
		auto [end, error] = std::from_chars(length.data(), length.data() + length.size(), bits);
		if (error != std::errc() || end != length.data() + length.size() || bits > max)
			return nofctl::invalidError("'" + std::string(text) +
						    "' does not end with a prefix length of at most " +
						    std::to_string(max));
	}
	const Prefix prefix{*first, bits + ipv6Bits - max};
	Peer rest = *first;
	for (unsigned bit = prefix.bits; bit < ipv6Bits; bit++)
		rest.bytes[bit / 8] &= static_cast<std::uint8_t>(~(0x80 >> bit % 8));
	if (rest != *first)
		return nofctl::invalidError("'" + std::string(text) + "' has bits set beyond its prefix length");
	return prefix;
}

bool Prefix::holds(const Peer &peer) const
{
	for (unsigned bit = 0; bit < bits; bit += 8) {
		const auto mask = static_cast<std::uint8_t>(bits - bit >= 8 ? 0xff : 0xff << (8 - (bits - bit)));
		if ((peer.bytes[bit / 8] ^ first.bytes[bit / 8]) & mask)
			return false;
	}
	return true;
}

std::size_t shareOf(std::size_t all, std::size_t each, std::size_t taken)
{
	return each < all && taken >= all - all / 4 ? std::min(each, few) : each;
}

bool ConnectionLimit::admit(const Peer &peer)
{
	std::lock_guard lock(mutex_);
	const Peer network = peer.network();
	const auto found = each_.find(network);
	const std::size_t those = found == each_.end() ? 0 : found->second;
	if (all_ >= limits_.all || those >= shareOf(limits_.all, limits_.each, all_))
		return false;
	each_[network]++;
	all_++;
	return true;
}

void ConnectionLimit::release(const Peer &peer)
{
	std::lock_guard lock(mutex_);
	auto found = each_.find(peer.network());
	if (found == each_.end())
		return;
	all_--;
	if (--found->second == 0)
		each_.erase(found);
}

std::size_t ConnectionLimit::taken() const
{
	std::lock_guard lock(mutex_);
	return all_;
}

} // namespace cdc
