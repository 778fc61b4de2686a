// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What a host tells a centralized discovery controller of itself, or a direct discovery controller of the subsystems
 * that it knows: the data of the Discovery Information Management command (21h). TP8010, as libnvme's structures have
 * it.
 */
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
	Le32 tdl; // bytes of all, this included
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
static_assert(sizeof(DimHeader) == discovery_block);

// Behind an entry as the discovery log has it; then come the attributes.
struct ExtendedEntry {
	DiscoveryEntry entry;
	Le32 tel; // bytes of this entry with all of its attributes
	Le16 numexat;
	std::uint8_t reserved[2];
};
static_assert(sizeof(ExtendedEntry) == 1032);

struct AttributeHeader {
	Le16 type;
	Le16 length; // of the value, a multiple of 4
};

struct Registration {
	DimEntity entity = dim_host;
	std::string nqn;                        // of the host, or of the discovery controller
	std::array<std::uint8_t, 16> hostid{};  //
	std::string name;                       // of the machine
	std::string version;                    // of its operating system
	std::vector<DiscoveryEntry> interfaces; // by which it reaches targets; or what its log would tell

	bool operator==(const Registration &other) const;
};

// An interface of a host. @address: numeric
DiscoveryEntry makeInterface(TransportType transport, std::string_view nqn, std::string_view address);

// The command; its data go with it.
Command informationManagement(DimTask task);

Bytes encodeRegistration(const Registration &registration);
// Nothing: the data are no registration of a host or of a direct discovery controller, or do not keep to their own
// lengths.
std::optional<Registration> decodeRegistration(std::span<const std::uint8_t> data);

} // namespace nofctl::wire
