// SPDX-License-Identifier: LGPL-2.1-or-later
#include "route.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstring>

namespace nofctl::gpu {

namespace {

using Address = std::array<std::uint8_t, 16>;

constexpr unsigned flagUp = 1; // RTF_UP
constexpr const char *loopback = "lo";

// Returns 0 for text that is not hexadecimal.
std::uint32_t hex(const std::string &text)
{
	std::uint32_t value = 0;
	std::from_chars(text.data(), text.data() + text.size(), value, 16);
	return value;
}

std::optional<Address> addressOf(const std::string &digits)
{
	Address address{};
	if (digits.size() != 2 * address.size())
		return std::nullopt;
	for (std::size_t i = 0; i < address.size(); i++)
		address[i] = static_cast<std::uint8_t>(hex(digits.substr(2 * i, 2)));
	return address;
}

bool within(const Address &address, const Address &network, unsigned bits)
{
	for (unsigned i = 0; i < bits && i < 8 * address.size(); i++) {
		const unsigned shift = 7 - i % 8;
		if ((address[i / 8] ^ network[i / 8]) >> shift & 1)
			return false;
	}
	return true;
}

// /proc/net/route: Iface Destination Gateway Flags RefCnt Use Metric Mask ...; numbers in host byte order
std::string route4(const Tree &tree, std::uint32_t address)
{
	std::string best;
	int bestBits = -1;
	const std::vector<std::string> lines = linesOf(tree.read("/proc/net/route").value_or(""));
	for (std::size_t i = 1; i < lines.size(); i++) {
		const std::vector<std::string> words = wordsOf(lines[i]);
		if (words.size() < 8 || !(hex(words[3]) & flagUp))
			continue;
		const std::uint32_t mask = hex(words[7]);
		if ((address & mask) != hex(words[1]) || std::popcount(mask) <= bestBits)
			continue;
		best = words[0];
		bestBits = std::popcount(mask);
	}
	return best;
}

// /proc/net/ipv6_route: destination, prefix length, source, prefix length, gateway, metric, ..., flags, interface
std::string route6(const Tree &tree, const Address &address)
{
	std::string best;
	int bestBits = -1;
	for (const std::string &line : linesOf(tree.read("/proc/net/ipv6_route").value_or(""))) {
		const std::vector<std::string> words = wordsOf(line);
		if (words.size() < 10 || words[9] == loopback || !(hex(words[8]) & flagUp))
			continue;
		const std::optional<Address> network = addressOf(words[0]);
		const int bits = static_cast<int>(hex(words[1]));
		if (!network || bits <= bestBits || !within(address, *network, static_cast<unsigned>(bits)))
			continue;
		best = words[9];
		bestBits = bits;
	}
	return best;
}

} // namespace

std::string interfaceTowards(const Tree &tree, const std::string &text)
{
	const std::string bare = text.substr(0, text.find('%'));
	in_addr four{};
	Address six{};
	if (::inet_pton(AF_INET, bare.c_str(), &four) == 1)
		return route4(tree, four.s_addr);
	return ::inet_pton(AF_INET6, bare.c_str(), six.data()) == 1 ? route6(tree, six) : "";
}

std::string interfaceWith(const Tree &tree, const std::string &text)
{
	Address wanted{};
	if (::inet_pton(AF_INET6, text.substr(0, text.find('%')).c_str(), wanted.data()) != 1)
		return interfaceTowards(tree, text);
	// /proc/net/if_inet6: address, index, prefix length, scope, flags, interface
	for (const std::string &line : linesOf(tree.read("/proc/net/if_inet6").value_or(""))) {
		const std::vector<std::string> words = wordsOf(line);
		if (words.size() == 6 && addressOf(words[0]) == wanted)
			return words[5];
	}
	return {};
}

std::string interfaceOf(const Tree &tree, const std::string &hostIface, const std::string &hostTraddr,
			const std::string &traddr)
{
	if (!hostIface.empty())
		return hostIface;
	return hostTraddr.empty() ? interfaceTowards(tree, traddr) : interfaceWith(tree, hostTraddr);
}

std::string interfaceTrouble(const Tree &tree, const std::string &interface)
{
	constexpr std::int64_t administrativelyUp = 1; // IFF_UP
	if (interface.empty() || interface.find('/') != interface.npos)
		return {};
	const std::string folder = "/sys/class/net/" + interface;
	const std::optional<std::int64_t> flags = tree.number(folder + "/flags");
	if (!flags)
		return "there is no interface " + interface;
	if (!(*flags & administrativelyUp))
		return interface + " is down";
	return tree.number(folder + "/carrier") == 0 ? interface + " has no carrier" : "";
}

std::vector<std::string> addressesOf(const Tree &tree, const std::string &interface)
{
	std::vector<std::string> addresses;
	std::string last; // from lines "|-- 10.0.0.1", each followed by its type: "/32 host LOCAL"
	for (const std::string &line : linesOf(tree.read("/proc/net/fib_trie").value_or(""))) {
		const std::vector<std::string> words = wordsOf(line);
		if (words.size() == 2 && words[0] == "|--")
			last = words[1];
		else if (line.find("host LOCAL") != line.npos && interfaceTowards(tree, last) == interface &&
			 std::ranges::find(addresses, last) == addresses.end())
			addresses.push_back(last);
	}
	constexpr const char *linkScope = "20";
	for (const std::string &line : linesOf(tree.read("/proc/net/if_inet6").value_or(""))) {
		const std::vector<std::string> words = wordsOf(line);
		const std::optional<Address> address = words.size() == 6 ? addressOf(words[0]) : std::nullopt;
		char text[INET6_ADDRSTRLEN];
		if (address && words[5] == interface && words[3] != linkScope &&
		    ::inet_ntop(AF_INET6, address->data(), text, sizeof(text)))
			addresses.emplace_back(text);
	}
	return addresses;
}

} // namespace nofctl::gpu
