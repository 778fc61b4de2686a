// SPDX-License-Identifier: LGPL-2.1-or-later
#include "identify.h"

#include "association.h"

#include <algorithm>

namespace target {
namespace {

// ASCII, padded with blanks; Base 2.0, 1.4.2
void putText(Bytes &to, std::size_t offset, std::size_t room, const std::string &text)
{
	std::fill_n(to.begin() + static_cast<std::ptrdiff_t>(offset), room, ' ');
	std::copy_n(text.begin(), std::min(room, text.size()), to.begin() + static_cast<std::ptrdiff_t>(offset));
}

void putCrossReset(Bytes &id, const Config &config, const Association &assoc)
{
	id[at::ciu] = assoc.ciu;
	put<std::uint64_t>(id, at::cirn, assoc.cirn);
	id[at::ccrl] = config.ccrLimit;
}

} // namespace

Bytes identifyController(const Config &config, const Association &assoc)
{
	Bytes id(4096);
	putText(id, at::serial, 20, config.serial);
	putText(id, at::model, 40, config.model);
	putText(id, 64, 8, config.firmware);
	id[76] = static_cast<std::uint8_t>(1 << 1 | (config.ana ? 1 << 3 : 0)); // CMIC
	id[at::mdts] = config.mdts;
	put<std::uint16_t>(id, at::cntlid, assoc.cntlid);
	put<std::uint32_t>(id, 80, 0x10400);
	put<std::uint32_t>(id, 92, 1u << 8 | (config.ana ? 1u << 11 : 0) | (config.ccrLimit ? 1u << 20 : 0)); // OAES
	put<std::uint32_t>(id, 96, config.trafficKeepAlive ? 1u << 6 : 0);                                    // CTRATT
	id[at::cntrltype] = 1;
	id[258] = 3;      // ACL
	id[259] = 3;      // AERL
	id[261] = 1 << 2; // LPA: extended Get Log Page
	put<std::uint16_t>(id, at::kas, config.kas);
	put<std::uint16_t>(id, at::cqt, config.quiesce);
	putCrossReset(id, config, assoc);
	if (config.ana) {
		id[at::anatt] = config.anaTransition;
		id[at::anacap] = 0x1f;
		put<std::uint32_t>(id, at::anagrpmax, config.anaGroups);
		put<std::uint32_t>(id, at::nanagrpid, config.anaGroups);
	}
	id[at::sqes] = 0x66;
	id[at::cqes] = 0x44;
	put<std::uint16_t>(id, at::maxcmd, config.maxcmd ? config.maxcmd : config.queueEntries);
	put<std::uint32_t>(id, at::nn, config.namespaces);
	put<std::uint16_t>(id, 520, 1 << 2 | 1 << 3); // ONCS: Dataset Management, Write Zeroes
	id[525] = 1;                                  // VWC
	put<std::uint32_t>(id, at::sgls, 1 | 1 << 20);
	put<std::uint32_t>(id, at::mnan, config.namespaces);
	std::copy(config.nqn.begin(), config.nqn.end(), id.begin() + at::subnqn);
	put<std::uint32_t>(id, at::ioccsz, (64 + config.inCapsule) / 16);
	put<std::uint32_t>(id, at::iorcsz, 1);
	id[1803] = 1; // MSDBD
	return id;
}

Bytes identifyNamespace(const Config &config, const Store &store)
{
	Bytes id(4096);
	for (auto offset : {at::nsze, at::ncap, std::size_t(16)})
		put<std::uint64_t>(id, offset, store.blocks());
	id[at::nmic] = 1;
	id[at::dlfeat] = 1; // deallocated blocks read as zero
	put<std::uint32_t>(id, 92, config.ana ? store.anaGroup() : 0);
	std::copy(store.nguid().begin(), store.nguid().end(), id.begin() + 104);
	id[at::lbaf0 + 2] = static_cast<std::uint8_t>(store.shift());
	return id;
}

Bytes activeList(const Stores &stores, std::uint32_t above)
{
	Bytes list(4096);
	std::size_t offset = 0;
	for (auto nsid : stores.idsAbove(above)) {
		if (offset == list.size())
			break;
		put<std::uint32_t>(list, offset, nsid);
		offset += 4;
	}
	return list;
}

Bytes descriptors(const Store &store)
{
	Bytes list(4096);
	auto add = [&list, offset = std::size_t(0)](std::uint8_t type, const Id16 &id) mutable {
		list[offset] = type;
		list[offset + 1] = 16;
		std::copy(id.begin(), id.end(), list.begin() + static_cast<std::ptrdiff_t>(offset + 4));
		offset += 20;
	};
	add(2, store.nguid());
	add(3, store.uuid());
	return list;
}

Bytes smartLog()
{
	Bytes log(512);
	put<std::uint16_t>(log, 1, 300); // kelvin
	log[3] = 100;                    // available spare, percent
	return log;
}

Bytes makeAnaLog(std::uint64_t change, std::uint16_t toldGroups, const std::vector<AnaGroup> &groups)
{
	Bytes log(16);
	put<std::uint64_t>(log, 0, change);
	put<std::uint16_t>(log, 8, toldGroups);
	for (auto &g : groups) {
		auto start = log.size();
		log.resize(start + 32 + g.nsids.size() * 4);
		put<std::uint32_t>(log, start, g.id);
		put<std::uint32_t>(log, start + 4, g.toldNsids);
		put<std::uint64_t>(log, start + 8, change);
		log[start + 16] = g.state;
		for (std::size_t i = 0; i < g.nsids.size(); i++)
			put<std::uint32_t>(log, start + 32 + i * 4, g.nsids[i]);
	}
	return log;
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

Bytes ccrLog(const Association &source)
{
	Bytes log(8 + source.ccrLog.size() * 8);
	put<std::uint16_t>(log, 0, static_cast<std::uint16_t>(source.ccrLog.size()));
	std::size_t at = 8;
	for (auto &e : source.ccrLog) {
		put<std::uint16_t>(log, at, e.icid);
		log[at + 2] = e.ciu;
		put<std::uint16_t>(log, at + 4, source.cntlid);
		log[at + 6] = e.status;
		log[at + 7] = e.flags;
		at += 8;
	}
	return log;
}

} // namespace target
