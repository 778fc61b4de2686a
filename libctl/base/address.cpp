// SPDX-License-Identifier: LGPL-2.1-or-later
#include <nvmeof/address.h>

#include <algorithm>
#include <arpa/inet.h>
#include <charconv>
#include <ifaddrs.h>
#include <net/if.h>

#include <linux/nvmeof.h>

#include "make_error.h"
#include "text.h"

namespace nvmeof {

namespace {

using nofctl::invalidError;

std::string quoted(std::string_view text)
{
	return "'" + std::string(text) + "'";
}

bool isNumeric(int family, std::string_view text)
{
	in6_addr address;                 // in6_addr is large enough for both families
	if (text.find('\0') != text.npos) // inet_pton() would stop at the NUL
		return false;
	return inet_pton(family, std::string(text).c_str(), &address) == 1;
}

// The name or index of an interface: no characters that the kernel forbids in names or that end an address here.
bool isScope(std::string_view text)
{
	return !text.empty() && text.size() < IFNAMSIZ && nofctl::isPlain(text) &&
	       text.find_first_of("/%:[]") == text.npos;
}

// @text: an address with an optional %SCOPE.
bool isIpv6(std::string_view text)
{
	std::size_t percent = text.find('%');
	if (percent != text.npos && !isScope(text.substr(percent + 1)))
		return false;
	return isNumeric(AF_INET6, text.substr(0, percent));
}

Result<std::string> parsePort(std::string_view text)
{
	unsigned int port = 0;
	auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
	if (error != std::errc() || end != text.data() + text.size() || port == 0 || port > 65535)
		return invalidError("port " + quoted(text) + " is not a number from 1 to 65535");
	return std::to_string(port);
}

Result<Address> withPort(std::string_view host, std::string_view port)
{
	Result<std::string> traddr = parseTraddr(host);
	if (!traddr)
		return traddr.error();
	Result<std::string> trsvcid = parsePort(port);
	if (!trsvcid)
		return trsvcid.error();
	return Address{*std::move(traddr), *std::move(trsvcid)};
}

Result<Address> parseBracketed(std::string_view text, std::string_view port)
{
	std::size_t close = text.find(']');
	if (close == text.npos)
		return invalidError("address " + quoted(text) + " lacks the closing ]");
	std::string_view host = text.substr(1, close - 1);
	std::string_view rest = text.substr(close + 1);
	if (!isIpv6(host))
		return invalidError(quoted(host) + " between [ and ] is not an IPv6 address");
	if (rest.empty())
		return withPort(host, port);
	if (rest.front() != ':')
		return invalidError("address " + quoted(text) + ": only :PORT may follow the ]");
	return withPort(host, rest.substr(1));
}

} // namespace

std::string Address::toString() const
{
	bool ipv6 = traddr.find(':') != traddr.npos;
	return (ipv6 ? "[" + traddr + "]" : traddr) + ":" + trsvcid;
}

Result<std::string> parseTraddr(std::string_view text)
{
	std::string address(text);
	if (address.size() > NVMEOF_TRADDR_MAX || (!isNumeric(AF_INET, address) && !isIpv6(address)))
		return invalidError(quoted(text) + " is not a numeric IPv4 or IPv6 address");
	return address;
}

Result<Address> parseAddress(std::string_view text, std::string_view port)
{
	if (text.starts_with('['))
		return parseBracketed(text, port);
	auto colons = std::count(text.begin(), text.end(), ':');
	if (colons != 1) // no colon: no port; several: a bare IPv6 address, where a port would be ambiguous
		return withPort(text, port);
	std::size_t colon = text.find(':');
	return withPort(text.substr(0, colon), text.substr(colon + 1));
}

Result<void> checkNqn(std::string_view nqn)
{
	if (nqn.size() > NVMEOF_NQN_MAX)
		return invalidError("NQN is longer than " + std::to_string(NVMEOF_NQN_MAX) + " bytes");
	if (nqn.empty())
		return invalidError("NQN is empty");
	if (!nofctl::isPlain(nqn))
		return invalidError("NQN has blanks or control characters in it");
	return {};
}

bool conformingNqn(std::string_view nqn)
{
	return nqn.starts_with("nqn.") && nqn.size() > 4;
}

std::vector<std::string> ownAddresses()
{
	std::vector<std::string> found;
	ifaddrs *all = nullptr;
	if (::getifaddrs(&all))
		return found;
	for (const ifaddrs *one = all; one; one = one->ifa_next) {
		char text[INET6_ADDRSTRLEN];
		if (!one->ifa_addr)
			continue;
		const int family = one->ifa_addr->sa_family;
		const void *address = &reinterpret_cast<const sockaddr_in *>(one->ifa_addr)->sin_addr;
		if (family == AF_INET6)
			address = &reinterpret_cast<const sockaddr_in6 *>(one->ifa_addr)->sin6_addr;
		if ((family == AF_INET || family == AF_INET6) && ::inet_ntop(family, address, text, sizeof(text)))
			found.emplace_back(text);
	}
	::freeifaddrs(all);
	return found;
}

} // namespace nvmeof
