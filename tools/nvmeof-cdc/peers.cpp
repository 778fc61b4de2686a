// SPDX-License-Identifier: LGPL-2.1-or-later
#include "peers.h"

#include <algorithm>

#include <arpa/inet.h>
#include <netinet/in.h>

namespace cdc {

namespace {

constexpr std::array<std::uint8_t, 12> mapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
constexpr std::size_t network_bytes = 8;

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
		std::fill(network.bytes.begin() + network_bytes, network.bytes.end(), std::uint8_t(0));
	return network;
}

bool Peers::come(const Peer &peer)
{
	std::lock_guard lock(mutex_);
	if (all_ >= limits_.all)
		return false;
	std::size_t &those = each_[peer.network()];
	if (those >= limits_.each)
		return false;
	those++;
	all_++;
	return true;
}

void Peers::go(const Peer &peer)
{
	std::lock_guard lock(mutex_);
	auto found = each_.find(peer.network());
	if (found == each_.end())
		return;
	all_--;
	if (--found->second == 0)
		each_.erase(found);
}

} // namespace cdc
