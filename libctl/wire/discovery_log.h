// SPDX-License-Identifier: LGPL-2.1-or-later
// The discovery log page (70h); NVMe Base 2.0, 5.16.1.23. TSAS: NVMe TCP Transport and NVMe RDMA Transport
// specifications.
#pragma once

#include "bytes.h"

namespace nofctl::wire {

constexpr std::size_t discoveryBlock = 1024;         // size of the header and of each entry
constexpr std::uint64_t maxDiscoveryEntries = 16384; // limit of readers; 16 MiB: more than any fabric needs

struct DiscoveryHeader {
	Le64 genctr;
	Le64 numrec;
	Le16 recfmt;
	std::uint8_t reserved[1006];
};
static_assert(sizeof(DiscoveryHeader) == discoveryBlock);

// Transport Specific Address Subtype for TRTYPE RDMA
struct RdmaSubtype {
	std::uint8_t qptype;
	std::uint8_t prtype;
	std::uint8_t cms;
	std::uint8_t reserved[5];
	Le16 pkey;
	std::uint8_t reserved2[246];
};
static_assert(sizeof(RdmaSubtype) == 256);

struct DiscoveryEntry {
	std::uint8_t trtype;
	std::uint8_t adrfam;
	std::uint8_t subtype;
	std::uint8_t treq;
	Le16 portid;
	Le16 cntlid;
	Le16 asqsz;
	Le16 eflags;
	std::uint8_t reserved[20];
	char trsvcid[32]; // padded with blanks, like traddr
	std::uint8_t reserved2[192];
	char subnqn[256]; // padded with NUL
	char traddr[256];
	std::uint8_t tsas[256]; // TCP: only SECTYPE is used

	std::uint8_t sectype() const { return tsas[0]; }
	RdmaSubtype rdma() const { return *wire::decode<RdmaSubtype>(tsas); }
	void setRdma(const RdmaSubtype &subtype) { std::ranges::copy(bytesOf(subtype), tsas); }
};
static_assert(sizeof(DiscoveryEntry) == discoveryBlock);

enum TransportType : std::uint8_t { tr_rdma = 1, tr_fc = 2, tr_tcp = 3, tr_loop = 254 };
enum AddressFamily : std::uint8_t {
	fam_pci = 0,
	fam_ipv4 = 1,
	fam_ipv6 = 2,
	fam_infiniband = 3,
	fam_fc = 4,
	fam_loop = 254,
};
enum SubsystemType : std::uint8_t { sub_referral = 1, sub_nvm = 2, sub_current = 3 };
enum Treq : std::uint8_t {
	treq_unspecified,
	treq_required = 1,
	treq_not_required = 2,
	treq_channel = 3,
	treq_sqflow_off = 4
};
enum EntryFlag : std::uint16_t { ef_duplicate = 1, ef_persistent = 2 };
enum TcpSectype : std::uint8_t { sec_none = 0, sec_tls12 = 1, sec_tls13 = 2 };
enum RdmaQptype : std::uint8_t { qp_connected = 1, qp_datagram = 2 };
enum RdmaPrtype : std::uint8_t { pr_none = 1, pr_infiniband = 2, pr_roce = 3, pr_roce_v2 = 4, pr_iwarp = 5 };
enum RdmaCms : std::uint8_t { cms_rdma_cm = 1 };

// Reserved range of controller IDs. Above it are 0xfffe (static, any controller) and 0xffff (dynamic controllers).
constexpr std::uint16_t firstReservedCntlid = 0xfff0, lastReservedCntlid = 0xfffd;

// An entry for a TCP port without security and with dynamic controllers. @address: numeric
DiscoveryEntry makeEntry(SubsystemType type, std::string_view nqn, std::string_view address, std::uint16_t port);

} // namespace nofctl::wire
