// SPDX-License-Identifier: LGPL-2.1-or-later
// Offsets in the Identify data structures; NVMe Base 2.0, 5.17, and NVM Command Set 1.0, 4.1.5.
// tests/unit/wire/libnvme.cpp compares them with libnvme's structures.
#pragma once

#include "nvme.h"

namespace nofctl::wire {

enum Cns : std::uint8_t {
	cns_ns = 0,
	cns_ctrl = 1,
	cns_active = 2,
	cns_descs = 3,
	cns_cs_ns = 5,
	cns_cs_ctrl = 6,
	cns_indep = 8,
};

constexpr std::size_t identifySize = 4096; // of each data structure

enum ControllerType : std::uint8_t { ctrl_io = 1, ctrl_discovery = 2, ctrl_admin = 3 }; // CNTRLTYPE; 0: not reported
enum LogPageAttribute : std::uint8_t { lpa_extended = 1 << 2 };                         // LPA bit 2: 64-bit offsets
enum IdType : std::uint8_t { nidt_eui64 = 1, nidt_nguid = 2, nidt_uuid = 3, nidt_csi = 4 };

namespace at {

using U8 = Field<std::uint8_t>;
using U16 = Field<std::uint16_t>;
using U32 = Field<std::uint32_t>;
using U64 = Field<std::uint64_t>;

// Identify Controller
constexpr U16 vid{0};
constexpr TextField serial{4, 20};
constexpr TextField model{24, 40};
constexpr TextField firmware{64, 8};
constexpr U8 cmic{76};
constexpr U8 mdts{77};
constexpr U16 cntlid{78};
constexpr U32 ver{80};
constexpr U32 rtd3e{88};
constexpr U32 oaes{92};
constexpr U32 ctratt{96};
constexpr U8 cntrltype{111};
constexpr U8 dctype{1806};
constexpr U8 ciu{135}; // TP8028, Base 2.3; also CIRN and CCRL
constexpr U64 cirn{136};
constexpr U16 crdt1{128};
constexpr U8 acl{258};
constexpr U8 aerl{259};
constexpr U8 lpa{261};
constexpr U8 elpe{262};
constexpr U16 mtfa{270};
constexpr U16 kas{320};
constexpr U8 anatt{342};
constexpr U8 anacap{343};
constexpr U32 anagrpmax{344};
constexpr U32 nanagrpid{348};
constexpr U16 cqt{386}; // TP4129, Base 2.1
constexpr U8 sqes{512};
constexpr U8 cqes{513};
constexpr U16 maxcmd{514};
constexpr U32 nn{516};
constexpr U16 oncs{520};
constexpr U16 awupf{528};
constexpr U8 vwc{525};
constexpr U32 sgls{536};
constexpr U32 mnan{540};
constexpr TextField subnqn{768, 256};
constexpr U32 ioccsz{1792};
constexpr U32 iorcsz{1796};
constexpr U16 icdoff{1800};
constexpr U8 fcatt{1802};
constexpr U8 msdbd{1803};
constexpr U8 ccrl{1807};

// Identify Namespace
constexpr U64 nsze{0};
constexpr U64 ncap{8};
constexpr U64 nuse{16};
constexpr U8 nsfeat{24};
constexpr U8 nlbaf{25};
constexpr U8 flbas{26};
constexpr U8 mc{27};
constexpr U8 dpc{28};
constexpr U8 dps{29};
constexpr U8 nmic{30};
constexpr U8 rescap{31};
constexpr U8 dlfeat{33};
constexpr U16 nawun{34};
constexpr U16 nawupf{36};
constexpr U16 nabo{42};
constexpr U16 nabspf{44};
constexpr U16 npwg{64};
constexpr U16 npwa{66};
constexpr U16 npdg{68};
constexpr U16 npda{70};
constexpr U16 nows{72};
constexpr U16 mssrl{74};
constexpr U32 anagrpid{92};
constexpr U8 nsattr{99};
constexpr std::size_t nguid = 104;
constexpr std::size_t eui64 = 120;
constexpr std::size_t lbaf0 = 128; // metadata size, then the exponent of the block size
constexpr U16 lbaf0_ms{lbaf0};
constexpr U8 lbaf0_ds{lbaf0 + 2};
constexpr U8 lbaf1_ds{lbaf0 + 6};

// Identify Namespace of the NVM Command Set: Extended LBA Format 0
constexpr U32 elbaf0{12};

// I/O Command Set Independent Identify Namespace
constexpr U8 indep_nmic{1};
constexpr U8 indep_rescap{2};
constexpr U8 indep_fpi{3};
constexpr U32 indep_anagrpid{4};
constexpr U8 indep_nsattr{8};
constexpr U8 indep_nstat{14};

} // namespace at

using Id16 = std::array<std::uint8_t, 16>;

Command identify(Cns cns, std::uint32_t nsid = 0);

// Active Namespace ID list. @nsids must be sorted; entries that do not fit are dropped.
Bytes activeList(std::span<const std::uint32_t> nsids);

// Namespace Identification Descriptor list with the given identifiers
Bytes descriptorList(const std::optional<Id16> &nguid, const std::optional<Id16> &uuid);

} // namespace nofctl::wire
