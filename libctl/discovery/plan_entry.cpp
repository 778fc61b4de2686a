// SPDX-License-Identifier: LGPL-2.1-or-later
#include "plan_entry.h"

#include <algorithm>
#include <arpa/inet.h>
#include <netinet/in.h>

#include "libctl/base/security.h"
#include "libctl/base/text.h"

namespace nofctl {

using namespace nvmeof;

namespace {

bool isLinkLocal(const std::string &traddr)
{
	in6_addr address;
	return ::inet_pton(AF_INET6, traddr.substr(0, traddr.find('%')).c_str(), &address) == 1 &&
	       IN6_IS_ADDR_LINKLOCAL(&address);
}

bool isLoopback(const std::string &traddr)
{
	in_addr address;
	if (::inet_pton(AF_INET, traddr.c_str(), &address) == 1)
		return ntohl(address.s_addr) >> 24 == IN_LOOPBACKNET;
	return traddr == "::1";
}

// @traddr: in canonical form
bool isOwn(const std::string &traddr, const PlanRules &rules)
{
	const std::string bare = traddr.substr(0, traddr.find('%'));
	auto same = [&](const std::string &own) { return normalTraddr(own) == bare; };
	return isLoopback(traddr) || std::ranges::any_of(rules.ownAddresses, same);
}

bool isIpv6(const std::string &traddr)
{
	return traddr.find(':') != traddr.npos;
}

bool offersTls(const DiscoveryEntry &entry)
{
	return needsTls(entry) || entry.tcpSecurity == TcpSecurity::tls13;
}

std::string securityRefusal(const DiscoveryEntry &entry, const ConnectOptions &options)
{
	if (entry.transport != "tcp" && entry.secureChannel == SecureChannel::required)
		return "it requires a secure channel, which is supported for transport tcp only";
	if (entry.transport == "tcp" && entry.tcpSecurity == TcpSecurity::tls12 &&
	    entry.secureChannel != SecureChannel::notRequired)
		return "it requires TLS 1.2, and only TLS 1.3 is supported: select TLS 1.3 at the target";
	if (needsTls(entry) && options.tls == TlsUse::off)
		return "it requires TLS, which tls = \"off\" forbids for it: set tls to \"preferred\", or remove that "
		       "line";
	return {};
}

// An existing connection is left alone: whether it uses TLS is known, whatever a log or settings say now.
bool isPresent(const ConnectOptions &options, const PlanRules &rules)
{
	return rules.present && rules.present(options);
}

std::string ruleRefusal(const DiscoveryEntry &entry, const ConnectOptions &options, const PlanRules &rules)
{
	if (options.security.tls != SecurityUse::required || isPresent(options, rules))
		return {};
	if (entry.transport == "tcp" && (offersTls(entry) || options.concat))
		return {};
	return "its entry in the log offers no TLS, which [[security]] at " + options.security.place +
	       " requires for it: make its port at the target use TLS 1.3, or change the rule";
}

// Reserved values are accepted: some targets leave these fields zero.
std::string rdmaRefusal(const DiscoveryEntry &entry)
{
	if (entry.transport != "rdma" || !entry.rdma)
		return {};
	if (entry.rdma->queuePair == RdmaQueuePair::datagram)
		return "it requires the reliable datagram service, which is not supported";
	return entry.addressFamily == "infiniband" ? "its address is not an IP address" : "";
}

} // namespace

bool needsTls(const DiscoveryEntry &entry)
{
	return entry.transport == "tcp" &&
	       (entry.secureChannel == SecureChannel::required ||
		(entry.tcpSecurity == TcpSecurity::tls13 && entry.secureChannel != SecureChannel::notRequired));
}

std::string planText(const ConnectOptions &options)
{
	return shown(options.transport) + " " + shown(options.address.toString()) + " " + shown(options.subsysnqn);
}

std::string withScope(const std::string &traddr, const ConnectOptions &service)
{
	if (!isLinkLocal(traddr) || traddr.find('%') != traddr.npos)
		return traddr;
	const std::size_t percent = service.address.traddr.find('%');
	if (percent != std::string::npos)
		return traddr + service.address.traddr.substr(percent);
	return service.hostIface.empty() ? traddr : traddr + "%" + service.hostIface;
}

std::string transportRefusal(const ConnectOptions &options, const PlanRules &rules)
{
	if (options.transport != "rdma" || isPresent(options, rules))
		return {};
	constexpr const char *needs = " needs transport tcp, not rdma: set ";
	constexpr const char *instead = " for it, or use its ports with tcp alone";
	if (options.concat)
		return std::string("concat") + needs + "concat = false" + instead;
	if (tlsUseOf(options.tls, !options.tlsKey.empty()) == TlsUse::required)
		return std::string("TLS") + needs + "tls = \"off\"" + instead;
	return {};
}

std::string refusalOf(const DiscoveryEntry &entry, const ConnectOptions &options, const ConnectOptions &service,
		      const PlanRules &rules)
{
	if (!entry.defect.empty())
		return entry.defect;
	if (entry.transport != "tcp" && entry.transport != "rdma")
		return "transport " + shown(entry.transport) + " is not supported";
	if (std::string why = securityRefusal(entry, options); !why.empty())
		return why;
	if (std::string why = rdmaRefusal(entry); !why.empty())
		return why;
	if (std::string why = transportRefusal(options, rules); !why.empty())
		return why;
	if (std::string why = ruleRefusal(entry, options, rules); !why.empty())
		return why;
	const std::string &traddr = options.address.traddr;
	if (isLinkLocal(traddr) && traddr.find('%') == traddr.npos)
		return "it is a link-local address without an interface";
	if (!options.hostTraddr.empty() && isIpv6(options.hostTraddr) != isIpv6(traddr))
		return "its address family differs from that of the local address " + options.hostTraddr;
	// If a service on another machine lists addresses of this host, it is misconfigured or malicious.
	if (!rules.connectSelf && isOwn(traddr, rules) && !isOwn(normalTraddr(service.address.traddr), rules))
		return "it is an address of this host, reported by another host";
	return {};
}

} // namespace nofctl
