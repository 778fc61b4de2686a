// SPDX-License-Identifier: LGPL-2.1-or-later
#include "feeds.h"

#include <algorithm>
#include <iterator>
#include <set>

#include <fmt/format.h>

#include "libctl/invalid.h"

namespace cdc {

using namespace nofctl::wire;
using nofctl::invalid;
using nvmeof::Result;

namespace {

int strength(const Origin &origin)
{
	constexpr std::string_view sources[] = {"pull", "push", "file", "control"};
	for (int i = 0; i < 4; i++)
		if (origin.source == sources[i])
			return i;
	return 0;
}

bool sameOrigin(const Origin &a, const Origin &b)
{
	return a.source == b.source && a.owner == b.owner;
}

template <typename T> Change putting(const T &record)
{
	return {record.key(), record.json().dump()};
}

const char *transportWord(std::uint8_t transport)
{
	return transport == tr_rdma ? "rdma" : "tcp";
}

Host hostOf(const Registration &registration, std::int64_t ends)
{
	Host host{registration.nqn, "", registration.name, registration.version, {}, {"push", registration.nqn, ends}};
	host.hostid = fmt::format("{:02x}", fmt::join(registration.hostid, ""));
	for (const DiscoveryEntry &one : registration.interfaces)
		host.interfaces.push_back(fmt::format("{} {}", transportWord(one.trtype), text(one.traddr)));
	return host;
}

Result<std::vector<Change>> hostChanges(const Model &model, DimTask task, const Registration &registration,
					std::int64_t ends)
{
	const Host host = hostOf(registration, ends);
	const auto there = model.hosts().find(host.key());
	if (task == dim_deregister)
		return there == model.hosts().end() ? std::vector<Change>() : std::vector<Change>{{host.key(), {}}};
	if (there == model.hosts().end() && model.hosts().size() >= most_hosts)
		return invalid("too many hosts have registered");
	if (Result<Host> good = Host::of(host.json()); !good)
		return good.error();
	return std::vector<Change>{putting(host)};
}

Result<std::vector<Target>> targetsOf(const Registration &registration, const Origin &origin)
{
	std::vector<Target> targets;
	for (const DiscoveryEntry &entry : registration.interfaces) {
		Result<Target> target = Target::of(entry);
		if (!target)
			return target.error();
		target->origin = origin;
		targets.push_back(*std::move(target));
	}
	return targets;
}

std::vector<Change> removeAll(const Model &model, const Origin &origin, std::span<const Target> targets)
{
	std::vector<Change> changes;
	for (const Target &target : targets) {
		auto there = model.targets().find(target.key());
		if (there != model.targets().end() && sameOrigin(there->second.target.origin, origin))
			changes.push_back({target.key(), {}});
	}
	return changes;
}

Result<std::vector<Change>> serviceChanges(const Model &model, DimTask task, const Registration &registration,
					   std::int64_t ends)
{
	const Origin origin{"push", registration.nqn, ends};
	Result<std::vector<Target>> targets = targetsOf(registration, origin);
	if (!targets)
		return targets.error();
	if (task == dim_deregister && !targets->empty())
		return removeAll(model, origin, *targets);
	if (task == dim_deregister)
		return replaceAll(model, origin, {});
	if (model.targets().size() + targets->size() > most_targets)
		return invalid("too many targets have been registered");
	return task == dim_update ? putAll(model, *targets) : replaceAll(model, origin, *targets);
}

} // namespace

bool mayReplace(const Origin &there, const Origin &source)
{
	return sameOrigin(there, source) || strength(source) > strength(there);
}

std::vector<Change> putAll(const Model &model, std::span<const Target> targets)
{
	std::vector<Change> changes;
	for (const Target &target : targets) {
		auto there = model.targets().find(target.key());
		if (there == model.targets().end() ||
		    (there->second.target != target && mayReplace(there->second.target.origin, target.origin)))
			changes.push_back(putting(target));
	}
	return changes;
}

std::vector<Change> putAll(const Model &model, std::span<const Zone> zones)
{
	std::vector<Change> changes;
	for (const Zone &zone : zones) {
		auto there = model.zones().find(zone.key());
		if (there == model.zones().end() ||
		    (there->second != zone && mayReplace(there->second.origin, zone.origin)))
			changes.push_back(putting(zone));
	}
	return changes;
}

std::vector<Change> replaceAll(const Model &model, const Origin &origin, std::span<const Target> targets)
{
	std::vector<Change> changes = putAll(model, targets);
	std::set<std::string> keys;
	for (const Target &target : targets)
		keys.insert(target.key());
	for (const auto &[key, port] : model.targets())
		if (sameOrigin(port.target.origin, origin) && !keys.contains(key))
			changes.push_back({key, {}});
	return changes;
}

std::vector<Change> fileChanges(const Model &model, const std::string &id, std::vector<Target> targets,
				std::vector<Zone> zones)
{
	const Origin origin{"file", id, 0};
	for (Target &target : targets)
		target.origin = origin;
	std::vector<Change> changes = replaceAll(model, origin, targets);
	std::set<std::string> keys;
	for (Zone &zone : zones) {
		zone.origin = origin;
		keys.insert(zone.key());
	}
	std::ranges::move(putAll(model, zones), std::back_inserter(changes));
	for (const auto &[key, zone] : model.zones())
		if (sameOrigin(zone.origin, origin) && !keys.contains(key))
			changes.push_back({key, {}});
	return changes;
}

Result<std::vector<Change>> registrationChanges(const Model &model, DimTask task, const Registration &registration,
						std::int64_t ends)
{
	return registration.entity == dim_host ? hostChanges(model, task, registration, ends)
					       : serviceChanges(model, task, registration, ends);
}

std::vector<Change> endedChanges(const Model &model, std::int64_t now)
{
	std::vector<Change> changes;
	auto ended = [now](const Origin &origin) { return origin.ends != 0 && origin.ends <= now; };
	for (const auto &[key, port] : model.targets())
		if (ended(port.target.origin))
			changes.push_back({key, {}});
	for (const auto &[key, host] : model.hosts())
		if (ended(host.origin))
			changes.push_back({key, {}});
	return changes;
}

} // namespace cdc
