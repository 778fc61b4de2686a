// SPDX-License-Identifier: LGPL-2.1-or-later
#include "discovery_log.h"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <cerrno>
#include <cstring>
#include <netinet/in.h>
#include <optional>
#include <string>
#include <vector>

#include <nvmeof/address.h>

#include "libctl/wire/status.h"

namespace nofctl {

using namespace nvmeof;

namespace {

constexpr std::size_t blockSize = wire::discoveryBlock;

using Block = std::array<std::uint8_t, blockSize>;
using Entries = std::vector<DiscoveryEntry>;

struct Header {
	std::uint64_t generation = 0;
	std::uint64_t entries = 0;

	bool operator==(const Header &) const = default;
};

Error unusable(std::string why)
{
	Error error;
	error.sysErrno = EPROTO;
	error.message = "the discovery log is unusable: " + std::move(why);
	return error;
}

Result<Header> decodeHeader(const Block &block)
{
	const auto raw = *wire::decode<wire::DiscoveryHeader>(block);
	if (std::uint16_t format = raw.recfmt)
		return unusable("its format " + std::to_string(format) + " is not supported");
	Header header{raw.genctr, raw.numrec};
	if (header.entries > wire::maxDiscoveryEntries)
		return unusable("it has " + std::to_string(header.entries) + " entries, more than the limit of " +
				std::to_string(wire::maxDiscoveryEntries));
	return header;
}

class LogReader {
public:
	explicit LogReader(LogSource &source) : source_(source) {}

	// Nothing: the log changed during the read.
	Result<std::optional<DiscoveryLog>> once();
	// Reads the header without RAE, which re-enables the change event: a defect of the whole log may be fixed
	// later, and the next change must be reported then.
	Error giveUp(Error why);

private:
	Result<Header> header(bool retain);
	Result<void> entries(std::uint64_t count);
	Result<void> piece(std::uint64_t at, std::size_t length);

	LogSource &source_;
	Block first_{};
	Entries entries_;
};

Result<Header> LogReader::header(bool retain)
{
	if (Result<void> done = source_.read(0, std::as_writable_bytes(std::span(first_)), retain); !done)
		return done.error();
	return decodeHeader(first_);
}

// The first piece repeats the header.
Result<void> LogReader::piece(std::uint64_t at, std::size_t length)
{
	wire::Bytes bytes(length);
	if (Result<void> done = source_.read(at, std::as_writable_bytes(std::span(bytes)), true); !done)
		return done;
	std::span<const std::uint8_t> rest(bytes);
	if (at == 0)
		rest = rest.subspan(blockSize);
	else if (std::ranges::equal(rest.first(blockSize), first_))
		return unusable("reads at an offset return its beginning");
	for (; !rest.empty(); rest = rest.subspan(blockSize))
		entries_.push_back(describe(*wire::decode<wire::DiscoveryEntry>(rest)));
	return {};
}

Result<void> LogReader::entries(std::uint64_t count)
{
	std::uint64_t end = (count + 1) * blockSize;
	std::size_t max = source_.max() / blockSize * blockSize;
	if (end > max && !source_.offsets())
		return unusable("it has " + std::to_string(end) + " bytes, but the controller allows to read only " +
				std::to_string(max));
	entries_.clear();
	entries_.reserve(count);
	for (std::uint64_t at = 0; count && at < end; at += max) {
		auto length = static_cast<std::size_t>(std::min<std::uint64_t>(max, end - at));
		if (Result<void> done = piece(at, length); !done)
			return done;
	}
	return {};
}

Result<std::optional<DiscoveryLog>> LogReader::once()
{
	Result<Header> before = header(true);
	if (!before)
		return before.error();
	Result<void> read = entries(before->entries);
	if (!read && !read.error().nvmeStatus)
		return read.error();
	// A read beyond the end of a shortened log is refused. So after an error, too, check whether the log has
	// changed.
	Result<Header> after = header(!read);
	if (after && *after != *before)
		return std::optional<DiscoveryLog>();
	if (!read)
		return read.error();
	if (!after)
		return after.error();
	return std::optional<DiscoveryLog>({before->generation, std::move(entries_)});
}

Error LogReader::giveUp(Error why)
{
	if (why.sysErrno == EPROTO)
		static_cast<void>(source_.read(0, std::as_writable_bytes(std::span(first_)), false));
	return why;
}

bool asksForRestart(const Error &error)
{
	return error.nvmeStatus == wire::st_discover_restart;
}

} // namespace

Result<DiscoveryLog> readDiscoveryLog(LogSource &source)
{
	LogReader reader(source);
	for (int tries = 1;; tries++) {
		Result<std::optional<DiscoveryLog>> log = reader.once();
		if (!log && !asksForRestart(log.error()))
			return reader.giveUp(log.error());
		if (log && *log)
			return **std::move(log);
		if (tries < discoveryTries && source.again(tries))
			continue;
		return unusable("it changed while it was read, " + std::to_string(tries) +
				(tries == 1 ? " time" : " times"));
	}
}

// ---- entries

namespace {

// Maps a field value to an enumerator or name.
template <class T> struct Meaning {
	std::uint8_t value;
	T meaning;
};

template <class T, class Otherwise, std::size_t n>
T meaningOf(const Meaning<T> (&table)[n], std::uint8_t value, const Otherwise &otherwise)
{
	for (const Meaning<T> &entry : table)
		if (entry.value == value)
			return entry.meaning;
	return otherwise;
}

constexpr Meaning<EntryKind> kinds[] = {
	{wire::sub_referral, EntryKind::referral},
	{wire::sub_nvm, EntryKind::subsystem},
	{wire::sub_current, EntryKind::service},
};

constexpr Meaning<const char *> transports[] = {
	{wire::tr_rdma, "rdma"},
	{wire::tr_fc, "fc"},
	{wire::tr_tcp, "tcp"},
	{wire::tr_loop, "loop"},
};

constexpr Meaning<const char *> families[] = {
	{wire::fam_pci, "pci"},          {wire::fam_ipv4, "ipv4"},
	{wire::fam_ipv6, "ipv6"},        {wire::fam_infiniband, "infiniband"},
	{wire::fam_fc, "fibre-channel"}, {wire::fam_loop, "loop"},
};

constexpr Meaning<SecureChannel> channels[] = {
	{wire::treq_required, SecureChannel::required},
	{wire::treq_not_required, SecureChannel::notRequired},
};

constexpr Meaning<TcpSecurity> securities[] = {
	{wire::sec_none, TcpSecurity::none},
	{wire::sec_tls12, TcpSecurity::tls12},
	{wire::sec_tls13, TcpSecurity::tls13},
};

constexpr Meaning<RdmaQueuePair> queuePairs[] = {
	{wire::qp_connected, RdmaQueuePair::connected},
	{wire::qp_datagram, RdmaQueuePair::datagram},
};

constexpr Meaning<RdmaProvider> providers[] = {
	{wire::pr_none, RdmaProvider::notSpecified}, {wire::pr_infiniband, RdmaProvider::infiniband},
	{wire::pr_roce, RdmaProvider::roce},         {wire::pr_roce_v2, RdmaProvider::roceV2},
	{wire::pr_iwarp, RdmaProvider::iwarp},
};

constexpr Meaning<RdmaConnectionManagement> connectionManagements[] = {
	{wire::cms_rdma_cm, RdmaConnectionManagement::rdmaCm},
};

// A unicast address: neither unspecified, broadcast nor multicast.
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
	return isOne(address) ? "" : "TRADDR is not a unicast address";
}

// A scope is allowed: parseTraddr() has checked it.
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
	return one ? "" : "TRADDR is not a unicast address";
}

bool isPort(const std::string &text)
{
	return parseAddress("127.0.0.1", text).ok();
}

std::string ipDefect(const wire::DiscoveryEntry &raw, const DiscoveryEntry &entry)
{
	if (raw.adrfam != wire::fam_ipv4 && raw.adrfam != wire::fam_ipv6)
		return "ADRFAM is not valid for the transport";
	if (!parseTraddr(entry.traddr))
		return "TRADDR is not a numeric address";
	std::string defect = raw.adrfam == wire::fam_ipv4 ? ipv4Defect(entry.traddr) : ipv6Defect(entry.traddr);
	return !defect.empty() || isPort(entry.trsvcid) ? defect : "TRSVCID is not a port";
}

// Addresses of transports other than TCP and RDMA are not checked.
std::string addressDefect(const wire::DiscoveryEntry &raw, const DiscoveryEntry &entry)
{
	switch (raw.trtype) {
	case wire::tr_tcp:
		return ipDefect(raw, entry);
	case wire::tr_rdma:
		return raw.adrfam == wire::fam_infiniband ? "" : ipDefect(raw, entry);
	case wire::tr_fc:
	case wire::tr_loop:
		return "";
	default:
		return "TRTYPE is unknown";
	}
}

std::string defectOf(const wire::DiscoveryEntry &raw, const DiscoveryEntry &entry)
{
	if (entry.kind == EntryKind::unknown)
		return "SUBTYPE is unknown";
	if (std::string defect = addressDefect(raw, entry); !defect.empty())
		return defect;
	if (!checkNqn(entry.subsysnqn))
		return "SUBNQN is not an NQN";
	if (entry.kind == EntryKind::subsystem && entry.subsysnqn == discoveryNqn)
		return "SUBNQN of a subsystem is the discovery NQN";
	if (entry.cntlid >= wire::firstReservedCntlid && entry.cntlid <= wire::lastReservedCntlid)
		return "CNTLID has a reserved value";
	return (raw.treq & wire::treq_channel) == wire::treq_channel ? "TREQ has a reserved value" : "";
}

RdmaAddress rdmaOf(const wire::RdmaSubtype &raw)
{
	return {meaningOf(queuePairs, raw.qptype, RdmaQueuePair::unknown),
		meaningOf(providers, raw.prtype, RdmaProvider::unknown),
		meaningOf(connectionManagements, raw.cms, RdmaConnectionManagement::unknown), raw.pkey};
}

std::string nameOf(const char *known, const char *what, std::uint8_t number)
{
	return known ? known : what + std::to_string(number);
}

} // namespace

DiscoveryEntry describe(const wire::DiscoveryEntry &raw)
{
	DiscoveryEntry entry;
	entry.kind = meaningOf(kinds, raw.subtype, EntryKind::unknown);
	entry.transport = nameOf(meaningOf(transports, raw.trtype, nullptr), "type ", raw.trtype);
	entry.addressFamily = nameOf(meaningOf(families, raw.adrfam, nullptr), "family ", raw.adrfam);
	entry.traddr = wire::text(raw.traddr);
	entry.trsvcid = wire::text(raw.trsvcid);
	entry.subsysnqn = wire::text(raw.subnqn);
	entry.portId = raw.portid;
	entry.cntlid = raw.cntlid;
	entry.adminQueueSize = raw.asqsz;
	entry.secureChannel = meaningOf(channels, raw.treq & wire::treq_channel, SecureChannel::notSpecified);
	entry.sqFlowOff = raw.treq & wire::treq_sqflow_off;
	entry.duplicate = raw.eflags & wire::ef_duplicate;
	entry.persistent = raw.eflags & wire::ef_persistent;
	if (raw.trtype == wire::tr_tcp)
		entry.tcpSecurity = meaningOf(securities, raw.sectype(), TcpSecurity::unknown);
	if (raw.trtype == wire::tr_rdma)
		entry.rdma = rdmaOf(raw.rdma());
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

const char *toString(TcpSecurity security)
{
	switch (security) {
	case TcpSecurity::unknown:
		break;
	case TcpSecurity::none:
		return "none";
	case TcpSecurity::tls12:
		return "TLS 1.2";
	case TcpSecurity::tls13:
		return "TLS 1.3";
	}
	return "unknown";
}

const char *toString(RdmaQueuePair type)
{
	switch (type) {
	case RdmaQueuePair::unknown:
		break;
	case RdmaQueuePair::connected:
		return "reliable connected";
	case RdmaQueuePair::datagram:
		return "reliable datagram";
	}
	return "unknown";
}

const char *toString(RdmaProvider provider)
{
	switch (provider) {
	case RdmaProvider::unknown:
		break;
	case RdmaProvider::notSpecified:
		return "not specified";
	case RdmaProvider::infiniband:
		return "InfiniBand";
	case RdmaProvider::roce:
		return "RoCE";
	case RdmaProvider::roceV2:
		return "RoCEv2";
	case RdmaProvider::iwarp:
		return "iWARP";
	}
	return "unknown";
}

const char *toString(RdmaConnectionManagement service)
{
	return service == RdmaConnectionManagement::rdmaCm ? "RDMA_CM" : "unknown";
}

} // namespace nvmeof
