// SPDX-License-Identifier: LGPL-2.1-or-later
#include "identify.h"

#include "association.h"

#include <algorithm>

namespace target {
namespace {

void putCrossReset(Bytes &id, const Config &config, const Association &assoc)
{
	put(id, at::ciu, assoc.ciu);
	put(id, at::cirn, assoc.cirn);
	put(id, at::ccrl, config.ccrLimit);
}

} // namespace

Bytes identifyController(const Config &config, const Association &assoc)
{
	Bytes id(identifySize);
	put(id, at::serial, config.serial, ' ');
	put(id, at::model, config.model, ' ');
	put(id, at::firmware, config.firmware, ' ');
	put(id, at::cmic, 1 << 1 | (config.ana ? 1 << 3 : 0));
	put(id, at::mdts, config.mdts);
	put(id, at::cntlid, assoc.cntlid);
	put(id, at::ver, config.version);
	put(id, at::oaes,
	    1u << 8 | (config.mtfa ? 1u << 9 : 0) | (config.ana ? 1u << 11 : 0) | (config.ccrLimit ? 1u << 20 : 0));
	put(id, at::ctratt, // 128-bit Host Identifiers
	    1u | (config.trafficKeepAlive ? 1u << 6 : 0) | (config.extendedFormats ? 1u << 15 : 0));
	put(id, at::cntrltype, 1);
	put(id, at::acl, 3);
	put(id, at::aerl, 3);
	put(id, at::lpa, (config.hasEffects() ? 1 << 1 : 0) | 1 << 2); // extended Get Log Page
	put(id, at::mtfa, config.mtfa);
	put(id, at::kas, config.kas);
	put(id, at::cqt, config.quiesce);
	putCrossReset(id, config, assoc);
	if (config.ana) {
		put(id, at::anatt, config.anaTransition);
		put(id, at::anacap, 0x1f);
		put(id, at::anagrpmax, config.anaGroups);
		put(id, at::nanagrpid, config.anaGroups);
	}
	put(id, at::sqes, 0x66);
	put(id, at::cqes, 0x44);
	put(id, at::maxcmd, config.maxcmd ? config.maxcmd : config.queueEntries);
	put(id, at::nn, config.namespaces);
	// Dataset Management, Write Zeroes, Verify, Copy
	put(id, at::oncs, 1 << 2 | 1 << 3 | (config.reservations ? 1 << 5 : 0) | 1 << 7 | 1 << 8);
	put(id, at::awupf, config.awupf);
	put(id, at::vwc, 1);
	put(id, at::sgls, 1 | 1 << 20 | (config.transport == Transport::rdma ? 1 << 2 : 0));
	put(id, at::mnan, config.namespaces);
	put(id, at::subnqn, config.nqn, 0);
	put(id, at::ioccsz, (64 + config.inCapsule) / 16);
	put(id, at::iorcsz, 1);
	put(id, at::msdbd, 1);
	return id;
}

Bytes identifyNvm(const Config &config)
{
	Bytes id(identifySize);
	put<std::uint8_t>(id, 1, config.writeZeroes);
	id[3] = config.discardRanges;
	put<std::uint32_t>(id, 4, config.rangeBlocks);
	put<std::uint64_t>(id, 8, config.discardBlocks);
	return id;
}

Bytes identifyNamespace(const Config &config, const Store &store)
{
	Bytes id(identifySize);
	for (auto field : {at::nsze, at::ncap, at::nuse})
		put(id, field, store.blocks());
	put(id, at::nmic, 1);
	put(id, at::dlfeat, 1 | 1 << 3); // deallocated blocks read as zero, Write Zeroes deallocates
	put(id, at::nsattr, store.writeProtected() ? 1 : 0);
	put(id, at::rescap, config.reservations ? 0x7f : 0);
	if (config.nawupf || config.nabspf) {
		put(id, at::nsfeat, 1 << 1);
		put(id, at::nawupf, config.nawupf);
		put(id, at::nabspf, config.nabspf);
	}
	if (auto *pi = store.protection()) {
		put(id, at::dpc, 0x1f);
		put(id, at::dps, pi->format().type);
		put(id, at::lbaf0_ms, static_cast<std::uint16_t>(pi->bytes()));
		put(id, at::flbas, pi->format().inData ? 1 << 4 : 0);
	}
	put(id, at::anagrpid, config.ana ? store.anaGroup() : 0);
	std::ranges::copy(store.nguid(), id.begin() + at::nguid);
	put(id, at::lbaf0_ds, static_cast<std::uint8_t>(store.shift()));
	return id;
}

Bytes descriptors(const Store &store)
{
	auto list = descriptorList(store.nguid(), store.uuid());
	if (store.zones() || store.keyValue()) {
		list[csi_at - 4] = nidt_csi;
		list[csi_at - 3] = 1;
		list[csi_at] = store.zones() ? csi_zns : csi_key_value;
	}
	return list;
}

Bytes identifyGuard(const Store &store)
{
	Bytes id(identifySize);
	if (auto *pi = store.protection(); pi && pi->format().guard == 64)
		put(id, at::elbaf0, 2 << 7);
	return id;
}

Bytes identifyIndependent(const Config &config, const Store &store)
{
	Bytes id(identifySize);
	put(id, at::indep_nmic, 1);
	put(id, at::indep_rescap, config.reservations ? 0x7f : 0);
	put(id, at::indep_anagrpid, config.ana ? store.anaGroup() : 0);
	put(id, at::indep_nsattr, store.writeProtected() ? 1 : 0);
	put(id, at::indep_nstat, 1); // ready
	return id;
}

Bytes identifyZoned(const Store &store)
{
	auto &shape = store.zones()->shape();
	Bytes id(identifySize);
	put<std::uint32_t>(id, 4, shape.maxActive - 1);
	put<std::uint32_t>(id, 8, shape.maxOpen - 1);
	put<std::uint64_t>(id, 2816, shape.blocks);
	return id;
}

Bytes anaLog(const Stores &stores, const AnaStates &states, std::uint64_t change, bool groupsOnly)
{
	std::map<std::uint32_t, AnaGroup> groups;
	for (auto &[id, state] : states)
		groups[id] = {id, state, {}, 0};
	for (auto nsid : stores.idsAbove(0)) {
		auto store = stores.find(nsid);
		if (!store)
			continue;
		auto &group = groups.try_emplace(store->anaGroup(), AnaGroup{store->anaGroup(), ana_optimized, {}, 0})
				      .first->second;
		if (!groupsOnly)
			group.nsids.push_back(nsid);
		group.toldNsids = static_cast<std::uint32_t>(group.nsids.size());
	}
	std::vector<AnaGroup> list;
	list.reserve(groups.size());
	for (auto &[id, group] : groups)
		list.push_back(std::move(group));
	return makeAnaLog(change, static_cast<std::uint16_t>(list.size()), list);
}

} // namespace target
