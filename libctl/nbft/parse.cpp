// SPDX-License-Identifier: LGPL-2.1-or-later
// Parses one table, and lists the network interfaces of this machine. The input is untrusted.
#include "parse.h"

#include <algorithm>
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <map>
#include <netpacket/packet.h>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "libctl/base/hex.h"
#include "libctl/base/make_error.h"
#include "nbft.h"

namespace nofctl::nbft {

using namespace nvmeof;

// Conversions of fields of the table to text
std::string ipText(const layout::Ip &ip);                    // empty: no address
std::string macText(std::span<const std::uint8_t, 6> bytes); // empty: no address
// Printable ASCII, optionally padded with NULs. Nothing for other content.
std::optional<std::string> plainText(std::span<const std::uint8_t> bytes);
bool isHostName(std::string_view text);

namespace {

using Bytes = std::span<const std::uint8_t>;

template <typename T> const T *find(const std::vector<T> &all, unsigned index)
{
	auto found = std::ranges::find_if(all, [&](const T &one) { return one.index == index; });
	return found == all.end() ? nullptr : &*found;
}

// Nothing if the part exceeds @bytes.
std::optional<Bytes> part(Bytes bytes, std::uint64_t offset, std::uint64_t length)
{
	if (offset > bytes.size() || length > bytes.size() - offset)
		return std::nullopt;
	return bytes.subspan(offset, length);
}

// @who, @what: start of a problem message, "subsystem 2", "subsystem 2: its NQN"
class Reader {
public:
	Reader(Bytes bytes, const layout::Header &header) : bytes_(bytes), header_(header) {}

	Result<BootTable> read();

private:
	template <typename T> using Put = void (Reader::*)(const T &raw, const std::string &who);

	Result<void> readHost(const layout::Control &control);
	template <wire::Layout T>
	Result<void> readList(const layout::List &list, std::uint8_t structure, const char *called, Put<T> put);
	void putInterface(const layout::Interface &raw, const std::string &who);
	void putSecurity(const layout::Security &raw, const std::string &who);
	void putDiscovery(const layout::Discovery &raw, const std::string &who);
	void putNamespace(const layout::Namespace &raw, const std::string &who);
	void readAddresses(Interface &to, const layout::Transport &raw, const std::string &who);
	void readExtended(Namespace &to, const layout::Namespace &raw, const std::string &who);
	void readId(Namespace &to, const layout::Namespace &raw, const std::string &who);
	std::vector<unsigned> interfacesOf(const layout::Namespace &raw, const std::string &who);

	std::optional<Bytes> object(const layout::Object &at) const;
	// Empty if the object is absent, or if it is invalid and has been reported.
	std::string text(const layout::Object &at, const std::string &what);
	std::string nqn(const layout::Object &at, const std::string &what);
	void addProblem(std::string what) { table_.problems.push_back(std::move(what)); }

	const Bytes bytes_;
	const layout::Header header_;
	BootTable table_;
};

std::optional<Bytes> Reader::object(const layout::Object &at) const
{
	const std::uint64_t heap = header_.heapOffset;
	if (at.offset < heap)
		return std::nullopt;
	std::optional<Bytes> all = part(bytes_, heap, header_.heapLength);
	return all ? part(*all, at.offset - heap, at.length) : std::nullopt;
}

std::string Reader::text(const layout::Object &at, const std::string &what)
{
	if (!at.length)
		return {};
	std::optional<Bytes> bytes = object(at);
	std::optional<std::string> text = bytes ? plainText(*bytes) : std::nullopt;
	if (!text)
		addProblem(what + (bytes ? " is not text" : " is not within the heap"));
	return text.value_or("");
}

std::string Reader::nqn(const layout::Object &at, const std::string &what)
{
	std::string nqn = text(at, what);
	if (nqn.empty() || checkNqn(nqn))
		return nqn;
	addProblem(what + " is not a valid NQN");
	return {};
}

Result<void> Reader::readHost(const layout::Control &control)
{
	const std::optional<Bytes> bytes = part(bytes_, control.host.offset, control.host.length);
	const std::optional<layout::Host> raw = bytes ? wire::decode<layout::Host>(*bytes) : std::nullopt;
	if (!raw || raw->structure != layout::s_host || !(raw->flags & layout::f_valid))
		return invalidError("it has no host descriptor");
	Host &host = table_.host;
	host.nqn = nqn(raw->nqn, "the host's NQN");
	if (host.nqn.empty())
		return invalidError(table_.problems.empty() ? "it has no host NQN" : table_.problems.back());
	Uuid id;
	std::ranges::copy(raw->id, id.bytes.begin());
	if (!id.isNil())
		host.id = id;
	host.nqnConfigured = raw->flags & layout::h_nqn_configured;
	host.idConfigured = raw->flags & layout::h_id_configured;
	host.selected = (raw->flags & layout::h_primary) == layout::h_selected;
	return {};
}

// Elements may be longer than T: newer revisions can append fields.
template <wire::Layout T>
Result<void> Reader::readList(const layout::List &list, std::uint8_t structure, const char *called, Put<T> put)
{
	if (!list.count)
		return {};
	std::optional<Bytes> all = part(bytes_, list.offset, std::uint64_t(list.length) * list.count);
	if (!all || list.length < sizeof(T) || list.offset < sizeof(layout::Header) + sizeof(layout::Control))
		return invalidError(fmt::format("its list of {}s is not within the table", called));
	for (unsigned i = 0; i < list.count; i++) {
		const T raw = *wire::decode<T>(all->subspan(std::size_t(i) * list.length));
		const std::string who = fmt::format("{} {}", called, unsigned(raw.index));
		if (!(raw.flags & layout::f_valid)) // unused element
			continue;
		if (raw.structure != structure)
			addProblem(fmt::format("entry {} of the {}s has another structure type", i + 1, called));
		else
			(this->*put)(raw, who);
	}
	return {};
}

void Reader::readAddresses(Interface &to, const layout::Transport &raw, const std::string &who)
{
	constexpr unsigned ipv4Bits = 32, ipv6Bits = 128;
	to.address = ipText(raw.address);
	to.prefix = raw.prefix;
	const bool v6 = to.address.find(':') != to.address.npos;
	if (!to.address.empty() && to.prefix > (v6 ? ipv6Bits : ipv4Bits)) {
		addProblem(fmt::format("{}: invalid prefix length {}", who, to.prefix));
		to.address.clear();
	}
	to.gateway = ipText(raw.gateway);
	if (!to.gateway.empty() && (to.gateway.find(':') != to.gateway.npos) != v6) {
		addProblem(who + ": its gateway is of another address family");
		to.gateway.clear();
	}
	for (const layout::Ip &server : {raw.dns, raw.secondDns})
		if (std::string text = ipText(server); !text.empty())
			to.dns.push_back(text);
	if (raw.flags & layout::t_dhcp)
		to.dhcpServer = ipText(raw.dhcpServer);
}

void Reader::putInterface(const layout::Interface &entry, const std::string &who)
{
	constexpr unsigned maxVlan = 4094; // IEEE 802.1Q
	if (find(table_.interfaces, entry.index))
		return addProblem(who + " occurs twice");
	if (entry.transport != layout::transportTcp)
		return addProblem(fmt::format("{}: its transport, {}, is unknown", who, entry.transport));
	std::optional<Bytes> bytes = object(entry.info);
	std::optional<layout::Transport> raw = bytes ? wire::decode<layout::Transport>(*bytes) : std::nullopt;
	if (!raw || raw->structure != layout::s_transport || !(raw->flags & layout::f_valid) ||
	    raw->transport != layout::transportTcp)
		return addProblem(who + ": its transport info descriptor is missing");
	Interface one;
	one.index = entry.index;
	one.mac = macText(raw->mac);
	if (one.mac.empty())
		addProblem(who + ": it has no MAC address");
	one.vlan = raw->vlan;
	if (one.vlan > maxVlan)
		return addProblem(fmt::format("{}: invalid VLAN ID {}", who, one.vlan));
	readAddresses(one, *raw, who);
	one.dhcp = raw->flags & layout::t_dhcp;
	one.defaultRoute = raw->flags & layout::t_default_route;
	one.metric = raw->metric;
	one.hostName = text(raw->hostName, who + ": its host name");
	if (!isHostName(one.hostName)) {
		addProblem(who + ": its host name is invalid");
		one.hostName.clear();
	}
	table_.interfaces.push_back(std::move(one));
}

void Reader::putSecurity(const layout::Security &raw, const std::string &who)
{
	if (find(table_.securities, raw.index))
		return addProblem(who + " occurs twice");
	const unsigned flags = raw.flags;
	table_.securities.push_back({raw.index, (flags & layout::x_authentication) == layout::x_authentication_required,
				     (flags & layout::x_channel) == layout::x_channel_required});
}

void Reader::putDiscovery(const layout::Discovery &raw, const std::string &who)
{
	if (find(table_.discoveries, raw.index))
		return addProblem(who + " occurs twice");
	Discovery one;
	one.index = raw.index;
	one.interface = raw.interface;
	one.uri = text(raw.uri, who + ": its address");
	one.nqn = nqn(raw.nqn, who + ": its NQN");
	if (raw.security)
		one.security = raw.security;
	if (one.uri.empty())
		return addProblem(who + ": it has no address");
	table_.discoveries.push_back(std::move(one));
}

std::vector<unsigned> Reader::interfacesOf(const layout::Namespace &raw, const std::string &who)
{
	std::vector<unsigned> named{raw.interface};
	if (raw.moreInterfaces.length) {
		std::optional<Bytes> more = object(raw.moreInterfaces);
		if (more)
			named.insert(named.end(), more->begin(), more->end());
		else
			addProblem(who + ": its further interfaces are not within the heap");
	}
	std::vector<unsigned> found;
	std::set<unsigned> seen;
	for (unsigned index : named) {
		if (!seen.insert(index).second)
			continue;
		if (table_.interface(index))
			found.push_back(index);
		else if (index) // some firmware uses 0 for "none"
			addProblem(fmt::format("{}: there is no interface {}", who, index));
	}
	return found;
}

void Reader::readId(Namespace &to, const layout::Namespace &raw, const std::string &who)
{
	constexpr std::size_t eui64Bytes = 8;
	const Bytes id(raw.id);
	Uuid uuid;
	std::ranges::copy(id, uuid.bytes.begin());
	if (uuid.isNil())
		return;
	switch (raw.idType) {
	case layout::id_eui64:
		to.idType = "eui64";
		to.id = toHex(id.first(eui64Bytes));
		break;
	case layout::id_nguid:
		to.idType = "nguid";
		to.id = toHex(id);
		break;
	case layout::id_uuid:
		to.idType = "uuid";
		to.id = uuid.toString();
		break;
	default:
		addProblem(fmt::format("{}: the type of its identifier, {}, is unknown", who, raw.idType));
	}
}

void Reader::readExtended(Namespace &to, const layout::Namespace &raw, const std::string &who)
{
	if (!(raw.flags & layout::n_extended))
		return;
	std::optional<Bytes> bytes = object(raw.extended);
	std::optional<layout::Extended> more = bytes ? wire::decode<layout::Extended>(*bytes) : std::nullopt;
	if (!more || more->structure != layout::s_extended || !(more->flags & layout::f_valid) ||
	    more->index != raw.index)
		return addProblem(who + ": its extended information descriptor is invalid");
	to.cntlid = more->cntlid;
	to.adminQueueSize = more->asqsz;
	if (to.dhcp)
		to.dhcpRootPath = text(more->dhcpRootPath, who + ": its DHCP root path");
}

// Nothing if it is not a valid address.
std::optional<std::string> traddrOf(std::optional<Bytes> bytes)
{
	std::optional<layout::Ip> ip = bytes ? wire::decode<layout::Ip>(*bytes) : std::nullopt;
	std::string text = ip ? ipText(*ip) : "";
	return text.empty() ? std::nullopt : std::optional(text);
}

void Reader::putNamespace(const layout::Namespace &raw, const std::string &who)
{
	if (find(table_.namespaces, raw.index))
		return addProblem(who + " occurs twice");
	if (raw.transport != layout::transportTcp)
		return addProblem(fmt::format("{}: its transport, {}, is unknown", who, raw.transport));
	Namespace one;
	one.index = raw.index;
	one.subsysnqn = nqn(raw.nqn, who + ": its NQN");
	if (one.subsysnqn.empty())
		return addProblem(who + ": it has no NQN");
	std::optional<std::string> traddr = traddrOf(object(raw.traddr));
	if (!traddr)
		return addProblem(who + ": it has no address");
	Result<Address> address = parseAddress(*traddr, text(raw.trsvcid, who + ": its port"));
	if (!address)
		return addProblem(who + ": " + address.error().message);
	one.address = *address;
	one.portId = raw.port;
	one.nsid = raw.nsid;
	readId(one, raw, who);
	one.interfaces = interfacesOf(raw, who);
	if (raw.discovery)
		one.discovery = raw.discovery;
	const unsigned flags = raw.flags, digests = raw.transportFlags;
	if (flags & layout::n_security)
		one.security = raw.security;
	one.bootable = !(flags & layout::n_not_bootable);
	one.discovered = flags & layout::n_discovered;
	one.dhcp = flags & layout::n_dhcp_root_path;
	if ((flags & layout::n_availability) == layout::n_available)
		one.availability = Availability::available;
	if ((flags & layout::n_availability) == layout::n_unavailable)
		one.availability = Availability::unavailable;
	if (digests & layout::f_valid) {
		one.hdrDigest = digests & layout::nt_header_digest;
		one.dataDigest = digests & layout::nt_data_digest;
	}
	readExtended(one, raw, who);
	table_.namespaces.push_back(std::move(one));
}

Result<BootTable> Reader::read()
{
	const std::optional<layout::Control> control =
		wire::decode<layout::Control>(bytes_.subspan(sizeof(layout::Header)));
	if (!control || control->structure != layout::s_control || !(control->flags & layout::f_valid))
		return invalidError("it has no control descriptor");
	table_.major = header_.major;
	table_.minor = header_.minor;
	table_.oem = plainText(std::span(reinterpret_cast<const std::uint8_t *>(header_.oemId), sizeof(header_.oemId)))
			     .value_or("");
	table_.oem.erase(table_.oem.find_last_not_of(' ') + 1);
	for (Result<void> done :
	     {readHost(*control),
	      readList(control->interfaces, layout::s_interface, "interface", &Reader::putInterface),
	      readList(control->securities, layout::s_security, "security profile", &Reader::putSecurity),
	      readList(control->discoveries, layout::s_discovery, "discovery service", &Reader::putDiscovery),
	      readList(control->namespaces, layout::s_namespace, "subsystem", &Reader::putNamespace)})
		if (!done)
			return done.error();
	return std::move(table_);
}

} // namespace

Result<BootTable> parse(std::span<const std::uint8_t> bytes)
{
	const std::optional<layout::Header> header = wire::decode<layout::Header>(bytes);
	if (!header || std::string_view(header->signature, sizeof(header->signature)) != "NBFT")
		return invalidError("it is not an NVMe Boot Firmware Table");
	if (header->length < sizeof(layout::Header) || header->length > bytes.size())
		return invalidError(fmt::format("its header says {} bytes, but there are {}",
						std::uint32_t(header->length), bytes.size()));
	bytes = bytes.first(header->length);
	if (std::accumulate(bytes.begin(), bytes.end(), 0U) & 0xff)
		return invalidError("its checksum is wrong");
	if (header->major != layout::majorRevision)
		return invalidError(
			fmt::format("its revision {}.{} is not supported: only 1 is", header->major, header->minor));
	if (!part(bytes, header->heapOffset, header->heapLength))
		return invalidError("its heap is not within the table");
	return Reader(bytes, *header).read();
}

const Interface *BootTable::interface(unsigned index) const
{
	return find(interfaces, index);
}

const Security *BootTable::security(unsigned index) const
{
	return find(securities, index);
}

const char *toString(Availability availability)
{
	switch (availability) {
	case Availability::unknown:
		break;
	case Availability::available:
		return "available";
	case Availability::unavailable:
		return "unavailable";
	}
	return "unknown";
}

// ---- fields as text

std::string ipText(const layout::Ip &ip)
{
	constexpr std::uint8_t mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
	const bool v4 = std::ranges::equal(std::span(ip).first(sizeof(mapped)), mapped);
	const std::span<const std::uint8_t> bytes = std::span(ip).subspan(v4 ? sizeof(mapped) : 0);
	if (std::ranges::all_of(bytes, [](std::uint8_t b) { return b == 0; }))
		return {};
	char text[INET6_ADDRSTRLEN];
	return ::inet_ntop(v4 ? AF_INET : AF_INET6, bytes.data(), text, sizeof(text)) ? text : "";
}

std::string macText(std::span<const std::uint8_t, 6> mac)
{
	if (std::ranges::all_of(mac, [](std::uint8_t b) { return b == 0; }))
		return {};
	return fmt::format("{:02x}:{:02x}:{:02x}:{:02x}:{:02x}:{:02x}", mac[0], mac[1], mac[2], mac[3], mac[4], mac[5]);
}

std::optional<std::string> plainText(std::span<const std::uint8_t> bytes)
{
	std::string text(bytes.begin(), std::ranges::find(bytes, 0));
	auto zero = [](std::uint8_t b) { return b == 0; };
	auto plain = [](unsigned char c) { return c >= ' ' && c < 0x7f; };
	if (!std::ranges::all_of(bytes.subspan(text.size()), zero) || !std::ranges::all_of(text, plain))
		return std::nullopt;
	return text;
}

bool isHostName(std::string_view text)
{
	constexpr std::size_t max = 253; // RFC 1035, 2.3.4
	auto fits = [](char c) {
		return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
		       c == '.' || c == '_';
	};
	return text.size() <= max && std::ranges::all_of(text, fits) && !text.starts_with('-');
}

// ---- network interfaces of this machine

std::vector<Link> linksOfMachine()
{
	std::map<std::string, Link> links;
	ifaddrs *all = nullptr;
	if (::getifaddrs(&all))
		return {};
	for (const ifaddrs *one = all; one; one = one->ifa_next) {
		if (!one->ifa_addr)
			continue;
		Link &link = links[one->ifa_name];
		link.name = one->ifa_name;
		const int family = one->ifa_addr->sa_family;
		const void *address = &reinterpret_cast<const sockaddr_in *>(one->ifa_addr)->sin_addr;
		char text[INET6_ADDRSTRLEN];
		if (family == AF_PACKET) {
			const auto *packet = reinterpret_cast<const sockaddr_ll *>(one->ifa_addr);
			if (packet->sll_halen == 6)
				link.mac = macText(std::span<const std::uint8_t, 6>(packet->sll_addr, 6));
			continue;
		}
		if (family == AF_INET6)
			address = &reinterpret_cast<const sockaddr_in6 *>(one->ifa_addr)->sin6_addr;
		if ((family == AF_INET || family == AF_INET6) && ::inet_ntop(family, address, text, sizeof(text)))
			link.addresses.emplace_back(text);
	}
	::freeifaddrs(all);
	std::vector<Link> found;
	for (auto &[name, link] : links)
		found.push_back(std::move(link));
	return found;
}

} // namespace nofctl::nbft
