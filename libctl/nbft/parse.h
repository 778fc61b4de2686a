// SPDX-License-Identifier: LGPL-2.1-or-later
// Memory layout of the NVMe Boot Firmware Table; NVM Express Boot Specification 1.0, 3.1.
#pragma once

#include "libctl/wire/bytes.h"

namespace nofctl::nbft::layout {

using wire::Le16;
using wire::Le32;

// Structure ID: the first byte of each structure except the header
enum Structure : std::uint8_t {
	s_control = 1,
	s_host = 2,
	s_interface = 3,
	s_namespace = 4,
	s_security = 5,
	s_discovery = 6,
	s_transport = 7,
	s_extended = 9,
};

constexpr std::uint8_t majorRevision = 1;
constexpr std::uint8_t transportTcp = 3;
constexpr std::uint16_t f_valid = 1; // bit 0 of the flags in every structure

// Reference to a heap object of variable length. The offset counts from the start of the table.
struct Object {
	Le32 offset;
	Le16 length;
};
static_assert(sizeof(Object) == 6);

using Ip = std::array<std::uint8_t, 16>; // IPv4 addresses are IPv4-mapped (::ffff:0:0/96); all zero: none

struct Header {
	char signature[4];
	Le32 length; // of the whole table
	std::uint8_t major;
	std::uint8_t checksum; // makes the sum of all bytes 0
	char oemId[6];
	char oemTableId[8];
	Le32 oemRevision;
	Le32 creatorId;
	Le32 creatorRevision;
	Le32 heapOffset;
	Le32 heapLength;
	Object driverSignature;
	std::uint8_t minor;
	std::uint8_t reserved[13];
};
static_assert(sizeof(Header) == 64);

struct List {
	Le32 offset;
	Le16 length; // of one element
	std::uint8_t version;
	std::uint8_t count;
};
static_assert(sizeof(List) == 8);

// Control descriptor; directly follows the header
struct Control {
	std::uint8_t structure;
	std::uint8_t major;
	std::uint8_t minor;
	std::uint8_t reserved;
	Le16 length;
	std::uint8_t flags;
	std::uint8_t reserved2;
	Object host;
	std::uint8_t hostVersion;
	std::uint8_t reserved3;
	List interfaces;
	List namespaces;
	List securities;
	List discoveries;
	std::uint8_t reserved4[16];
};
static_assert(sizeof(Control) == 64);

enum HostFlag : std::uint8_t { h_id_configured = 2, h_nqn_configured = 4, h_primary = 0x18, h_selected = 0x10 };

struct Host {
	std::uint8_t structure;
	std::uint8_t flags;
	std::uint8_t id[16];
	Object nqn;
	std::uint8_t reserved[8];
};
static_assert(sizeof(Host) == 32);

// Host Fabric Interface descriptor
struct Interface {
	std::uint8_t structure;
	std::uint8_t index;
	std::uint8_t flags;
	std::uint8_t transport;
	std::uint8_t reserved[12];
	Object info; // refers to a Transport
	std::uint8_t reserved2[10];
};
static_assert(sizeof(Interface) == 32);

enum TransportFlag : std::uint8_t { t_default_route = 2, t_dhcp = 4 };

// Host Fabric Interface transport info descriptor for NVMe/TCP
struct Transport {
	std::uint8_t structure;
	std::uint8_t version;
	std::uint8_t transport;
	std::uint8_t infoVersion;
	Le16 interface;
	std::uint8_t flags;
	Le32 pci; // segment, bus, device, function
	std::uint8_t mac[6];
	Le16 vlan; // 0: none
	std::uint8_t origin;
	Ip address;
	std::uint8_t prefix;
	Ip gateway;
	std::uint8_t reserved;
	Le16 metric;
	Ip dns;
	Ip secondDns;
	Ip dhcpServer;
	Object hostName;
	std::uint8_t reserved2[18];
};
static_assert(sizeof(Transport) == 128);

enum NamespaceFlag : std::uint16_t {
	n_not_bootable = 1 << 1,
	n_security = 1 << 2,
	n_dhcp_root_path = 1 << 3,
	n_extended = 1 << 4,
	n_discovered = 1 << 6,
	n_availability = 3 << 7,
	n_available = 1 << 7,
	n_unavailable = 2 << 7,
};
enum NamespaceTransportFlag : std::uint16_t { nt_header_digest = 2, nt_data_digest = 4 };
enum IdType : std::uint8_t { id_eui64 = 1, id_nguid = 2, id_uuid = 3 };

// Subsystem Namespace descriptor
struct Namespace {
	std::uint8_t structure;
	Le16 index;
	Le16 flags;
	std::uint8_t transport;
	Le16 transportFlags;
	std::uint8_t discovery; // index of the discovery descriptor; 0: none
	std::uint8_t reserved;
	Object traddr; // refers to an Ip
	Object trsvcid;
	Le16 port;
	Le32 nsid; // 0: use id
	std::uint8_t idType;
	std::uint8_t id[16];
	std::uint8_t security;
	std::uint8_t interface;
	std::uint8_t reserved2;
	Object moreInterfaces; // one index per byte
	Object nqn;
	Object extended; // refers to an Extended
	std::uint8_t reserved3[62];
};
static_assert(sizeof(Namespace) == 128);

struct Extended {
	std::uint8_t structure;
	std::uint8_t version;
	Le16 index; // of the namespace
	Le32 flags;
	Le16 cntlid;
	Le16 asqsz;
	Object dhcpRootPath;
};
static_assert(sizeof(Extended) == 18);

enum SecurityFlag : std::uint16_t {
	x_authentication = 3 << 1,
	x_authentication_required = 2 << 1,
	x_channel = 3 << 5,
	x_channel_required = 2 << 5,
};

struct Security {
	std::uint8_t structure;
	std::uint8_t index;
	Le16 flags;
	std::uint8_t secretType;
	std::uint8_t reserved;
	Object lists[5]; // lists of permitted mechanisms
	Object secret;
	std::uint8_t reserved2[22];
};
static_assert(sizeof(Security) == 64);

struct Discovery {
	std::uint8_t structure;
	std::uint8_t flags;
	std::uint8_t index;
	std::uint8_t interface;
	std::uint8_t security;
	std::uint8_t reserved;
	Object uri;
	Object nqn;
	std::uint8_t reserved2[14];
};
static_assert(sizeof(Discovery) == 32);

} // namespace nofctl::nbft::layout
