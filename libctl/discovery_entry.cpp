// SPDX-License-Identifier: LGPL-2.1-or-later
#include "discovery_entry.h"

#include <arpa/inet.h>
#include <cstring>
#include <endian.h>
#include <netinet/in.h>
#include <string_view>

#include <libnvme.h>
#include <nvmeof/address.h>

namespace nofctl {

using namespace nvmeof;

namespace {

static_assert(sizeof(nvmf_disc_log_entry) == discoveryEntrySize);

constexpr std::uint8_t treqChannel = 3;                                            // bits 1:0 of TREQ
constexpr std::uint16_t firstReservedCntlid = 0xfff0, lastReservedCntlid = 0xfffd; // Base 2.0, figure 264

// Padded with blanks or NULs, and ended by a NUL where there is one.
template <std::size_t room> std::string fieldText(const char (&field)[room])
{
	std::string text(field, ::strnlen(field, room));
	text.erase(text.find_last_not_of(' ') + 1);
	return text;
}

EntryKind kindOf(std::uint8_t subtype)
{
	switch (subtype) {
	case NVME_NQN_DISC:
		return EntryKind::referral;
	case NVME_NQN_NVME:
		return EntryKind::subsystem;
	case NVME_NQN_CURR:
		return EntryKind::service;
	default:
		return EntryKind::unknown;
	}
}

std::string transportOf(std::uint8_t trtype)
{
	switch (trtype) {
	case NVMF_TRTYPE_RDMA:
		return "rdma";
	case NVMF_TRTYPE_FC:
		return "fc";
	case NVMF_TRTYPE_TCP:
		return "tcp";
	case NVMF_TRTYPE_LOOP:
		return "loop";
	default:
		return "type " + std::to_string(trtype);
	}
}

std::string familyOf(std::uint8_t adrfam)
{
	switch (adrfam) {
	case NVMF_ADDR_FAMILY_PCI:
		return "pci";
	case NVMF_ADDR_FAMILY_IP4:
		return "ipv4";
	case NVMF_ADDR_FAMILY_IP6:
		return "ipv6";
	case NVMF_ADDR_FAMILY_IB:
		return "infiniband";
	case NVMF_ADDR_FAMILY_FC:
		return "fibre-channel";
	case NVMF_ADDR_FAMILY_LOOP:
		return "loop";
	default:
		return "family " + std::to_string(adrfam);
	}
}

// Of one machine: neither any nor many.
bool isOne(const in_addr &address)
{
	std::uint32_t host = ntohl(address.s_addr);
	return host != INADDR_ANY && host != INADDR_BROADCAST && !IN_MULTICAST(host);
}

std::string ipv4Defect(const std::string &traddr)
{
	in_addr address;
	if (::inet_pton(AF_INET, traddr.c_str(), &address) != 1)
		return "TRADDR is not an IPv4 address";
	return isOne(address) ? "" : "TRADDR is not the address of one machine";
}

// A scope may follow: parseTraddr() has looked at it.
std::string ipv6Defect(const std::string &traddr)
{
	in6_addr address;
	if (::inet_pton(AF_INET6, traddr.substr(0, traddr.find('%')).c_str(), &address) != 1)
		return "TRADDR is not an IPv6 address";
	bool one = !IN6_IS_ADDR_UNSPECIFIED(&address) && !IN6_IS_ADDR_MULTICAST(&address);
	if (IN6_IS_ADDR_V4MAPPED(&address)) {
		in_addr mapped;
		std::memcpy(&mapped, &address.s6_addr[12], sizeof(mapped));
		one = isOne(mapped);
	}
	return one ? "" : "TRADDR is not the address of one machine";
}

bool isPort(const std::string &text)
{
	return parseAddress("127.0.0.1", text).ok();
}

std::string ipDefect(const nvmf_disc_log_entry &raw, const DiscoveryEntry &entry)
{
	if (raw.adrfam != NVMF_ADDR_FAMILY_IP4 && raw.adrfam != NVMF_ADDR_FAMILY_IP6)
		return "ADRFAM is not one of the transport's";
	if (!parseTraddr(entry.traddr))
		return "TRADDR is not a numeric address";
	std::string defect = raw.adrfam == NVMF_ADDR_FAMILY_IP4 ? ipv4Defect(entry.traddr) : ipv6Defect(entry.traddr);
	return !defect.empty() || isPort(entry.trsvcid) ? defect : "TRSVCID is not a port";
}

// Of the transports that are not IP's nobody here knows what an address is.
std::string addressDefect(const nvmf_disc_log_entry &raw, const DiscoveryEntry &entry)
{
	switch (raw.trtype) {
	case NVMF_TRTYPE_TCP:
		return ipDefect(raw, entry);
	case NVMF_TRTYPE_RDMA:
		return raw.adrfam == NVMF_ADDR_FAMILY_IB ? "" : ipDefect(raw, entry);
	case NVMF_TRTYPE_FC:
	case NVMF_TRTYPE_LOOP:
		return "";
	default:
		return "TRTYPE is unknown";
	}
}

std::string defectOf(const nvmf_disc_log_entry &raw, const DiscoveryEntry &entry)
{
	if (entry.kind == EntryKind::unknown)
		return "SUBTYPE is unknown";
	if (std::string defect = addressDefect(raw, entry); !defect.empty())
		return defect;
	if (!checkNqn(entry.subsysnqn))
		return "SUBNQN is not an NQN";
	if (entry.kind == EntryKind::subsystem && entry.subsysnqn == discoveryNqn)
		return "SUBNQN of a subsystem is that of discovery services";
	if (entry.cntlid >= firstReservedCntlid && entry.cntlid <= lastReservedCntlid)
		return "CNTLID is a reserved one";
	return (raw.treq & treqChannel) == treqChannel ? "TREQ is a reserved one" : "";
}

SecureChannel channelOf(std::uint8_t treq)
{
	switch (treq & treqChannel) {
	case NVMF_TREQ_REQUIRED:
		return SecureChannel::required;
	case NVMF_TREQ_NOT_REQUIRED:
		return SecureChannel::notRequired;
	default:
		return SecureChannel::notSpecified;
	}
}

} // namespace

DiscoveryEntry decodeDiscoveryEntry(std::span<const std::byte, discoveryEntrySize> bytes)
{
	nvmf_disc_log_entry raw;
	std::memcpy(&raw, bytes.data(), sizeof(raw));
	DiscoveryEntry entry;
	entry.kind = kindOf(raw.subtype);
	entry.transport = transportOf(raw.trtype);
	entry.addressFamily = familyOf(raw.adrfam);
	entry.traddr = fieldText(raw.traddr);
	entry.trsvcid = fieldText(raw.trsvcid);
	entry.subsysnqn = fieldText(raw.subnqn);
	entry.portId = le16toh(raw.portid);
	entry.cntlid = le16toh(raw.cntlid);
	entry.adminQueueSize = le16toh(raw.asqsz);
	entry.secureChannel = channelOf(raw.treq);
	entry.sqFlowOff = raw.treq & NVMF_TREQ_DISABLE_SQFLOW;
	entry.duplicate = le16toh(raw.eflags) & NVMF_DISC_EFLAGS_DUPRETINFO;
	entry.persistent = le16toh(raw.eflags) & NVMF_DISC_EFLAGS_EPCSD;
	entry.defect = defectOf(raw, entry);
	return entry;
}

} // namespace nofctl

namespace nvmeof {

const char *toString(EntryKind kind)
{
	switch (kind) {
	case EntryKind::unknown:
		break;
	case EntryKind::referral:
		return "referral";
	case EntryKind::subsystem:
		return "subsystem";
	case EntryKind::service:
		return "service";
	}
	return "unknown";
}

const char *toString(SecureChannel channel)
{
	switch (channel) {
	case SecureChannel::notSpecified:
		break;
	case SecureChannel::required:
		return "required";
	case SecureChannel::notRequired:
		return "not required";
	}
	return "not specified";
}

} // namespace nvmeof
