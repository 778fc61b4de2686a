// SPDX-License-Identifier: LGPL-2.1-or-later
// Data of the Discovery Information Management command (21h). With it, a host registers itself, or a direct discovery
// controller registers its subsystems, with a centralized discovery controller. TP8010; layout as in libnvme.
#pragma once

#include "bytes.h"
#include "discovery_log.h"
#include "nvme.h"

namespace nofctl::wire {

constexpr std::uint8_t op_dim = 0x21;

enum DimTask : std::uint8_t { dim_register = 0, dim_deregister = 1, dim_update = 2 }; // CDW10, bits 3:0
enum DimFormat : std::uint16_t { dim_basic = 1, dim_extended = 2 };
enum DimEntity : std::uint16_t { dim_host = 1, dim_direct = 2, dim_centralized = 3 };
enum DiscoveryType : std::uint8_t { dc_unknown = 0, dc_direct = 1, dc_centralized = 2 }; // DCTYPE
enum AttributeType : std::uint16_t { attr_host_id = 1, attr_symbolic_name = 2 };

struct DimHeader {
	Le32 tdl; // total length in bytes, including this header
	std::uint8_t reserved[4];
	Le64 nument;
	Le16 entfmt;
	Le16 etype;
	std::uint8_t portlcl;
	std::uint8_t reserved2;
	Le16 ektype;
	char eid[256];
	char ename[256];
	char ever[64];
	std::uint8_t reserved3[424];
};
static_assert(sizeof(DimHeader) == discoveryBlock);

// An extended discovery information entry; its attributes follow.
struct ExtendedEntry {
	DiscoveryEntry entry;
	Le32 tel; // length in bytes, including attributes
	Le16 numexat;
	std::uint8_t reserved[2];
};
static_assert(sizeof(ExtendedEntry) == 1032);

struct AttributeHeader {
	Le16 type;
	Le16 length; // of the value; a multiple of 4
};

struct Registration {
	DimEntity entity = dim_host;
	std::string nqn; // of the host or discovery controller
	std::array<std::uint8_t, 16> hostid{};
	std::string name;                       // of the machine
	std::string version;                    // of the operating system
	std::vector<DiscoveryEntry> interfaces; // of a host: its interfaces to targets; otherwise its log entries

	bool operator==(const Registration &other) const;
};

// An interface of a host. @address: numeric
DiscoveryEntry makeInterface(TransportType transport, std::string_view nqn, std::string_view address);

// The command without its data.
Command informationManagement(DimTask task);

Bytes encodeRegistration(const Registration &registration);
// Nothing if @data is not a registration of a host or direct discovery controller, or if its lengths are inconsistent.
std::optional<Registration> decodeRegistration(std::span<const std::uint8_t> data);

} // namespace nofctl::wire
