// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon.h"

#include <algorithm>
#include <cerrno>
#include <syslog.h>

#include <fmt/format.h>
#include <systemd/sd-daemon.h>

#include <nvmeof/address.h>
#include <nvmeof/difference.h>
#include <nvmeof/identity.h>

#include "connections.h"
#include "libctl/base/file.h"
#include "libctl/base/jitter.h"
#include "libctl/runtime/journal.h"

using namespace nvmeof;
using namespace std::chrono_literals;

namespace nvmeofd {

using namespace runtime;

namespace {

// Changes within this time are handled together; short, so that the first one is not delayed much
constexpr std::chrono::milliseconds planDebounce = 5ms;
constexpr std::chrono::milliseconds saveDelay = 1s;
constexpr std::chrono::milliseconds endPatience = 1s; // limit of the wait for the disk
// Interval of checks whether a disk is still open, if a controller stays only because of that
constexpr std::chrono::milliseconds openCheckInterval = 10s;
// Interval of checks which interfaces rails have now
constexpr std::chrono::milliseconds railInterval = 30s;
// Limit of services that are no longer in the plan, whose logs are kept in case they return
constexpr std::size_t maxUnplannedServices = 256;

std::size_t entriesOf(const KnownService &known)
{
	return known.log ? known.log->entries.size() : 0;
}

} // namespace

Result<DiscoveryLog> boundedLog(const Plan &plan, const KnownServices &known, const std::string &key, DiscoveryLog log)
{
	constexpr std::size_t maxUnusable = 256; // as many as Plan::refusals
	std::size_t unusable = 0, entries = 0;
	std::erase_if(log.entries,
		      [&](const DiscoveryEntry &entry) { return !entry.defect.empty() && ++unusable > maxUnusable; });
	log.entries.shrink_to_fit();
	auto self = std::ranges::find(plan.services, key, &PlannedService::key);
	for (const PlannedService &service : plan.services)
		if (self != plan.services.end() && service.root == self->root && service.key != key)
			if (auto there = known.find(service.key); there != known.end())
				entries += entriesOf(there->second);
	if (entries + log.entries.size() <= maxLogEntries)
		return log;
	return errorFromErrno(EFBIG,
			      fmt::format("its log has {} entries, and the logs of the other services of the same "
					  "configured service have {}: the limit is {}",
					  log.entries.size(), entries, maxLogEntries));
}

Daemon::Daemon(Loop &loop, Places places, Config config, Client client, Topology topology)
	: loop_(loop), places_(std::move(places)), client_(std::move(client)), topology_(std::move(topology)),
	  file_(places_.state / "last-known"), remembered_(load()), known_(remembered_.services),
	  mdnsServices_(remembered_.found, remembered_.displaced), eventLog_(places_.state / "events"),
	  resolver_(loop, client_, remembered_.addresses,
		    [this] {
			    saveSoon();
			    configured();
		    }),
	  keys_([this](const std::string &controller, const ControllerSettings &settings) {
		  return client_.startSet(controller, settings);
	  }),
	  connections_(loop, client_, keys_, [this] { reconcileSoon(); }),
	  mdns_(loop, [this](const std::vector<MdnsService> &services) { announced(services); }), stripes_(loop),
	  soon_(loop, [this] { reconcile(); }), openTimer_(loop, [this] { reconcile(); }),
	  saveTimer_(loop, [this] { save(); }), eventTimer_(loop, [this] { keepEvents(); }),
	  railTimer_(loop,
		     [this] {
			     spread();
			     configured();
		     }),
	  clientReadable_(loop, client_.fd(), [this] { client_.dispatch(); }),
	  topologyReadable_(loop, topology_.fd(), [this] { topologyChanged(); })
{
	eventLog_.add("daemon_started", std::chrono::system_clock::now());
	eventTimer_.startUnlessRunning(saveDelay);
	prepare(std::move(config));
	follow();
	configured();
}

void Daemon::prepare(Config config)
{
	asRead_ = std::move(config);
	configText_ = formatConfig(asRead_);
	rails_.clear();
	spread();
}

// Replaces rails by their interfaces, periodically: a link that was down may be up. A card of existing connections
// stays in the plan without a link, or while its driver is reloaded: the kernel retries these connections.
void Daemon::spread()
{
	railTimer_.stop();
	config_ = asRead_;
	if (std::ranges::all_of(config_.connections, [](const ConfigTarget &one) { return one.rail.empty(); }))
		return;
	std::set<std::string> used;
	for (const Controller &one : topology_.snapshot().controllers)
		used.insert(one.hostIface);
	const std::vector<std::string> notes =
		nofctl::gpu::spreadOverRails(config_, nofctl::gpu::FolderTree(), used, &rails_);
	for (const std::string &note : notes)
		if (std::ranges::find(railNotes_, note) == railNotes_.end())
			say(LOG_WARNING, note);
	railNotes_ = notes;
	railTimer_.start(nofctl::jittered(railInterval));
}

void Daemon::follow()
{
	std::vector<ConfigTarget> targets = config_.services;
	targets.insert(targets.end(), config_.connections.begin(), config_.connections.end());
	resolver_.follow(targets);
	const auto &interfaces = config_.mdnsInterfaces;
	mdns_.listen(config_.mdns || std::ranges::any_of(interfaces, [](const auto &one) { return one.second; }));
}

// Called when the configuration or a resolved address has changed
void Daemon::configured()
{
	wantedServices_.clear();
	fixed_.clear();
	holds_.clear();
	for (const ConfigTarget &target : config_.services)
		for (const std::string &text : target.addresses)
			for (const Address &address : resolver_.of(target, text)) {
				wantedServices_.push_back(serviceOptions(config_, target, address));
				holds_[serviceKey(wantedServices_.back())] = target.persistent;
			}
	for (const ConfigTarget &target : config_.connections)
		for (const std::string &text : target.addresses)
			for (const Address &address : resolver_.of(target, text))
				fixed_.push_back(connectionOptions(config_, target, address));
	reconcileSoon();
}

// Whether the last read of the service failed, or there was none
bool Daemon::silent(const std::string &key) const
{
	auto known = known_.find(key);
	return known == known_.end() || known->second.failed;
}

void Daemon::announced(const std::vector<MdnsService> &services)
{
	const std::size_t refused = mdnsServices_.refused();
	const bool displaced = mdnsServices_.displaced();
	for (const MdnsService &one :
	     mdnsServices_.announce(services, [this](const std::string &key) { return silent(key); }))
		say(mdnsLimit_, LOG_INFO,
		    fmt::format("mDNS: discovery service {} on {}", serviceKey(one.options), one.interface),
		    {.service = serviceKey(one.options)});
	if (mdnsServices_.refused() && !refused)
		say(mdnsLimit_, LOG_WARNING,
		    fmt::format(
			    "mDNS: {} discovery services are not used, and nothing is disconnected: the limit is {}; "
			    "'nvmeofctl daemon rescan' removes those that no longer answer",
			    mdnsServices_.refused(), MdnsServices::max));
	if (mdnsServices_.displaced() && !displaced)
		say(LOG_WARNING,
		    fmt::format(
			    "mDNS: a discovery service that no longer answers was displaced by a new one, and nothing "
			    "is disconnected until 'nvmeofctl daemon rescan': the limit is {}",
			    MdnsServices::max));
	saveSoon();
	reconcileSoon();
}

Result<Reloaded> Daemon::reload()
{
	Result<Config> config = readConfig(places_.config);
	if (!config)
		return config.error();
	const std::string before = configText_;
	const Plan planned = makePlan();
	prepare(*std::move(config));
	connections_.forget();
	restarts_.forget();
	reloaded_ = true;
	stripes_.forget();
	follow();
	configured();
	const Plan plan = makePlan();
	Reloaded reloaded = planChanges(planned, plan);
	std::vector<PlannedConnection> keyed = plan.connections;
	for (const PlannedService &service : plan.services)
		keyed.push_back({service.options, {}});
	reloaded.rekeyed = keys_.update(keyed, topology_.snapshot().controllers);
	reloaded.changes = configChanges(before, configText_);
	reloaded.notes = config_.notes;
	tell(reloaded);
	eventLog_.add("daemon_reloaded", std::chrono::system_clock::now());
	eventTimer_.startUnlessRunning(saveDelay);
	return reloaded;
}

void Daemon::tell(const Reloaded &reloaded) const
{
	constexpr std::size_t maxLines = 32;
	const std::vector<std::string> lines = linesOf(reloaded);
	for (std::size_t i = 0; i < std::min(lines.size(), maxLines); i++)
		say(LOG_NOTICE, "configuration: " + lines[i]);
	if (lines.size() > maxLines)
		say(LOG_NOTICE, fmt::format("configuration: and {} more", lines.size() - maxLines));
}

void Daemon::rescan()
{
	for (const auto &[key, service] : services_)
		service->readSoon();
	mdnsServices_.forget([this](const std::string &key) { return silent(key); });
	saveSoon();
	mdns_.refresh();
	connections_.forget();
	restarts_.forget();
	resolver_.refresh();
	reconcileSoon();
}

void Daemon::pause(bool on)
{
	if (paused_ == on)
		return;
	paused_ = on;
	say(LOG_NOTICE, on ? "paused: nothing is connected or disconnected" : "no longer paused");
	reconcileSoon();
}

bool Daemon::topologyChanged()
{
	Result<std::vector<TopologyEvent>> events = topology_.dispatch();
	if (!events) {
		say(LOG_ERR, fmt::format("the kernel module is not available: {}", events.error().message));
		loop_.end(1);
		return false;
	}
	for (const TopologyEvent &one : *events) {
		eventLog_.add(one.event, std::chrono::system_clock::now(), bootTime());
		event(one.event);
	}
	if (eventLog_.pending())
		eventTimer_.startUnlessRunning(saveDelay);
	return true;
}

void Daemon::event(const Event &event)
{
	for (const auto &[key, service] : services_)
		service->event(event);
	connections_.event(event);
	if (event.controller() && event.type == EventType::removed)
		keys_.removed(event.name());
	// the difference between the kernel's state and the plan may have changed
	const bool member = (event.nameSpace() && !config_.stripes.empty()) || (event.path() && stripes_.waiting());
	if (event.type == EventType::synced || (event.controller() && event.type == EventType::removed) || member)
		reconcileSoon();
}

void Daemon::reconcileSoon()
{
	soon_.startUnlessRunning(planDebounce);
}

PlanRules Daemon::rules() const
{
	PlanRules rules = planRules(config_);
	Result<std::string> hostnqn = config_.hostnqn ? Result<std::string>(*config_.hostnqn) : readHostnqn();
	if (hostnqn)
		rules.hostnqn = *hostnqn;
	rules.owner = owner;
	rules.ownAddresses = ownAddresses();
	rules.present = presence(topology_.snapshot().controllers);
	return rules;
}

Plan Daemon::makePlan() const
{
	std::vector<ConnectOptions> services = wantedServices_;
	const std::vector<ConnectOptions> found = mdnsServices_.wanted(config_);
	services.insert(services.end(), found.begin(), found.end());
	Plan plan = planDiscovery(rules(), services, fixed_, known_);
	plan.complete = plan.complete && !mdnsServices_.incomplete();
	return plan;
}

void Daemon::reconcile()
{
	// includes connects that were just requested
	if (!topologyChanged() || !topology_.synced())
		return;
	if (!ready_ && railTimer_.running()) { // the existing connections were not known before
		spread();
		configured();
	}
	plan_ = makePlan();
	if (!ready_)
		forget(false);
	serve(plan_);
	pruneKnownServices();
	forget(true);
	if (!paused_)
		connections_.apply(difference(), plan_.connections, serviceRules(), topology_.snapshot().controllers);
	stripes_.apply(config_.stripes, topology_.snapshot());
	if (!ready_)
		sd_notify(0, "READY=1");
	ready_ = true;
	sd_notify(0, fmt::format("STATUS={} services, {} connections planned{}", plan_.services.size(),
				 plan_.connections.size(), paused_ ? ", paused" : "")
			     .c_str());
}

// Whether a service is connected anew, because it has other options now. Those of a referral or mDNS record are up to
// peers, and mDNS is not authenticated: they do not end the connection to a service that answers.
bool Daemon::replaces(const PlannedService &planned, const DiscoveryService &service) const
{
	if (service.serves(planned, hold(planned.key)))
		return false;
	return reloaded_ || holds_.contains(planned.key) || silent(planned.key);
}

// Each planned service has an object, except one on standby.
void Daemon::serve(const Plan &plan)
{
	const auto now = Restarts::Clock::now();
	std::map<std::string, const PlannedService *> wanted; // by key
	for (const PlannedService &planned : plan.services)
		if (planned.state != PlannedService::State::standby)
			wanted.emplace(planned.key, &planned);
	for (auto it = services_.begin(); it != services_.end();) {
		auto planned = wanted.find(it->first);
		if (planned != wanted.end() && !replaces(*planned->second, *it->second)) {
			++it;
			continue;
		}
		if (planned != wanted.end())
			say(servicesLimit_, LOG_NOTICE,
			    fmt::format("discovery service {}: its options have changed: connecting anew", it->first),
			    {.service = it->first});
		it->second->leave();
		if (!reloaded_)
			restarts_.stopped(it->first, now);
		it = services_.erase(it);
	}
	for (const auto &[key, planned] : wanted)
		if (!services_.contains(key))
			makeService(*planned, restarts_.delay(key, now));
	reloaded_ = false;
}

// The [[security]] rules of services, by their controllers
SecurityRules Daemon::serviceRules() const
{
	SecurityRules rules;
	for (const PlannedService &planned : plan_.services)
		if (auto made = services_.find(planned.key);
		    made != services_.end() && !made->second->controller().empty()) {
			const DiscoveryService &service = *made->second;
			const bool current = service.wanted().subsysnqn == planned.options.subsysnqn;
			rules.emplace(service.controller(), &(current ? planned.options : service.wanted()).security);
		}
	return rules;
}

// Disconnects discovery controllers of an earlier daemon that no service uses: with @kept those with a keep-alive
// timer, otherwise those that were temporary when it ended.
void Daemon::forget(bool kept)
{
	for (const Controller &one : topology_.snapshot().controllers) {
		if (one.owner != owner || one.subsysnqn != discoveryNqn || (one.keepAlive.count() != 0) != kept ||
		    isEnding(one.state))
			continue;
		auto has = [&](const auto &service) { return service.second->controller() == one.name; };
		if (std::ranges::none_of(services_, has))
			client_.startDisconnect(one.name);
	}
}

// Bounded: a service may refer to ever new services.
void Daemon::pruneKnownServices()
{
	std::set<std::string> keys;
	for (const PlannedService &planned : plan_.services)
		keys.insert(planned.key);
	std::size_t services = 0, entries = 0; // not planned
	for (const auto &[key, known] : known_)
		if (!keys.contains(key)) {
			services++;
			entries += entriesOf(known);
		}
	if (services <= maxUnplannedServices && entries <= maxLogEntries)
		return;
	std::erase_if(known_, [&](const auto &one) { return !keys.contains(one.first); });
	std::erase_if(read_, [&](const std::string &key) { return !keys.contains(key); });
}

std::optional<bool> Daemon::hold(const std::string &key) const
{
	auto found = holds_.find(key);
	return found == holds_.end() ? std::nullopt : found->second;
}

void Daemon::makeService(const PlannedService &planned, std::chrono::milliseconds delay)
{
	DiscoveryService::Callbacks callbacks{
		.told = [this, key = planned.key](DiscoveryLog log) { return told(key, std::move(log)); },
		.failed =
			[this, key = planned.key] {
				known_[key].failed = true;
				reconcileSoon();
			},
	};
	auto service =
		std::make_unique<DiscoveryService>(loop_, client_, planned, hold(planned.key), std::move(callbacks));
	DiscoveryService &made = *service;
	services_[planned.key] = std::move(service);
	made.begin(delay);
}

Result<void> Daemon::told(const std::string &key, DiscoveryLog log)
{
	Result<DiscoveryLog> bounded = boundedLog(plan_, known_, key, std::move(log));
	if (!bounded)
		return bounded.error();
	log = *std::move(bounded);
	KnownService &known = known_[key];
	bool first = read_.insert(key).second;
	if (first || !known.log || known.log->generation != log.generation || known.failed)
		say(LOG_INFO,
		    fmt::format("discovery service {}: {} entries, generation {}", key, log.entries.size(),
				log.generation),
		    {.service = key});
	known.log = std::move(log);
	known.failed = false;
	saveSoon();
	reconcileSoon();
	return {};
}

// Logs from the last-known file may be out of date: until all services were read, nothing is disconnected.
bool Daemon::fresh() const
{
	return std::ranges::all_of(plan_.services, [&](const PlannedService &one) {
		return one.state == PlannedService::State::standby || read_.contains(one.key);
	});
}

// The topology does not report open disks: before a disconnect a new snapshot is read, periodically for as long as an
// open disk prevents it.
std::vector<Change> Daemon::difference()
{
	DifferenceRules rules = differenceRules(config_);
	rules.owner = owner;
	// a service may have its own NQN, whether configured, found by mDNS or referred to
	for (const PlannedService &service : plan_.services)
		if (!service.options.subsysnqn.empty())
			rules.discoveryNqns.push_back(service.options.subsysnqn);
	for (const auto &[key, service] : services_)
		if (!service->wanted().subsysnqn.empty())
			rules.discoveryNqns.push_back(service->wanted().subsysnqn);
	bool complete = plan_.complete && fresh() && resolver_.failures().empty();
	auto compare = [&](const Snapshot &present, bool removeOpen) {
		rules.removeOpen = removeOpen;
		return differenceBetween(rules, plan_.connections, complete, present);
	};
	auto goes = [](const Change &change) { return change.kind == Change::Kind::disconnect; };
	std::vector<Change> changes = compare(topology_.snapshot(), true);
	if (std::ranges::none_of(changes, goes))
		return changes;
	Result<Snapshot> now = readSnapshot();
	if (!now) {
		std::erase_if(changes, goes);
		return changes;
	}
	changes = compare(*now, config_.removeOpen);
	if (std::ranges::count_if(changes, goes) < std::ranges::count_if(compare(*now, true), goes))
		openTimer_.start(nofctl::jittered(openCheckInterval));
	return changes;
}

// An unusable file is kept for analysis.
LastKnown Daemon::load()
{
	nofctl::removeUnfinished(file_.path()); // left by a killed daemon
	Result<LastKnown> known = readLastKnown(file_.path());
	if (known)
		return *std::move(known);
	if (known.error().code == ErrorCode::noSuchObject)
		return {};
	std::filesystem::path aside = file_.path();
	aside += ".bad";
	std::error_code error;
	std::filesystem::rename(file_.path(), aside, error);
	say(LOG_WARNING, fmt::format("{} is unusable and was moved to {}: {}", file_.path().string(), aside.string(),
				     known.error().message));
	return {};
}

void Daemon::end()
{
	unsaved_ = true;
	save();
	eventLog_.add("daemon_ended", std::chrono::system_clock::now());
	(void)eventLog_.writeAndWait(endPatience);
	(void)file_.writeAndWait(endPatience);
	for (const auto &[key, service] : services_)
		service->abandon();
}

void Daemon::keepEvents()
{
	Result<void> written = eventLog_.write();
	if (!written && eventLog_.failedWrites() == 1)
		say(LOG_WARNING, "cannot write " + written.error().message);
	if (eventLog_.pending())
		eventTimer_.start(eventLog_.delay());
}

void Daemon::saveSoon()
{
	unsaved_ = true;
	saveTimer_.startUnlessRunning(saveDelay);
}

// Saves the logs of planned services only; those of others are obsolete.
void Daemon::save()
{
	if (std::exchange(unsaved_, false)) {
		LastKnown known{{}, resolver_.known(), mdnsServices_.all(), mdnsServices_.displaced()};
		for (const PlannedService &planned : plan_.services)
			if (auto found = known_.find(planned.key); found != known_.end() && found->second.log)
				known.services.insert(*found);
		file_.put(std::move(known));
	}
	Result<void> written = file_.write();
	if (!written && file_.failedWrites() == 1)
		say(LOG_WARNING, "cannot write " + written.error().message);
	if (file_.pending())
		saveTimer_.start(file_.delay());
}

Status Daemon::status() const
{
	return {config_,       plan_, services_, connections_,         known_,
		mdnsServices_, mdns_, stripes_,  topology_.snapshot(), resolver_.failures(),
		paused_};
}

} // namespace nvmeofd
