// SPDX-License-Identifier: LGPL-2.1-or-later
#include "resolve.h"

#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <memory>
#include <net/if.h>
#include <netdb.h>
#include <sys/socket.h>

#include <nvmeof/address.h>

#include "libctl/base/make_error.h"
#include "libctl/base/text.h"

namespace nvmeof {

namespace {

constexpr std::size_t maxNameLength = 253; // RFC 1035, 2.3.4, without the dot of the root

bool isLabelByte(unsigned char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '_';
}

// RFC 1123, 2.1. If the last label is a number, the text is a mistyped numeric address: it is not looked up.
bool isHostName(std::string_view text)
{
	if (text.ends_with('.'))
		text.remove_suffix(1);
	if (text.empty() || text.size() > maxNameLength || text.front() == '.' || text.front() == '-')
		return false;
	if (!std::all_of(text.begin(), text.end(), [](unsigned char c) { return c == '.' || isLabelByte(c); }))
		return false;
	std::string_view last = text.substr(text.rfind('.') + 1); // the whole text if it has no dot
	return !last.empty() && last.find_first_not_of("0123456789") != last.npos;
}

// Checks the port like that of a numeric address.
Result<std::string> portAfter(std::string_view text, std::string_view port)
{
	const std::size_t colon = text.find(':');
	Result<Address> withPort = parseAddress("0.0.0.0", colon == text.npos ? port : text.substr(colon + 1));
	return withPort ? Result<std::string>(withPort->trsvcid) : Result<std::string>(withPort.error());
}

// Multicast and broadcast addresses (RFC 6890, RFC 4291) have no single host. nullptr: other addresses.
const char *whyNoHost(const std::string &traddr)
{
	in_addr four{};
	in6_addr six{};
	if (inet_pton(AF_INET, traddr.c_str(), &four) == 1) {
		const std::uint32_t number = ntohl(four.s_addr);
		return number == INADDR_BROADCAST ? "a broadcast address"
		       : IN_MULTICAST(number)     ? "a multicast address"
						  : nullptr;
	}
	if (inet_pton(AF_INET6, traddr.substr(0, traddr.find('%')).c_str(), &six) != 1)
		return nullptr;
	return IN6_IS_ADDR_MULTICAST(&six) ? "a multicast address" : nullptr;
}

Error unresolved(const std::string &host, int code, int sysErrno)
{
	Error error;
	error.code = ErrorCode::nameResolution;
	error.sysErrno = code == EAI_SYSTEM ? sysErrno : 0;
	error.message = host + ": " + ::gai_strerror(code);
	error.object = {ErrorObject::Kind::host, host};
	return error;
}

std::optional<std::string> numericOf(const addrinfo &info)
{
	char text[NI_MAXHOST];
	if (::getnameinfo(info.ai_addr, info.ai_addrlen, text, sizeof(text), nullptr, 0, NI_NUMERICHOST) != 0)
		return std::nullopt;
	return text;
}

Result<std::vector<Address>> lookUp(const std::string &host, const std::string &port)
{
	addrinfo hints{}, *list = nullptr;
	hints.ai_socktype = SOCK_STREAM;
	hints.ai_flags = AI_ADDRCONFIG;
	int code = ::getaddrinfo(host.c_str(), nullptr, &hints, &list);
	if (code)
		return unresolved(host, code, errno);
	std::unique_ptr<addrinfo, void (*)(addrinfo *)> owner(list, ::freeaddrinfo);
	std::vector<Address> addresses;
	for (const addrinfo *info = list; info; info = info->ai_next) {
		std::optional<std::string> traddr = numericOf(*info);
		Address address{traddr.value_or(""), port};
		if (traddr && std::ranges::find(addresses, address) == addresses.end())
			addresses.push_back(std::move(address));
	}
	if (addresses.empty())
		return unresolved(host, EAI_NONAME, 0);
	return addresses;
}

} // namespace

Result<std::vector<Address>> resolveAddress(std::string_view text, std::string_view port)
{
	Result<Address> numeric = parseAddress(text, port);
	if (numeric)
		return std::vector<Address>{*std::move(numeric)};
	std::size_t colon = text.find(':');
	std::string_view host = text.substr(0, colon);
	if (!isHostName(host))
		return numeric.error();
	Result<std::string> trsvcid = portAfter(text, port);
	if (!trsvcid)
		return trsvcid.error();
	return lookUp(std::string(host), *trsvcid);
}

} // namespace nvmeof

namespace nofctl {

using namespace nvmeof;

Result<void> checkAddress(std::string_view text)
{
	Result<Address> numeric = parseAddress(text, defaultPort);
	if (numeric) {
		const char *why = whyNoHost(numeric->traddr);
		return why ? Result<void>(invalidError("'" + numeric->traddr + "' is " + why)) : Result<void>();
	}
	if (text.starts_with('[') || std::ranges::count(text, ':') > 1)
		return numeric.error();
	if (!isHostName(text.substr(0, text.find(':'))))
		return invalidError("'" + std::string(text) + "' is neither an address nor the name of a host");
	Result<std::string> port = portAfter(text, defaultPort);
	return port ? Result<void>() : Result<void>(port.error());
}

bool needsInterface(std::string_view text)
{
	Result<Address> numeric = parseAddress(text, defaultPort);
	in6_addr six{};
	return numeric && inet_pton(AF_INET6, numeric->traddr.c_str(), &six) == 1 && IN6_IS_ADDR_LINKLOCAL(&six);
}

bool isUnspecified(std::string_view text)
{
	Result<Address> numeric = parseAddress(text, defaultPort);
	if (!numeric)
		return false;
	in_addr four{};
	in6_addr six{};
	if (inet_pton(AF_INET, numeric->traddr.c_str(), &four) == 1)
		return four.s_addr == htonl(INADDR_ANY);
	return inet_pton(AF_INET6, numeric->traddr.c_str(), &six) == 1 && IN6_IS_ADDR_UNSPECIFIED(&six);
}

bool isInterfaceName(std::string_view text)
{
	return !text.empty() && text.size() < IFNAMSIZ && isPlain(text) && text.find_first_of("/:") == text.npos &&
	       text != "." && text != "..";
}

} // namespace nofctl
