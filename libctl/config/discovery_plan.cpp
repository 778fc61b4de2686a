// SPDX-License-Identifier: LGPL-2.1-or-later
#include <nvmeof/discovery_plan.h>

#include <algorithm>
#include <unordered_set>

#include <nvmeof/rendezvous.h>

#include "libctl/base/security.h"
#include "libctl/base/text.h"
#include "libctl/discovery/plan_entry.h"
#include "libctl/discovery/service_nqn.h"

namespace nvmeof {

namespace {

using State = PlannedService::State;

constexpr std::size_t maxRefusals = 256;
constexpr const char *configuredTwice = "configured twice; the first entry is used";

std::string addressKey(const ConnectOptions &options)
{
	return options.transport + " " +
	       Address{normalTraddr(options.address.traddr), options.address.trsvcid}.toString();
}

std::string entryKey(const DiscoveryEntry &entry)
{
	return entry.transport + " " + normalTraddr(entry.traddr) + " " + entry.trsvcid + " " + entry.subsysnqn;
}

class Planner {
public:
	Planner(const PlanRules &rules, const KnownServices &known) : rules_(rules), known_(known) {}

	void addRoot(const ConnectOptions &options);
	void addFixed(const ConnectOptions &options);
	// Breadth first, so that limits cut off the most distant services.
	void follow();
	void connect();
	Plan take() { return std::move(plan_); }

private:
	const DiscoveryLog *logOf(const PlannedService &service) const;
	bool failed(std::size_t index) const;
	void takeRule(ConnectOptions &options) const;
	std::string takeKeys(ConnectOptions &options) const;
	std::size_t add(const ConnectOptions &options, std::optional<std::size_t> toldBy);
	std::string referralLimit(std::size_t from) const;
	std::optional<std::size_t> refer(std::size_t from, const DiscoveryEntry &entry);
	void readReferrals(std::size_t index, const DiscoveryLog &log);
	void join(std::size_t index, std::vector<std::size_t> members, bool itself);
	void settle();
	void settle(const std::vector<std::size_t> &same);
	std::vector<bool> superseded() const;
	void takeEntry(std::size_t index, const DiscoveryEntry &entry);
	std::string limitFor(std::size_t root, const std::string &nqn) const;
	void addOverLimit(std::size_t index, const std::string &what);
	void reportOverLimit();
	std::optional<std::string> excluded(const ConnectOptions &options) const;
	void refuse(std::optional<std::size_t> toldBy, std::string what, std::string reason);
	ConnectOptions optionsFor(std::size_t from, const DiscoveryEntry &entry) const;

	const PlanRules &rules_;
	const KnownServices &known_;
	Plan plan_;
	std::map<std::string, std::size_t> services_, connections_; // indexes by key
	std::vector<bool> superseded_;                              // per service, once all states are known
	std::vector<std::size_t> referred_, led_;                   // services and connections per configured service
	std::map<std::string, std::size_t> paths_;                  // by NQN
	std::map<std::pair<std::size_t, std::string>, std::size_t>
		overLimit_; // number of entries per service and limit
};

const DiscoveryLog *Planner::logOf(const PlannedService &service) const
{
	auto found = known_.find(service.key);
	return found != known_.end() && found->second.log ? &*found->second.log : nullptr;
}

bool Planner::failed(std::size_t index) const
{
	auto found = known_.find(plan_.services[index].key);
	return found != known_.end() && found->second.failed;
}

std::optional<std::string> Planner::excluded(const ConnectOptions &options) const
{
	for (const Exclusion &one : rules_.exclusions)
		if (one.covers(options))
			return "excluded" + (one.place.empty() ? "" : " by " + one.place);
	return std::nullopt;
}

void Planner::refuse(std::optional<std::size_t> toldBy, std::string what, std::string reason)
{
	if (plan_.refusals.size() < maxRefusals)
		plan_.refusals.push_back({std::move(what), std::move(reason), toldBy});
	else
		plan_.moreRefusals++;
}

// [[security]] for the NQN of a service
void Planner::takeRule(ConnectOptions &options) const
{
	if (rules_.settings)
		options.security = rules_.settings(options.subsysnqn).security.value_or(SecurityRule());
}

// A referral to another NQN does not get the keys of the service that refers to it, only those that are configured for
// its own. Returns why it cannot be read then; empty: it can.
std::string Planner::takeKeys(ConnectOptions &options) const
{
	const ConnectSettings own = rules_.settings ? rules_.settings(options.subsysnqn) : ConnectSettings();
	// Authentication may be forbidden for its NQN: then there is no key that it could generate.
	const bool auth = options.security.auth != SecurityUse::off;
	const bool encrypted =
		options.concat || nofctl::tlsUseOf(options.tls, !options.tlsKey.empty()) == TlsUse::required;
	const std::string had = !options.dhchapKey.empty() && !own.dhchapKey           ? "dhchap-key"
				: !options.dhchapCtrlKey.empty() && !own.dhchapCtrlKey ? "dhchap-ctrl-key"
										       : "";
	options.dhchapKey = own.dhchapKey.value_or("");
	options.dhchapCtrlKey = own.dhchapCtrlKey.value_or("");
	options.tlsKey = own.tlsKey.value_or("");
	options.concat = own.concat.value_or(options.concat && auth && !own.tls && !own.tlsKey);
	if (options.concat)
		options.tls = own.tls;
	else
		options.tls = encrypted ? TlsUse::required : own.tls ? own.tls : options.tls;
	if (had.empty() || !auth)
		return {};
	return "it has another NQN than the service that refers to it, whose " + had +
	       " it does not get: set that in [[defaults]] for " + nofctl::shown(options.subsysnqn);
}

std::size_t Planner::add(const ConnectOptions &options, std::optional<std::size_t> toldBy)
{
	const std::size_t index = plan_.services.size();
	PlannedService service;
	service.options = options;
	service.key = serviceKey(options);
	service.toldBy = toldBy;
	service.root = toldBy ? plan_.services[*toldBy].root : referred_.size();
	service.depth = toldBy ? plan_.services[*toldBy].depth + 1 : 0;
	services_.emplace(service.key, index);
	plan_.services.push_back(std::move(service));
	return index;
}

void Planner::addRoot(const ConnectOptions &options)
{
	if (std::optional<std::string> why = excluded(options))
		return refuse({}, nofctl::planText(options), *why);
	if (services_.contains(serviceKey(options)))
		return refuse({}, nofctl::planText(options), configuredTwice);
	ConnectOptions ruled = options; // mDNS may have named it
	takeRule(ruled);
	add(ruled, {});
	referred_.push_back(0);
	led_.push_back(0);
}

void Planner::addFixed(const ConnectOptions &options)
{
	if (std::optional<std::string> why = excluded(options))
		return refuse({}, nofctl::planText(options), *why);
	if (!connections_.emplace(connectionKey(options), plan_.connections.size()).second)
		return refuse({}, nofctl::planText(options), configuredTwice);
	PlannedConnection connection{options, {}};
	if (connection.options.owner.empty())
		connection.options.owner = rules_.owner;
	paths_[options.subsysnqn]++;
	plan_.connections.push_back(std::move(connection));
}

// Uses the identity and local address of the connection to its service.
ConnectOptions Planner::optionsFor(std::size_t from, const DiscoveryEntry &entry) const
{
	const ConnectOptions &service = plan_.services[from].options;
	ConnectOptions options;
	options.transport = entry.transport;
	options.address = {nofctl::withScope(normalTraddr(entry.traddr), service), entry.trsvcid};
	options.subsysnqn = entry.subsysnqn;
	options.hostnqn = service.hostnqn;
	options.hostid = service.hostid;
	options.identity = service.identity;
	options.hostTraddr = service.hostTraddr;
	options.hostIface = service.hostIface;
	options.owner = rules_.owner;
	return options;
}

// The limit that forbids another referral of this service; empty: none.
std::string Planner::referralLimit(std::size_t from) const
{
	const PlannedService &service = plan_.services[from];
	if (service.depth >= rules_.limits.depth)
		return "the limit is a referral depth of " + std::to_string(rules_.limits.depth) +
		       " ([limits] referral-depth)";
	if (referred_[service.root] >= rules_.limits.referrals)
		return "the limit for a configured service is " + std::to_string(rules_.limits.referrals) +
		       " referrals ([limits] referrals)";
	return {};
}

// Nothing: the referral is refused.
std::optional<std::size_t> Planner::refer(std::size_t from, const DiscoveryEntry &entry)
{
	const ConnectOptions place = optionsFor(from, entry);
	ConnectOptions options = plan_.services[from].options; // inherits options of the referring service
	options.transport = place.transport;
	options.address = place.address;
	options.subsysnqn = place.subsysnqn;
	takeRule(options);
	if (auto found = services_.find(serviceKey(options)); found != services_.end())
		return found->second;
	const bool otherNqn = options.subsysnqn != nofctl::serviceNqn(plan_.services[from].options.subsysnqn);
	std::string reason;
	if (otherNqn && !excluded(options))
		reason = takeKeys(options);
	if (reason.empty() && entry.defect.empty() && !excluded(options))
		reason = nofctl::transportRefusal(options, rules_);
	if (!reason.empty()) {
		refuse(from, "referral to " + nofctl::planText(options), reason);
		plan_.complete = plan_.complete && entry.duplicate; // otherwise, its log may list more
		return std::nullopt;
	}
	reason = nofctl::refusalOf(entry, options, plan_.services[from].options, rules_);
	if (reason.empty())
		reason = excluded(options).value_or("");
	if (!reason.empty()) {
		refuse(from, "referral to " + nofctl::planText(options), reason);
		return std::nullopt;
	}
	if (std::string limit = referralLimit(from); !limit.empty()) {
		addOverLimit(from, limit);
		plan_.complete = false; // the log of that service is missing
		return std::nullopt;
	}
	if (nofctl::needsTls(entry) && !options.concat)
		options.tls = TlsUse::required;
	referred_[plan_.services[from].root]++;
	return add(options, from);
}

// A configured service can be grouped only by a log of a configured service: otherwise a service found through a
// referral could suppress it.
void Planner::join(std::size_t index, std::vector<std::size_t> members, bool itself)
{
	const bool byRoot = plan_.services[index].depth == 0;
	if (itself)
		members.push_back(index);
	std::ranges::sort(members);
	members.erase(std::unique(members.begin(), members.end()), members.end());
	std::erase_if(members, [&](std::size_t one) {
		const PlannedService &service = plan_.services[one];
		return !service.same.empty() || (service.depth == 0 && !byRoot);
	});
	if (members.size() < 2)
		return;
	std::vector<std::string> names;
	for (std::size_t one : members)
		names.push_back(addressKey(plan_.services[one].options));
	std::vector<std::size_t> same;
	for (std::size_t place : rendezvousOrder(rules_.hostnqn, names))
		same.push_back(members[place]);
	for (std::size_t one : same)
		plan_.services[one].same = same;
}

// DUPRETINFO: all entries of a log with this flag return the same log. The service's own entry is one of them.
void Planner::readReferrals(std::size_t index, const DiscoveryLog &log)
{
	std::vector<std::size_t> members;
	bool itself = false;
	for (const DiscoveryEntry &entry : log.entries) {
		const bool own = entry.kind == EntryKind::service && entry.defect.empty();
		if (own && entry.persistent)
			plan_.services[index].persistent = true;
		// Further addresses of the service itself matter only with DUPRETINFO.
		if (entry.kind != EntryKind::referral && !(own && entry.duplicate))
			continue;
		itself = itself || own;
		std::optional<std::size_t> one = refer(index, entry);
		if (one && entry.persistent)
			plan_.services[*one].persistent = true;
		if (one && entry.duplicate)
			members.push_back(*one);
	}
	itself = itself || std::ranges::find(members, index) != members.end();
	join(index, std::move(members), itself);
}

void Planner::settle(const std::vector<std::size_t> &same)
{
	auto state = [&](std::size_t one) -> State & { return plan_.services[one].state; };
	const bool told = std::ranges::any_of(same, [&](std::size_t one) { return state(one) == State::told; });
	bool first = !told;
	for (std::size_t one : same) {
		if (state(one) != State::unread)
			continue;
		if (!first)
			state(one) = State::standby;
		first = false;
	}
}

// Of several services with the same log, one is read; if that fails, the next one.
void Planner::settle()
{
	for (const PlannedService &service : plan_.services)
		if (!service.same.empty() && &plan_.services[service.same.front()] == &service)
			settle(service.same);
	superseded_ = superseded();
	for (std::size_t i = 0; i < plan_.services.size(); i++) {
		const State state = plan_.services[i].state;
		if (state == State::unread || (state == State::failed && !superseded_[i]))
			plan_.complete = false;
	}
}

void Planner::follow()
{
	for (std::size_t i = 0; i < plan_.services.size(); i++) {
		const DiscoveryLog *log = logOf(plan_.services[i]);
		plan_.services[i].state = failed(i) ? State::failed : log ? State::told : State::unread;
		if (log)
			readReferrals(i, *log);
	}
	settle();
}

// Services whose logs cannot be read any more, while services with the same log list all that they listed. That they
// have the same log is what one of them says: what only a failed one lists is not taken for gone. The entries of a
// group of such services are collected once, as their number is up to the services.
std::vector<bool> Planner::superseded() const
{
	std::vector<bool> superseded(plan_.services.size());
	std::map<std::size_t, std::unordered_set<std::string>> listed; // by the first service of a group
	auto isTold = [&](std::size_t one) { return plan_.services[one].state == State::told; };
	for (std::size_t i = 0; i < plan_.services.size(); i++) {
		const PlannedService &service = plan_.services[i];
		if (service.state != State::failed || std::ranges::none_of(service.same, isTold))
			continue;
		const DiscoveryLog *log = logOf(service);
		if (!log) {
			superseded[i] = true;
			continue;
		}
		const auto made = listed.try_emplace(service.same.front());
		std::unordered_set<std::string> &entries = made.first->second;
		if (made.second)
			for (std::size_t one : service.same)
				if (isTold(one))
					for (const DiscoveryEntry &entry : logOf(plan_.services[one])->entries)
						entries.insert(entryKey(entry));
		superseded[i] = std::ranges::all_of(log->entries, [&](const DiscoveryEntry &entry) {
			return entry.kind != EntryKind::subsystem || !entry.defect.empty() ||
			       entries.contains(entryKey(entry));
		});
	}
	return superseded;
}

std::string Planner::limitFor(std::size_t root, const std::string &nqn) const
{
	if (led_[root] >= rules_.limits.connections)
		return "the limit for a configured service is " + std::to_string(rules_.limits.connections) +
		       " connections ([limits] connections-per-service)";
	auto paths = paths_.find(nqn);
	if (paths != paths_.end() && paths->second >= rules_.limits.paths)
		return "the limit for " + nofctl::shown(nqn) + " is " + std::to_string(rules_.limits.paths) +
		       " addresses ([limits] paths-per-subsystem)";
	return {};
}

void Planner::addOverLimit(std::size_t index, const std::string &what)
{
	overLimit_[{index, what}]++;
}

void Planner::reportOverLimit()
{
	for (const auto &[where, count] : overLimit_)
		refuse(where.first, std::to_string(count) + (count == 1 ? " more entry" : " more entries"),
		       where.second);
}

void Planner::takeEntry(std::size_t index, const DiscoveryEntry &entry)
{
	ConnectOptions options = optionsFor(index, entry);
	if (rules_.settings)
		rules_.settings(options.subsysnqn).apply(options);
	std::string reason = nofctl::refusalOf(entry, options, plan_.services[index].options, rules_);
	if (reason.empty())
		reason = excluded(options).value_or("");
	if (!reason.empty())
		return refuse(index, nofctl::planText(options), reason);
	if (nofctl::needsTls(entry) && !options.concat) // a connect without a key fails: never plain
		options.tls = TlsUse::required;
	const std::string key = connectionKey(options);
	if (auto there = connections_.find(key); there != connections_.end()) {
		PlannedConnection &known = plan_.connections[there->second];
		if (nofctl::needsTls(entry) && known.options.tls != TlsUse::off &&
		    !known.options.concat) // whatever other entries say
			known.options.tls = TlsUse::required;
		std::vector<std::size_t> &toldBy = known.toldBy;
		if (std::ranges::find(toldBy, index) == toldBy.end())
			toldBy.push_back(index);
		return;
	}
	const std::size_t root = plan_.services[index].root;
	if (std::string limit = limitFor(root, options.subsysnqn); !limit.empty())
		return addOverLimit(index, limit);
	led_[root]++;
	paths_[options.subsysnqn]++;
	connections_.emplace(key, plan_.connections.size());
	plan_.connections.push_back({std::move(options), {index}});
}

// Existing connections are planned first, so that limits cut off only new ones.
void Planner::connect()
{
	std::vector<std::pair<std::size_t, const DiscoveryEntry *>> present, missing;
	for (std::size_t i = 0; i < plan_.services.size(); i++) {
		const DiscoveryLog *log = logOf(plan_.services[i]);
		if (!log || superseded_[i])
			continue;
		for (const DiscoveryEntry &entry : log->entries) {
			if (entry.kind != EntryKind::subsystem && entry.kind != EntryKind::unknown)
				continue;
			const bool there =
				entry.defect.empty() && rules_.present && rules_.present(optionsFor(i, entry));
			(there ? present : missing).emplace_back(i, &entry);
		}
	}
	for (const auto &[index, entry] : present)
		takeEntry(index, *entry);
	for (const auto &[index, entry] : missing)
		takeEntry(index, *entry);
	reportOverLimit();
}

} // namespace

std::string serviceKey(const ConnectOptions &options)
{
	std::string key = addressKey(options);
	if (!options.hostTraddr.empty())
		key += " from " + normalTraddr(options.hostTraddr);
	if (!options.hostIface.empty())
		key += " through " + options.hostIface;
	return key;
}

std::string connectionKey(const ConnectOptions &options)
{
	return serviceKey(options) + " " + options.subsysnqn + " " + options.hostnqn.value_or("");
}

const char *toString(PlannedService::State state)
{
	switch (state) {
	case State::unread:
		break;
	case State::told:
		return "told";
	case State::failed:
		return "failed";
	case State::standby:
		return "standby";
	}
	return "unread";
}

std::vector<std::size_t> Plan::unread() const
{
	std::vector<std::size_t> indexes;
	for (std::size_t i = 0; i < services.size(); i++)
		if (services[i].state == State::unread)
			indexes.push_back(i);
	return indexes;
}

Plan planDiscovery(const PlanRules &rules, std::span<const ConnectOptions> services,
		   std::span<const ConnectOptions> fixed, const KnownServices &known)
{
	Planner planner(rules, known);
	for (const ConnectOptions &options : services)
		planner.addRoot(options);
	for (const ConnectOptions &options : fixed)
		planner.addFixed(options);
	planner.follow();
	planner.connect();
	return planner.take();
}

} // namespace nvmeof
