// SPDX-License-Identifier: LGPL-2.1-or-later
#include "pull.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <syslog.h>
#include <utility>

#include <fmt/format.h>

#include <nvmeof/address.h>
#include <nvmeof/discovery.h>
#include <nvmeof/rendezvous.h>

#include "libctl/discovery/service_nqn.h"
#include "libctl/runtime/journal.h"

namespace cdc {

using namespace initiator;
using namespace nofctl::wire;
using nvmeof::Address;
using nvmeof::Result;

namespace {

constexpr std::chrono::milliseconds gather{5}; // changes within this time are written together
constexpr std::string_view via = " via ";

std::string tooMany()
{
	return fmt::format("it and its referrals list more than {} targets; the others are left out", Pull::maxTargets);
}

std::string addressOf(const Target &target)
{
	const Result<std::string> traddr = nvmeof::parseTraddr(target.traddr);
	return Address{traddr ? *traddr : target.traddr, target.trsvcid}.toString();
}

// Absent: the entry is not usable
std::optional<Target> recordOf(const DiscoveryEntry &entry)
{
	Result<Target> target = Target::of(entry);
	if (!target || !isUnicastAddress(target->traddr))
		return {};
	return *std::move(target);
}

bool isFollowed(const Target &target)
{
	return target.type == sub_referral && target.transport == tr_tcp;
}

bool hasStates(const Target &target)
{
	return target.type == sub_nvm && target.transport == tr_tcp;
}

std::optional<Endpoint> endpointOf(const std::string &address)
{
	const Result<Address> parsed = nvmeof::parseAddress(address);
	return parsed ? Endpoint::of(*parsed) : std::nullopt;
}

} // namespace

std::string rootOf(const std::string &owner)
{
	const auto at = owner.find(via);
	return at == owner.npos ? owner : owner.substr(at + via.size());
}

Pull::Pull(runtime::Loop &loop, initiator::HostIdentity who, const Model &model, Write write, WatchTimes times)
	: shared_(loop), identity_(std::move(who)), model_(model), write_(std::move(write)), times_(times),
	  timer_(loop, [this] { evaluate(); })
{
}

void Pull::setSources(std::vector<PullSource> sources)
{
	sources_ = std::move(sources);
	chooseTrees();
}

void Pull::setInstances(std::vector<std::string> ids, std::string self)
{
	if (ids == instances_ && self == self_)
		return;
	instances_ = std::move(ids);
	self_ = std::move(self);
	chooseTrees();
}

void Pull::modelChanged()
{
	soon();
}

void Pull::soon()
{
	timer_.startUnlessRunning(gather);
}

// Until other instances are known, this one reads every source.
bool Pull::isOurs(const std::string &address) const
{
	return instances_.empty() || instances_[nvmeof::rendezvousOrder(address, instances_)[0]] == self_;
}

bool Pull::isSource(const std::string &address) const
{
	return std::ranges::any_of(sources_, [&](const PullSource &one) { return one.address.toString() == address; });
}

// Referrals to instances of this service are not followed, so that its own records do not come back.
bool Pull::isInstance(const std::string &address) const
{
	return std::ranges::any_of(model_.instances(), [&](const auto &one) {
		return std::ranges::find(one.second.instance.addresses, address) != one.second.instance.addresses.end();
	});
}

// An unchanged source keeps its connections.
void Pull::chooseTrees()
{
	std::map<std::string, Tree> before;
	before.swap(trees_);
	for (const PullSource &source : sources_) {
		const std::string address = source.address.toString();
		if (!isOurs(address) || trees_.contains(address))
			continue;
		auto old = before.find(address);
		if (old != before.end() && old->second.source == source) {
			trees_.insert(before.extract(old));
			continue;
		}
		Tree &tree = trees_[address];
		tree.source = source;
		addNode(tree, address, 0);
	}
	soon();
}

void Pull::addNode(Tree &tree, const std::string &address, unsigned depth)
{
	const auto endpoint = endpointOf(address);
	if (!endpoint)
		return runtime::say(
			LOG_WARNING,
			fmt::format("cannot read the discovery service {}: its address is not reachable", address));
	const std::string owner = depth ? fmt::format("{}{}{}", address, via, tree.source.address.toString()) : address;
	const std::string nqn = nofctl::serviceNqn(depth ? "" : tree.source.nqn);
	Node node{owner, depth,
		  std::make_unique<PullService>(shared_, times_, identity_, *endpoint, nqn, [this] { soon(); })};
	node.service->start();
	tree.nodes.insert_or_assign(address, std::move(node));
}

// Breadth first, so that the limit cuts off the most distant services. Other sources are read as sources of their own.
void Pull::follow(Tree &tree)
{
	std::vector<std::string> reached{tree.source.address.toString()};
	for (std::size_t i = 0; i < reached.size(); i++) {
		const auto at = tree.nodes.find(reached[i]);
		if (at == tree.nodes.end() || !at->second.service->entries() || at->second.depth >= maxDepth)
			continue;
		const unsigned depth = at->second.depth + 1;
		for (const DiscoveryEntry &entry : *at->second.service->entries()) {
			const auto target = recordOf(entry);
			if (!target || !isFollowed(*target) || reached.size() >= maxServices)
				continue;
			const std::string address = addressOf(*target);
			const bool source = isSource(address);
			if (source || isInstance(address) || std::ranges::find(reached, address) != reached.end())
				continue;
			reached.push_back(address);
			if (!tree.nodes.contains(address))
				addNode(tree, address, depth);
		}
	}
	std::erase_if(tree.nodes,
		      [&](const auto &node) { return std::ranges::find(reached, node.first) == reached.end(); });
}

// Each target once, with its last known ANA state
std::vector<Target> Pull::targetsOf(const Tree &tree, const Node &node) const
{
	std::vector<Target> targets;
	std::set<std::string> keys;
	for (const DiscoveryEntry &entry : *node.service->entries()) {
		auto target = recordOf(entry);
		if (!target || isFollowed(*target) || isInstance(addressOf(*target)) ||
		    !keys.insert(target->key()).second)
			continue;
		target->origin = {"pull", node.owner, 0};
		if (tree.source.ana && hasStates(*target))
			addState(*target);
		targets.push_back(*std::move(target));
	}
	return targets;
}

// If the state of a port cannot be read, the previous one is kept.
void Pull::addState(Target &target) const
{
	const auto port = ports_.find({target.nqn, addressOf(target)});
	const auto had = model_.targets().find(target.key());
	if (port != ports_.end() && port->second->state())
		target.state = *port->second->state();
	else if (had != model_.targets().end())
		target.state = had->second.target.state;
}

void Pull::keepPort(Ports &kept, const Target &target)
{
	const PortKey key{target.nqn, addressOf(target)};
	if (kept.contains(key) || kept.size() >= maxPorts)
		return;
	if (auto before = ports_.extract(key)) {
		kept.insert(std::move(before));
		return;
	}
	const auto endpoint = endpointOf(key.second);
	if (!endpoint)
		return;
	auto port = std::make_unique<PullPort>(shared_, times_, identity_, *endpoint, target.nqn, [this] { soon(); });
	port->start();
	kept.emplace(key, std::move(port));
}

void Pull::choosePorts()
{
	Ports kept;
	for (const auto &[address, tree] : trees_)
		for (const auto &[service, node] : tree.nodes)
			if (tree.source.ana && node.service->entries())
				for (const Target &target : targetsOf(tree, node))
					if (hasStates(target))
						keepPort(kept, target);
	ports_ = std::move(kept);
}

// Whether all services of the tree were read, so that no referral is missing
bool Pull::isKnown(const Tree &tree) const
{
	return !tree.nodes.empty() && std::ranges::all_of(tree.nodes, [](const auto &node) {
		return node.second.service->entries().has_value();
	});
}

// Whether the owner of records no longer belongs to any source
bool Pull::isGone(const std::string &owner) const
{
	const std::string root = rootOf(owner);
	const auto tree = trees_.find(root);
	if (tree != trees_.end())
		return isKnown(tree->second) && std::ranges::none_of(tree->second.nodes, [&](const auto &node) {
			       return node.second.owner == owner;
		       });
	return !isSource(root) && isOurs(root);
}

// The records of the services of a tree, at most maxTargets in all. @cut: there are more
std::vector<ServiceRecords> Pull::recordsOf(const Tree &tree, bool &cut) const
{
	std::vector<ServiceRecords> services;
	std::size_t room = maxTargets;
	cut = false;
	for (const auto &[service, node] : tree.nodes) {
		services.push_back({node.owner, {}});
		if (!node.service->entries())
			continue;
		std::vector<Target> targets = targetsOf(tree, node);
		if (targets.size() > room) {
			targets.erase(targets.begin() + static_cast<std::ptrdiff_t>(room), targets.end());
			cut = true;
		}
		room -= targets.size();
		services.back().targets = std::move(targets);
	}
	return services;
}

PullResult Pull::pullResult()
{
	PullResult pullResult;
	for (auto &[address, tree] : trees_) {
		const bool known = tree.cut;
		std::ranges::move(recordsOf(tree, tree.cut), std::back_inserter(pullResult.services));
		if (tree.cut && !known)
			runtime::say(LOG_WARNING, fmt::format("the discovery service {}: {}", address, tooMany()));
	}
	std::set<std::string> owners;
	for (const auto &[key, port] : model_.targets())
		if (port.target.origin.source == "pull")
			owners.insert(port.target.origin.owner);
	std::ranges::copy_if(owners, std::back_inserter(pullResult.gone),
			     [this](const auto &owner) { return isGone(owner); });
	return pullResult;
}

void Pull::logTrouble(Node &node)
{
	const std::string &now = node.service->trouble();
	if (now == node.trouble)
		return;
	node.trouble = now;
	runtime::Fields fields;
	fields.service = node.owner;
	if (now.empty())
		runtime::say(LOG_NOTICE, fmt::format("the discovery service {} is read again", node.owner), fields);
	else
		runtime::say(
			LOG_WARNING,
			fmt::format("cannot read the discovery service {}; its records are kept: {}", node.owner, now),
			fields);
}

void Pull::evaluate()
{
	for (auto &[address, tree] : trees_) {
		follow(tree);
		for (auto &[service, node] : tree.nodes)
			logTrouble(node);
	}
	choosePorts();
	if (writing_)
		return;
	std::vector<Change> changes = difference(pullResult(), model_);
	if (changes.empty())
		return writeTrouble_.clear();
	writing_ = true;
	write_(std::move(changes), [alive = std::weak_ptr(alive_)](const Result<void> &done) {
		if (const auto pull = alive.lock())
			(*pull)->written(done);
	});
}

void Pull::written(const Result<void> &done)
{
	writing_ = false;
	const std::string before = std::exchange(
		writeTrouble_, done ? "" : "its records cannot be written to the store: " + done.error().message);
	if (!done && before.empty())
		runtime::say(LOG_WARNING, "cannot write the records of other discovery services to the store: " +
						  done.error().message);
	if (done && !before.empty())
		runtime::say(LOG_NOTICE, "the records of other discovery services are written again");
	if (!done)
		return timer_.start(backoff_.next());
	backoff_.reset();
	soon();
}

std::vector<PullState> Pull::state() const
{
	std::vector<PullState> all;
	for (const auto &[address, tree] : trees_)
		for (const auto &[service, node] : tree.nodes) {
			PullState one{.owner = node.owner, .trouble = node.service->trouble()};
			if (one.trouble.empty())
				one.trouble = tree.cut && node.depth == 0 ? tooMany() : writeTrouble_;
			one.watched = node.service->watched();
			one.readAt = node.service->readAt();
			if ((one.read = node.service->entries().has_value())) {
				one.generation = node.service->generation();
				one.entries = node.service->entries()->size();
				one.usable = targetsOf(tree, node).size();
			}
			all.push_back(std::move(one));
		}
	return all;
}

// ---- changes of the model

namespace {

using Wanted = std::map<std::string, const Target *>; // by key

const Target *modelled(const Model &model, const std::string &key)
{
	auto found = model.targets().find(key);
	return found == model.targets().end() ? nullptr : &found->second.target;
}

bool isPulled(const Target &target)
{
	return target.origin.source == "pull";
}

// If several services report a port, the current owner keeps the record, so that it does not flap.
Wanted wantedOf(const PullResult &pullResult, const Model &model)
{
	Wanted wanted;
	for (const ServiceRecords &service : pullResult.services) {
		if (!service.targets)
			continue;
		for (const Target &target : *service.targets) {
			auto [at, fresh] = wanted.emplace(target.key(), &target);
			const Target *had = modelled(model, at->first);
			if (!fresh && had && isPulled(*had) && had->origin.owner == service.owner)
				at->second = &target;
		}
	}
	return wanted;
}

// Owners whose records are removed when no service reports them any more
std::set<std::string> knownOwners(const PullResult &pullResult)
{
	std::set<std::string> owners(pullResult.gone.begin(), pullResult.gone.end());
	for (const ServiceRecords &service : pullResult.services)
		if (service.targets)
			owners.insert(service.owner);
	return owners;
}

} // namespace

std::vector<Change> difference(const PullResult &pullResult, const Model &model)
{
	const Wanted wanted = wantedOf(pullResult, model);
	const std::set<std::string> known = knownOwners(pullResult);
	std::vector<Change> changes;
	for (const auto &[key, target] : wanted) {
		const Target *had = modelled(model, key);
		const bool ours = !had || (isPulled(*had) && (known.contains(had->origin.owner)));
		if (ours && (!had || *had != *target))
			changes.push_back(changeOf(*target));
	}
	for (const auto &[key, port] : model.targets())
		if (isPulled(port.target) && known.contains(port.target.origin.owner) && !wanted.contains(key))
			changes.push_back({key, std::nullopt});
	return changes;
}

// ---- ANA logs

namespace {

constexpr std::uint64_t maxLogSize = 1u << 20; // bytes: ANAGRPMAX and MNAN may be anything
constexpr std::uint32_t groupSize = 32, headerSize = 16;
constexpr std::uint8_t asymmetric = 1 << 3; // CMIC
constexpr AnaState order[] = {ana_optimized, ana_non_optimized, ana_change, ana_inaccessible, ana_persistent_loss};

SessionOptions portOptions(const std::string &nqn)
{
	SessionOptions options;
	options.subsysnqn = nqn;
	options.discovery = false;
	options.events = wantAnaChanges;
	return options;
}

// Length of the log in bytes, from the limits in Identify Controller
std::uint32_t lengthFor(const ControllerInfo &info)
{
	const std::uint64_t namespaces = info.maxNamespaces ? info.maxNamespaces : info.namespaces;
	const std::uint64_t all = headerSize + std::uint64_t(info.anaGroups) * groupSize + namespaces * sizeof(Le32);
	return info.maxTransfer(static_cast<std::uint32_t>(std::min(all, maxLogSize))) & ~3u;
}

} // namespace

AnaState bestState(const AnaLog &log)
{
	for (AnaState state : order)
		if (std::ranges::any_of(log.groups,
					[state](const AnaGroup &g) { return g.state == state && !g.nsids.empty(); }))
			return state;
	return ana_optimized;
}

PullPort::PullPort(Shared &shared, const WatchTimes &times, const HostIdentity &who, const Endpoint &endpoint,
		   const std::string &nqn, std::function<void()> onRead)
	: Watcher(shared, times, who, endpoint, portOptions(nqn)), onRead_(std::move(onRead))
{
}

// A controller without ANA fails the command; its paths count as optimized.
void PullPort::read()
{
	log_.clear();
	const std::uint32_t length = lengthFor(session().info());
	session().run(getLog(log_ana, 0, length), length);
}

void PullPort::data(std::uint32_t, Data data)
{
	append(log_, data);
}

Watcher::Outcome PullPort::fail(const Failure &failure)
{
	failure_ = failure;
	failure_.step = Step::live;
	return Outcome::failed;
}

Watcher::Outcome PullPort::part(const Completion &completion)
{
	const auto status = static_cast<std::uint16_t>(completion.status >> 1);
	if (status && !(session().info().cmic & asymmetric)) {
		state_ = ana_optimized;
		return Outcome::read;
	}
	if (status)
		return fail(failureOfStatus(status, "the ANA log"));
	const auto log = parseAnaLog(log_);
	log_ = {};
	if (!log)
		return fail({Reason::unusable, Step::live, 0, "the ANA log is invalid"});
	state_ = bestState(*log);
	return Outcome::read;
}

// ---- discovery logs

namespace {

constexpr std::uint32_t maxPieceSize = 1u << 20;

SessionOptions serviceOptions(const std::string &nqn)
{
	SessionOptions options;
	options.subsysnqn = nqn;
	options.events = wantDiscoveryChanges;
	return options;
}

} // namespace

PullService::PullService(Shared &shared, const WatchTimes &times, const HostIdentity &who, const Endpoint &endpoint,
			 const std::string &nqn, std::function<void()> onRead)
	: Watcher(shared, times, who, endpoint, serviceOptions(nqn)), reader_(session(), *this),
	  onRead_(std::move(onRead))
{
}

void PullService::read()
{
	reading_.clear();
	reader_.start(maxPieceSize);
}

Watcher::Outcome PullService::part(const Completion &completion)
{
	switch (reader_.done(completion)) {
	case DiscoveryReader::Outcome::going:
		return Outcome::going;
	case DiscoveryReader::Outcome::whole:
		return Outcome::read;
	case DiscoveryReader::Outcome::torn:
		return Outcome::torn;
	case DiscoveryReader::Outcome::failed:
		break;
	}
	return Outcome::failed;
}

void PullService::changed()
{
	Entries entries(reading_.size() / sizeof(DiscoveryEntry));
	std::memcpy(static_cast<void *>(entries.data()), reading_.data(), entries.size() * sizeof(DiscoveryEntry));
	entries_ = std::move(entries);
	reading_ = {};
	onRead_();
}

} // namespace cdc
