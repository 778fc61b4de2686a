// SPDX-License-Identifier: LGPL-2.1-or-later
#include "mdns_record.h"

#include <cerrno>
#include <optional>
#include <string_view>

#include <strings.h>

#include <nvmeof/address.h>
#include <nvmeof/discovery.h>

using namespace nvmeof;

namespace nvmeofd {

namespace {

Error invalidRecord(const std::string &what)
{
	return {ErrorCode::invalid, EINVAL, what, {}, {}, {}, false};
}

std::optional<std::string> valueOf(const std::vector<std::string> &text, std::string_view key)
{
	for (const std::string &one : text)
		if (one.size() > key.size() && one[key.size()] == '=' &&
		    strncasecmp(one.c_str(), key.data(), key.size()) == 0)
			return one.substr(key.size() + 1);
	return {};
}

// @said: value of p=, as in TP8009
std::string transportOf(const std::string &type, const std::string &said)
{
	if (said.empty())
		return type == mdnsUdp ? "rdma" : "tcp";
	if (strcasecmp(said.c_str(), "tcp") == 0)
		return "tcp";
	for (const char *rdma : {"rdma", "roce", "iwarp"})
		if (strcasecmp(said.c_str(), rdma) == 0)
			return "rdma";
	return {};
}

bool linkLocal(const std::string &address)
{
	return strncasecmp(address.c_str(), "fe80:", 5) == 0;
}

} // namespace

Result<ConnectOptions> serviceOf(const MdnsRecord &record)
{
	ConnectOptions options;
	options.transport = transportOf(record.type, valueOf(record.text, "p").value_or(""));
	if (options.transport.empty())
		return invalidRecord("its transport is not supported: p=" + *valueOf(record.text, "p"));
	std::string address = record.address;
	if (linkLocal(address) && address.find('%') == address.npos)
		address += "%" + record.interface;
	Result<std::string> traddr = parseTraddr(address);
	if (!traddr)
		return traddr.error();
	if (!record.port)
		return invalidRecord("it has no port");
	options.address = {*traddr, std::to_string(record.port)};
	options.subsysnqn = valueOf(record.text, "nqn").value_or(discoveryNqn);
	if (Result<void> good = checkNqn(options.subsysnqn); !good)
		return good.error();
	return options;
}

} // namespace nvmeofd
