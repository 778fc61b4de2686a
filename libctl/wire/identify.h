// SPDX-License-Identifier: LGPL-2.1-or-later
// Identify data structures; NVMe Base 2.0, 5.17, and NVM Command Set 1.0, 4.1.5. The fields are those of libnvme's
// structures, at their offsets: libnvme's own members do not say in which order their bytes are.
#pragma once

#include "nvme.h"

#include <nvme/types.h>

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

constexpr std::size_t identify_size = 4096; // of each of them

namespace at {

using U8 = Field<std::uint8_t>;
using U16 = Field<std::uint16_t>;
using U32 = Field<std::uint32_t>;
using U64 = Field<std::uint64_t>;

// Identify Controller
constexpr U16 vid{offsetof(nvme_id_ctrl, vid)};
constexpr TextField serial{offsetof(nvme_id_ctrl, sn), sizeof(nvme_id_ctrl::sn)};
constexpr TextField model{offsetof(nvme_id_ctrl, mn), sizeof(nvme_id_ctrl::mn)};
constexpr TextField firmware{offsetof(nvme_id_ctrl, fr), sizeof(nvme_id_ctrl::fr)};
constexpr U8 cmic{offsetof(nvme_id_ctrl, cmic)};
constexpr U8 mdts{offsetof(nvme_id_ctrl, mdts)};
constexpr U16 cntlid{offsetof(nvme_id_ctrl, cntlid)};
constexpr U32 ver{offsetof(nvme_id_ctrl, ver)};
constexpr U32 rtd3e{offsetof(nvme_id_ctrl, rtd3e)};
constexpr U32 oaes{offsetof(nvme_id_ctrl, oaes)};
constexpr U32 ctratt{offsetof(nvme_id_ctrl, ctratt)};
constexpr U8 cntrltype{offsetof(nvme_id_ctrl, cntrltype)};
constexpr U8 dctype{offsetof(nvme_id_ctrl, dctype)};
constexpr U8 ciu{135};   // TP8028, Base 2.3, as are CIRN and CCRL
constexpr U64 cirn{136}; //
constexpr U16 crdt1{offsetof(nvme_id_ctrl, crdt1)};
constexpr U8 acl{offsetof(nvme_id_ctrl, acl)};
constexpr U8 aerl{offsetof(nvme_id_ctrl, aerl)};
constexpr U8 lpa{offsetof(nvme_id_ctrl, lpa)};
constexpr U8 elpe{offsetof(nvme_id_ctrl, elpe)};
constexpr U16 mtfa{offsetof(nvme_id_ctrl, mtfa)};
constexpr U16 kas{offsetof(nvme_id_ctrl, kas)};
constexpr U8 anatt{offsetof(nvme_id_ctrl, anatt)};
constexpr U8 anacap{offsetof(nvme_id_ctrl, anacap)};
constexpr U32 anagrpmax{offsetof(nvme_id_ctrl, anagrpmax)};
constexpr U32 nanagrpid{offsetof(nvme_id_ctrl, nanagrpid)};
constexpr U16 cqt{386}; // TP4129, Base 2.1
constexpr U8 sqes{offsetof(nvme_id_ctrl, sqes)};
constexpr U8 cqes{offsetof(nvme_id_ctrl, cqes)};
constexpr U16 maxcmd{offsetof(nvme_id_ctrl, maxcmd)};
constexpr U32 nn{offsetof(nvme_id_ctrl, nn)};
constexpr U16 oncs{offsetof(nvme_id_ctrl, oncs)};
constexpr U16 awupf{offsetof(nvme_id_ctrl, awupf)};
constexpr U8 vwc{offsetof(nvme_id_ctrl, vwc)};
constexpr U32 sgls{offsetof(nvme_id_ctrl, sgls)};
constexpr U32 mnan{offsetof(nvme_id_ctrl, mnan)};
constexpr TextField subnqn{offsetof(nvme_id_ctrl, subnqn), sizeof(nvme_id_ctrl::subnqn)};
constexpr U32 ioccsz{offsetof(nvme_id_ctrl, ioccsz)};
constexpr U32 iorcsz{offsetof(nvme_id_ctrl, iorcsz)};
constexpr U16 icdoff{offsetof(nvme_id_ctrl, icdoff)};
constexpr U8 fcatt{offsetof(nvme_id_ctrl, fcatt)};
constexpr U8 msdbd{offsetof(nvme_id_ctrl, msdbd)};
constexpr U8 ccrl{1807};

// Identify Namespace
constexpr U64 nsze{offsetof(nvme_id_ns, nsze)};
constexpr U64 ncap{offsetof(nvme_id_ns, ncap)};
constexpr U64 nuse{offsetof(nvme_id_ns, nuse)};
constexpr U8 nsfeat{offsetof(nvme_id_ns, nsfeat)};
constexpr U8 nlbaf{offsetof(nvme_id_ns, nlbaf)};
constexpr U8 flbas{offsetof(nvme_id_ns, flbas)};
constexpr U8 mc{offsetof(nvme_id_ns, mc)};
constexpr U8 dpc{offsetof(nvme_id_ns, dpc)};
constexpr U8 dps{offsetof(nvme_id_ns, dps)};
constexpr U8 nmic{offsetof(nvme_id_ns, nmic)};
constexpr U8 rescap{offsetof(nvme_id_ns, rescap)};
constexpr U8 dlfeat{offsetof(nvme_id_ns, dlfeat)};
constexpr U16 nawun{offsetof(nvme_id_ns, nawun)};
constexpr U16 nawupf{offsetof(nvme_id_ns, nawupf)};
constexpr U16 nabspf{offsetof(nvme_id_ns, nabspf)};
constexpr U16 npwg{offsetof(nvme_id_ns, npwg)};
constexpr U16 npwa{offsetof(nvme_id_ns, npwa)};
constexpr U16 npdg{offsetof(nvme_id_ns, npdg)};
constexpr U16 npda{offsetof(nvme_id_ns, npda)};
constexpr U16 nows{offsetof(nvme_id_ns, nows)};
constexpr U16 mssrl{offsetof(nvme_id_ns, mssrl)};
constexpr U32 anagrpid{offsetof(nvme_id_ns, anagrpid)};
constexpr U8 nsattr{offsetof(nvme_id_ns, nsattr)};
constexpr std::size_t nguid = offsetof(nvme_id_ns, nguid);
constexpr std::size_t eui64 = offsetof(nvme_id_ns, eui64);
constexpr std::size_t lbaf0 = offsetof(nvme_id_ns, lbaf); // metadata bytes, then the exponent of the block size
constexpr U16 lbaf0_ms{lbaf0 + offsetof(nvme_lbaf, ms)};
constexpr U8 lbaf0_ds{lbaf0 + offsetof(nvme_lbaf, ds)};
constexpr U8 lbaf1_ds{lbaf0 + sizeof(nvme_lbaf) + offsetof(nvme_lbaf, ds)};

// I/O Command Set Independent Identify Namespace
constexpr U8 indep_nmic{offsetof(nvme_id_independent_id_ns, nmic)};
constexpr U8 indep_rescap{offsetof(nvme_id_independent_id_ns, rescap)};
constexpr U8 indep_fpi{offsetof(nvme_id_independent_id_ns, fpi)};
constexpr U32 indep_anagrpid{offsetof(nvme_id_independent_id_ns, anagrpid)};
constexpr U8 indep_nsattr{offsetof(nvme_id_independent_id_ns, nsattr)};
constexpr U8 indep_nstat{offsetof(nvme_id_independent_id_ns, nstat)};

} // namespace at

using Id16 = std::array<std::uint8_t, 16>;

Command identify(Cns cns, std::uint32_t nsid = 0);

// Active Namespace ID list: as many as fit, of those that are given in ascending order
Bytes activeList(std::span<const std::uint32_t> nsids);

// Namespace Identification Descriptor list: of what there is
Bytes descriptorList(const std::optional<Id16> &nguid, const std::optional<Id16> &uuid);

} // namespace nofctl::wire
