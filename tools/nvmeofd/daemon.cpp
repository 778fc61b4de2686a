// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon.h"

#include <algorithm>
#include <syslog.h>

#include <fmt/format.h>
#include <systemd/sd-daemon.h>

#include <nvmeof/address.h>
#include <nvmeof/difference.h>
#include <nvmeof/identity.h>

#include "connections.h"
#include "libctl/base/file.h"
#include "libctl/base/jitter.h"
#include "libctl/gpu/rails.h"
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
// Limit of services that are no longer in the plan, whose logs are kept in case they return
constexpr std::size_t maxUnplannedServices = 256;

} // namespace

Daemon::Daemon(Loop &loop, Places places, Config config, Client client, Topology topology)
	: loop_(loop), places_(std::move(places)), client_(std::move(client)), topology_(std::move(topology)),
	  remembered_(load()), known_(remembered_.services), mdnsServices_(remembered_.found),
	  eventLog_(places_.state / "events"), resolver_(loop, client_, remembered_.addresses,
							 [this] {
								 saveTimer_.startUnlessRunning(saveDelay);
								 configured();
							 }),
	  keys_([this](const std::string &controller, const ControllerSettings &settings) {
		  return client_.startSet(controller, settings);
	  }),
	  connections_(loop, client_, keys_, [this] { reconcileSoon(); }),
	  mdns_(loop, [this](const std::vector<MdnsService> &services) { announced(services); }), stripes_(loop),
	  soon_(loop, [this] { reconcile(); }), openTimer_(loop, [this] { reconcile(); }),
	  saveTimer_(loop, [this] { save(); }), eventTimer_(loop, [this] { keepEvents(); }),
	  clientReadable_(loop, client_.fd(), [this] { client_.dispatch(); }),
	  topologyReadable_(loop, topology_.fd(), [this] { topologyChanged(); })
{
	eventLog_.add("daemon_started", std::chrono::system_clock::now());
	eventTimer_.startUnlessRunning(saveDelay);
	prepare(std::move(config));
	follow();
	configured();
}

// GPUs and NICs that appear later are seen by the next reload.
void Daemon::prepare(Config config)
{
	config_ = std::move(config);
	configText_ = formatConfig(config_);
	for (const std::string &note : nofctl::gpu::spreadOverRails(config_, nofctl::gpu::FolderTree()))
		say(LOG_WARNING, note);
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

void Daemon::announced(const std::vector<MdnsService> &services)
{
	for (const MdnsService &one : mdnsServices_.announce(services))
		say(LOG_INFO, fmt::format("mDNS: discovery service {} on {}", serviceKey(one.options), one.interface),
		    {.service = serviceKey(one.options)});
	saveTimer_.startUnlessRunning(saveDelay);
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
	mdnsServices_.forget([this](const std::string &key) {
		auto known = known_.find(key);
		return known == known_.end() || known->second.failed;
	});
	mdns_.refresh();
	connections_.forget();
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
	const bool disk = event.nameSpace() && !config_.stripes.empty();
	if (event.type == EventType::synced || (event.controller() && event.type == EventType::removed) || disk)
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
	rules.present = [this](const ConnectOptions &options) {
		const std::vector<Controller> &all = topology_.snapshot().controllers;
		return std::ranges::any_of(all, [&](const Controller &one) { return isConnection(one, options); });
	};
	return rules;
}

Plan Daemon::makePlan() const
{
	std::vector<ConnectOptions> services = wantedServices_;
	const std::vector<ConnectOptions> found = mdnsServices_.wanted(config_);
	services.insert(services.end(), found.begin(), found.end());
	return planDiscovery(rules(), services, fixed_, known_);
}

void Daemon::reconcile()
{
	// includes connects that were just requested
	if (!topologyChanged() || !topology_.synced())
		return;
	plan_ = makePlan();
	if (!ready_)
		forget(false);
	serve(plan_);
	pruneKnownServices();
	forget(true);
	if (!paused_)
		connections_.apply(difference(), plan_.connections, topology_.snapshot().controllers);
	stripes_.apply(config_.stripes, topology_.snapshot());
	if (!ready_)
		sd_notify(0, "READY=1");
	ready_ = true;
	sd_notify(0, fmt::format("STATUS={} services, {} connections planned{}", plan_.services.size(),
				 plan_.connections.size(), paused_ ? ", paused" : "")
			     .c_str());
}

// Each planned service has an object, except one on standby.
void Daemon::serve(const Plan &plan)
{
	std::set<std::string> keys;
	for (const PlannedService &planned : plan.services)
		if (planned.state != PlannedService::State::standby)
			keys.insert(planned.key);
	for (auto it = services_.begin(); it != services_.end();) {
		if (keys.contains(it->first)) {
			++it;
			continue;
		}
		it->second->leave();
		it = services_.erase(it);
	}
	for (const PlannedService &planned : plan.services)
		if (keys.contains(planned.key) && !services_.contains(planned.key))
			makeService(planned);
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
	if (known_.size() <= plan_.services.size() + maxUnplannedServices)
		return;
	std::set<std::string> keys;
	for (const PlannedService &planned : plan_.services)
		keys.insert(planned.key);
	std::erase_if(known_, [&](const auto &one) { return !keys.contains(one.first); });
	std::erase_if(read_, [&](const std::string &key) { return !keys.contains(key); });
}

std::optional<bool> Daemon::hold(const std::string &key) const
{
	auto found = holds_.find(key);
	return found == holds_.end() ? std::nullopt : found->second;
}

void Daemon::makeService(const PlannedService &planned)
{
	DiscoveryService::Callbacks callbacks{
		.told = [this, key = planned.key](DiscoveryLog log) { told(key, std::move(log)); },
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
	made.begin();
}

void Daemon::told(const std::string &key, DiscoveryLog log)
{
	KnownService &known = known_[key];
	bool first = read_.insert(key).second;
	if (first || !known.log || known.log->generation != log.generation || known.failed)
		say(LOG_INFO,
		    fmt::format("discovery service {}: {} entries, generation {}", key, log.entries.size(),
				log.generation),
		    {.service = key});
	known.log = std::move(log);
	known.failed = false;
	saveTimer_.startUnlessRunning(saveDelay);
	reconcileSoon();
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

std::filesystem::path Daemon::file() const
{
	return places_.state / "last-known";
}

// An unusable file is kept for analysis.
LastKnown Daemon::load()
{
	nofctl::removeUnfinished(file()); // left by a killed daemon
	Result<LastKnown> known = readLastKnown(file());
	if (known)
		return *std::move(known);
	if (known.error().code == ErrorCode::noSuchObject)
		return {};
	std::filesystem::path aside = file();
	aside += ".bad";
	std::error_code error;
	std::filesystem::rename(file(), aside, error);
	say(LOG_WARNING, fmt::format("{} is unusable and was moved to {}: {}", file().string(), aside.string(),
				     known.error().message));
	return {};
}

void Daemon::end()
{
	save();
	eventLog_.add("daemon_ended", std::chrono::system_clock::now());
	(void)eventLog_.writeAndWait(endPatience);
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

// Saves the logs of planned services only; those of others are obsolete.
void Daemon::save()
{
	LastKnown known{{}, resolver_.known(), mdnsServices_.all()};
	for (const PlannedService &planned : plan_.services)
		if (auto found = known_.find(planned.key); found != known_.end() && found->second.log)
			known.services.insert(*found);
	std::string text = formatLastKnown(known);
	if (text == saved_)
		return;
	Result<void> written = writeLastKnown(file(), text);
	if (written)
		saved_ = std::move(text);
	else
		say(LOG_WARNING, "cannot write " + written.error().message);
}

Status Daemon::status() const
{
	return {config_,       plan_, services_, connections_,         known_,
		mdnsServices_, mdns_, stripes_,  topology_.snapshot(), resolver_.failures(),
		paused_};
}

} // namespace nvmeofd
