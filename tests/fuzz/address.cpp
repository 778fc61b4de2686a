// SPDX-License-Identifier: LGPL-2.1-or-later
// Input: a line with the default port, then an address, which is also parsed as an NQN.
#include "input.h"

#include <linux/nvmeof.h>
#include <nvmeof/address.h>

using namespace nvmeof;

namespace {

void checkAddress(const Address &address)
{
	expect(!address.traddr.empty() && address.traddr.size() <= NVMEOF_TRADDR_MAX, "an address has its length");
	expect(oneWord(address.traddr), "an address is a word");
	const unsigned long port = std::strtoul(address.trsvcid.c_str(), nullptr, 10);
	expect(port >= 1 && port <= 65535 && std::to_string(port) == address.trsvcid, "a port is a number in range");
	const Result<Address> again = parseAddress(address.toString(), "1");
	expect(again && *again == address, "a value reads the same after being written");
	const Result<std::string> traddr = parseTraddr(address.traddr);
	expect(traddr && *traddr == address.traddr, "without its port it is an address too");
}

void checkRefused(const Error &error)
{
	expect(error.code == ErrorCode::invalid && !error.message.empty(), "a refusal has a reason");
}

void checkTraddr(std::string_view text)
{
	const Result<std::string> traddr = parseTraddr(text);
	if (!traddr)
		return checkRefused(traddr.error());
	expect(*traddr == text, "an address is taken as it is");
	const bool ipv6 = text.find(':') != text.npos;
	expect(parseAddress(ipv6 ? "[" + *traddr + "]:1" : *traddr + ":1").ok(), "with a port it is one still");
}

} // namespace

void fuzz(Input in)
{
	const std::string port = in.upTo('\n');
	const std::string_view text = in.text();
	const Result<Address> address = parseAddress(text, port);
	if (address)
		checkAddress(*address);
	else
		checkRefused(address.error());
	checkTraddr(text);
	if (checkNqn(text))
		expect(!text.empty() && text.size() <= NVMEOF_NQN_MAX && oneWord(text),
		       "an NQN is a word, not too long");
}
