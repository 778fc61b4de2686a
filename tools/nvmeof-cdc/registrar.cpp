// SPDX-License-Identifier: LGPL-2.1-or-later
#include "registrar.h"

#include <algorithm>

#include <fmt/format.h>

#include <nvmeof/address.h>

#include "feeds.h"
#include "libctl/base/make_error.h"

namespace cdc {

using namespace nofctl::wire;
using nofctl::invalidError;
using nvmeof::Error;
using nvmeof::Result;

namespace {

using Ddc = RegistrationRules::Ddc;

constexpr std::size_t maxInterfaces = 64;  // per host
constexpr std::size_t maxHostBytes = 8192; // of its record; that of 64 interfaces has about half
constexpr std::int64_t maxGrace = 120;     // seconds that another instance has to renew an expired lease

Error refusal(std::uint16_t status, std::string message)
{
	Error error = invalidError(std::move(message));
	error.nvmeStatus = status;
	return error;
}

Error wrongData(const Error &why)
{
	return refusal(st_invalid_discovery, why.message);
}

const char *transportWord(std::uint8_t transport)
{
	return transport == tr_rdma ? "rdma" : "tcp";
}

Host hostOf(const Registration &registration, const Origin &origin)
{
	Host host{registration.nqn, "", registration.name, registration.version, {}, origin};
	host.hostid = fmt::format("{:02x}", fmt::join(registration.hostid, ""));
	for (const DiscoveryEntry &one : registration.interfaces) {
		const std::string traddr = nofctl::wire::text(one.traddr);
		// Hosts of libnvme leave it empty: the address of the connection
		host.interfaces.push_back(
			fmt::format("{} {}", transportWord(one.trtype), traddr.empty() ? origin.from : traddr));
	}
	return host;
}

// Whether @there has the contents of @fresh and most of its lease left: a host that reconnects then needs no write.
template <typename T> bool holds(const T &there, const T &fresh, const RegistrationRules &rules)
{
	T same = fresh;
	same.origin.ends = there.origin.ends;
	return there == same && fresh.origin.ends - there.origin.ends < rules.leaseSeconds / 2;
}

// Targets that would only get a new lease keep their old one.
std::vector<Target> newOf(const Model &model, const RegistrationRules &rules, std::vector<Target> targets)
{
	for (Target &target : targets)
		if (auto there = model.targets().find(target.key());
		    there != model.targets().end() && holds(there->second.target, target, rules))
			target.origin.ends = there->second.target.origin.ends;
	return targets;
}

Result<void> roomForHost(const Model &model, const RegistrationRules &rules, const std::string &from)
{
	const std::size_t each = shareOf(rules.maxHosts, rules.maxHostsEach, model.hosts().size());
	if (model.hosts().size() >= rules.maxHosts)
		return refusal(st_discovery_resources,
			       fmt::format("the limit of {} registered hosts is reached", rules.maxHosts));
	if (model.registeredFrom(from) >= each)
		return refusal(st_discovery_resources,
			       fmt::format("the limit of {} registered hosts from that address is reached", each));
	return {};
}

Result<std::vector<Change>> hostChanges(const Model &model, const RegistrationRules &rules, DimTask task,
					const Registration &registration, const Origin &origin)
{
	if (registration.interfaces.size() > maxInterfaces)
		return refusal(st_discovery_resources,
			       fmt::format("a host may register at most {} interfaces", maxInterfaces));
	const Host host = hostOf(registration, origin);
	const auto there = model.hosts().find(host.key());
	if (task == dim_deregister)
		return there == model.hosts().end() ? std::vector<Change>() : std::vector<Change>{{host.key(), {}}};
	for (const DiscoveryEntry &one : registration.interfaces)
		if (const std::string text = nofctl::wire::text(one.traddr); !text.empty())
			if (Result<std::string> traddr = nvmeof::parseTraddr(text); !traddr)
				return wrongData(traddr.error());
	if (storedText(host.json()).size() > maxHostBytes)
		return refusal(st_discovery_resources,
			       fmt::format("the record of a host may have at most {} bytes", maxHostBytes));
	if (there == model.hosts().end())
		if (Result<void> room = roomForHost(model, rules, origin.from); !room)
			return room.error();
	if (Result<Host> good = Host::of(host.json()); !good)
		return wrongData(good.error());
	if (there != model.hosts().end() && holds(there->second, host, rules))
		return std::vector<Change>();
	return std::vector<Change>{changeOf(host)};
}

const Ddc *ddcOf(const RegistrationRules &rules, const std::string &nqn)
{
	auto found = std::ranges::find(rules.ddcs, nqn, &Ddc::nqn);
	return found == rules.ddcs.end() ? nullptr : &*found;
}

// Whether @who may be the one who connects as @hostnqn
Result<void> checkIdentity(const std::string &nqn, const std::string &hostnqn, const Registrant &who,
			   const MustProve &mustProve)
{
	if (who.proved && who.hostnqn != hostnqn)
		return refusal(st_denied, fmt::format("host {} may not register {}: that is up to host {} "
						      "('hostnqn' in [[registration.ddc]])",
						      who.hostnqn, nqn, hostnqn));
	if (!who.proved && mustProve(hostnqn))
		return refusal(st_denied, fmt::format("{} may be registered only by host {} after it has proved that "
						      "NQN, by authentication or TLS",
						      nqn, hostnqn));
	return {};
}

bool mayComeFrom(const Ddc &ddc, const Peer &from)
{
	return std::ranges::any_of(ddc.sources, [&](const Prefix &prefix) { return prefix.holds(from); });
}

// Subsystems that the configuration or a pull defines
std::set<std::string_view> definedElsewhere(const Model &model)
{
	std::set<std::string_view> nqns;
	for (const auto &[key, port] : model.targets())
		if (port.target.origin.source == "file" || port.target.origin.source == "pull")
			nqns.insert(port.target.nqn);
	return nqns;
}

// Subsystems of which others have registered ports, or ports were set by hand, and that DDC has registered none
std::set<std::string_view> subsystemsOfOthers(const Model &model, const std::string &ddc)
{
	std::set<std::string_view> others, own;
	for (const auto &[key, port] : model.targets()) {
		const Origin &origin = port.target.origin;
		if (origin.source == "push" && origin.owner == ddc)
			own.insert(port.target.nqn);
		else if (origin.source == "push" || origin.source == "control")
			others.insert(port.target.nqn);
	}
	std::erase_if(others, [&](std::string_view nqn) { return own.contains(nqn); });
	return others;
}

bool isSetByHand(const Model &model, const Target &target)
{
	const auto there = model.targets().find(target.key());
	return there != model.targets().end() && there->second.target.origin.source == "control";
}

Result<std::vector<Target>> targetsOf(const Registration &registration, const Origin &origin)
{
	std::vector<Target> targets;
	for (const DiscoveryEntry &entry : registration.interfaces) {
		Result<Target> target = Target::of(entry);
		if (!target)
			return wrongData(target.error());
		if (!isUnicastAddress(target->traddr))
			return wrongData(
				invalidError(fmt::format("target: no host can connect to {}", target->traddr)));
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

Result<void> mayAdd(const Model &model, const RegistrationRules &rules, const Ddc &ddc, DimTask task,
		    std::span<const Target> targets)
{
	std::set<std::string> keys;
	for (const Target &target : targets)
		keys.insert(target.key());
	if (task == dim_update)
		for (const auto &[key, port] : model.targets())
			if (port.target.origin.source == "push" && port.target.origin.owner == ddc.nqn)
				keys.insert(key);
	if (keys.size() > rules.maxTargetsEach)
		return refusal(
			st_discovery_resources,
			fmt::format("a discovery controller may register at most {} entries", rules.maxTargetsEach));
	if (ddc.join)
		return {};
	const std::set<std::string_view> defined = definedElsewhere(model), others = subsystemsOfOthers(model, ddc.nqn);
	for (const Target &target : targets) {
		if (defined.contains(target.nqn))
			return refusal(st_denied, fmt::format("the subsystem {} is defined by the configuration or "
							      "by a pull, and 'join' is not set for {}",
							      target.nqn, ddc.nqn));
		// A record that was set by hand overrides that of a registration anyway.
		if (others.contains(target.nqn) && !isSetByHand(model, target))
			return refusal(st_denied,
				       fmt::format("ports of the subsystem {} were set by hand or registered by "
						   "another discovery controller, and 'join' is not set for {}",
						   target.nqn, ddc.nqn));
	}
	// A host that follows a referral accepts any subsystem that it leads to.
	if (std::ranges::find(targets, sub_referral, &Target::type) != targets.end())
		return refusal(st_denied,
			       fmt::format("a referral is registered, and 'join' is not set for {}", ddc.nqn));
	return {};
}

Result<std::vector<Change>> ddcChanges(const Model &model, const RegistrationRules &rules, DimTask task,
				       const Registration &registration, const Origin &origin, const Registrant &who,
				       const MustProve &mustProve)
{
	const Ddc *ddc = ddcOf(rules, registration.nqn);
	if (!ddc || !mayComeFrom(*ddc, who.from))
		return refusal(st_denied, fmt::format("{} may not register from {}: no [[registration.ddc]] allows it",
						      registration.nqn, origin.from));
	if (Result<void> same = checkIdentity(registration.nqn, ddc->connectsAs(), who, mustProve); !same)
		return same.error();
	Result<std::vector<Target>> targets = targetsOf(registration, origin);
	if (!targets)
		return targets.error();
	if (task == dim_deregister)
		return targets->empty() ? replaceAll(model, origin, {}) : removeAll(model, origin, *targets);
	if (Result<void> may = mayAdd(model, rules, *ddc, task, *targets); !may)
		return may.error();
	const std::vector<Target> fresh = newOf(model, rules, *std::move(targets));
	return task == dim_update ? putAll(model, fresh) : replaceAll(model, origin, fresh);
}

class LeaseUpdater {
public:
	LeaseUpdater(const Model &model, const RegistrationRules &rules, const Connected &connected, std::int64_t now,
		     const MayStayRegistered &mayStay)
		: model_(model), rules_(rules), connected_(connected), now_(now), isAllowed_(mayStay)
	{
	}

	LeaseChanges leaseChanges()
	{
		for (const auto &[key, host] : model_.hosts())
			look(host, rules_.hosts, connected_.hosts.contains(host.nqn), host.nqn);
		for (const auto &[key, port] : model_.targets())
			if (port.target.origin.source == "push")
				look(port.target, mayStay(port.target),
				     connected_.ddcs.contains(port.target.origin.owner),
				     connectsAs(rules_, port.target.origin.owner));
		return std::move(changes_);
	}

private:
	bool mayStay(const Target &target)
	{
		const Ddc *ddc = ddcOf(rules_, target.origin.owner);
		if (!ddc || ddc->join)
			return ddc;
		if (target.type == sub_referral)
			return false;
		if (!defined_)
			defined_ = definedElsewhere(model_);
		return !defined_->contains(target.nqn);
	}
	// Ends soon, unless its owner registers again and proves its NQN
	template <typename T> void expire(const T &record)
	{
		if (record.origin.ends != 0 && record.origin.ends <= now_) {
			changes_.ended.push_back({record.key(), {}});
			changes_.unproved.insert(record.origin.owner);
		} else if (record.origin.ends == 0 || record.origin.ends - now_ > unprovedSeconds) {
			T shortened = record;
			shortened.origin.ends = now_ + unprovedSeconds;
			changes_.renewed.push_back(changeOf(shortened));
		}
	}
	// @hostnqn: of its owner
	template <typename T> void look(const T &record, bool allowed, bool connected, const std::string &hostnqn)
	{
		if (allowed && isAllowed_ && !isAllowed_(hostnqn, record.origin.proved.value_or(true)))
			return expire(record);
		const std::int64_t left = record.origin.ends - now_;
		const bool endless = record.origin.ends == 0; // record of an earlier version
		const std::int64_t grace = std::clamp<std::int64_t>(rules_.leaseSeconds / 4, 2, maxGrace);
		if (!allowed)
			changes_.refused.insert(record.origin.owner);
		if (!allowed || (!endless && !connected && !connected_.renewAll && left < -grace)) {
			changes_.ended.push_back({record.key(), {}});
		} else if (endless || connected_.renewAll || left > rules_.leaseSeconds ||
			   (connected && left <= rules_.leaseSeconds / 2)) {
			T renewed = record;
			renewed.origin.ends = now_ + rules_.leaseSeconds;
			changes_.renewed.push_back(changeOf(renewed));
		}
	}

	const Model &model_;
	const RegistrationRules &rules_;
	const Connected &connected_;
	const std::int64_t now_;
	const MayStayRegistered &isAllowed_;
	std::optional<std::set<std::string_view>> defined_;
	LeaseChanges changes_;
};

} // namespace

const std::string &connectsAs(const RegistrationRules &rules, const std::string &owner)
{
	const Ddc *ddc = ddcOf(rules, owner);
	return ddc ? ddc->connectsAs() : owner;
}

Result<std::vector<Change>> registrationChanges(const Model &model, const RegistrationRules &rules, DimTask task,
						const Registration &registration, const Registrant &who,
						const MustProve &mustProve, std::int64_t now)
{
	const Origin origin{"push", registration.nqn, now + rules.leaseSeconds, who.from.text(), who.proved};
	if (registration.entity != dim_host)
		return ddcChanges(model, rules, task, registration, origin, who, mustProve);
	if (!rules.hosts)
		return refusal(st_denied, "hosts may not register: 'hosts' is off in [registration]");
	if (Result<void> same = checkIdentity(registration.nqn, registration.nqn, who, mustProve); !same)
		return same.error();
	return hostChanges(model, rules, task, registration, origin);
}

LeaseChanges leaseChanges(const Model &model, const RegistrationRules &rules, const Connected &connected,
			  std::int64_t now, const MayStayRegistered &mayStay)
{
	return LeaseUpdater(model, rules, connected, now, mayStay).leaseChanges();
}

} // namespace cdc
