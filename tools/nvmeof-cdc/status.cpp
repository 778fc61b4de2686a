// SPDX-License-Identifier: LGPL-2.1-or-later
#include "status.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <unordered_map>

#include "libctl/runtime/exposition.h"
#include "libctl/runtime/loop.h"
#include "wall_clock.h"

namespace cdc {

namespace {

constexpr CounterText counterTable[] = {
	{"connections", &Counters::accepted, "Accepted connections"},
	{"connections_refused", &Counters::tooMany, "Connections closed at once because of a limit"},
	{"hosts", &Counters::hosts, "Connect commands that succeeded"},
	{"hosts_refused", &Counters::refused, "Connect commands that failed"},
	{"hosts_refused_no_key", &Counters::refusedNoKey,
	 "Hosts that were refused because they must authenticate themselves, and have no key here"},
	{"hosts_refused_bad_key", &Counters::refusedBadKey, "Hosts that were refused because their key is unusable"},
	{"hosts_refused_plain", &Counters::refusedPlain, "Hosts that were refused because they did not use TLS"},
	{"hosts_refused_identity", &Counters::refusedIdentity,
	 "Hosts that were refused because the identity that they used in TLS is another one"},
	{"tls_handshakes", &Counters::tlsHandshakes, "TLS handshakes that succeeded"},
	{"tls_handshakes_failed", &Counters::tlsFailed, "TLS handshakes that failed, or did not end in time"},
	{"tls_handshakes_busy", &Counters::tlsBusy,
	 "Connections that were closed because of too many TLS handshakes, in all or of one address"},
	{"authentications", &Counters::authenticated, "Authentications that succeeded"},
	{"authentications_failed", &Counters::authFailed, "Authentications that failed"},
	{"authentications_abandoned", &Counters::authAbandoned, "Authentications that the host did not complete"},
	{"authentications_busy", &Counters::authBusy,
	 "Hosts that were refused as busy because of too many authentications, in all or of one address"},
	{"commands_unauthenticated", &Counters::unauthenticated,
	 "Commands that were refused because the host had not authenticated itself"},
	{"sessions_revoked", &Counters::revoked, "Sessions that ended because changed rules or keys do not allow them"},
	{"hosts_waited", &Counters::waited, "Hosts that waited for admission"},
	{"hosts_busy", &Counters::busy, "Hosts that were refused as busy, to connect again later"},
	{"log_reads", &Counters::logReads, "Reads of the discovery log"},
	{"sent_bytes", &Counters::bytesSent, "Bytes sent to hosts"},
	{"events", &Counters::events, "Events sent to hosts"},
	{"registrations", &Counters::registrations, "Registrations of hosts and of discovery controllers"},
	{"registrations_refused", &Counters::registrationsRefused, "Refused registrations"},
	{"registrations_deferred", &Counters::deferred,
	 "Registrations deferred because of too many at once or from one address"},
	{"faults", &Counters::faults, "Connections closed because of a protocol error"},
	{"late", &Counters::late, "Connections closed because of a timeout"},
	{"changes", &Counters::pushed, "Announcements of changes to hosts"},
	{"changes_merged", &Counters::merged,
	 "Changes that followed others fast and were announced together with them"},
};

template <typename T> void putUnless(Json &json, const char *key, const T &value, const T &usual)
{
	if (value != usual)
		json[key] = value;
}

Json instanceJson(const Snapshot &snapshot)
{
	Json json{{"id", snapshot.identity.id}, {"nqn", snapshot.identity.nqn},  {"version", snapshot.identity.version},
		  {"since", snapshot.since},    {"draining", snapshot.draining}, {"addresses", Json::array()}};
	auto found = snapshot.model->instances().find(std::string(prefixOf(Kind::instance)) + snapshot.identity.id);
	if (found != snapshot.model->instances().end())
		json["addresses"] = found->second.instance.addresses;
	return json;
}

Json storeJson(const StoreState &store)
{
	Json json{{"engine", store.engine}, {"place", store.place}, {"writable", store.writable}};
	putUnless(json, "trouble", store.trouble, std::string());
	putUnless(json, "stale_since", store.staleSince, std::int64_t(0));
	putUnless(json, "aged_since", store.staleSince, std::int64_t(0)); // the old name, for one version
	return json;
}

Json pullsJson(const std::vector<PullState> &pulls)
{
	Json list = Json::array();
	for (const PullState &pull : pulls) {
		Json json{{"service", pull.owner},
			  {"read", pull.read},
			  {"watched", pull.watched},
			  {"entries", pull.entries},
			  {"targets", pull.usable}};
		putUnless(json, "read_at", pull.readAt, std::int64_t(0));
		putUnless(json, "generation", pull.generation, std::uint64_t(0));
		putUnless(json, "trouble", pull.trouble, std::string());
		list.push_back(std::move(json));
	}
	return list;
}

Json countersJson(const Snapshot &snapshot)
{
	Json json = Json::object();
	for (std::size_t i = 0; i < snapshot.counters.size(); i++)
		json[counterTable[i].name] = snapshot.counters[i];
	json["exceptions"] = snapshot.exceptions;
	return json;
}

Json countsJson(const Snapshot &snapshot, const Visibility &visibility)
{
	std::map<std::string, std::size_t> states{{"current", 0}, {"behind", 0}, {"unread", 0}, {"away", 0}};
	for (const HostStatus &host : visibility.hosts())
		states[host.state()]++;
	return {{"hosts", visibility.hosts().size()},
		{"current", states["current"]},
		{"behind", states["behind"]},
		{"unread", states["unread"]},
		{"away", states["away"]},
		{"cloned",
		 std::ranges::count_if(visibility.hosts(), [](const HostStatus &host) { return host.machines() > 1; })},
		{"registered", snapshot.model->hosts().size()},
		{"controllers", snapshot.sessions.size()},
		{"connections", snapshot.open},
		{"targets", snapshot.model->targets().size()},
		{"zones", snapshot.model->zones().size()},
		{"instances", snapshot.model->instances().size()},
		{"views", snapshot.views ? snapshot.views->pages() : 0}};
}

Json statusOf(const Snapshot &snapshot, const Visibility &visibility)
{
	return {{"instance", instanceJson(snapshot)},         {"time", snapshot.time},
		{"generation", snapshot.model->generation()}, {"serving", snapshot.views != nullptr},
		{"store", storeJson(snapshot.store)},         {"pulls", pullsJson(snapshot.pulls)},
		{"counts", countsJson(snapshot, visibility)}, {"counters", countersJson(snapshot)}};
}

// A document with one list: the generation and the list
Json listOf(const Snapshot &snapshot, const char *name, Json list)
{
	return {{"generation", snapshot.model->generation()}, {name, std::move(list)}};
}

Json connectionJson(const HostSession &session)
{
	Json json{{"address", session.address},       {"hostid", session.hostid},   {"cntlid", session.cntlid},
		  {"generation", session.generation}, {"current", session.current}, {"persistent", session.persistent}};
	if (session.proof)
		json["authentication"] = {{"hash", nofctl::dhchapHashName(session.proof->hash)},
					  {"dhgroup", nofctl::dhchapGroupName(session.proof->group)},
					  {"mutual", session.proof->mutual}};
	if (session.tls)
		json["tls"] = {{"cipher", session.tls->cipher}, {"identity", session.tls->identity}};
	return json;
}

Json hostLine(const Snapshot &snapshot, const Visibility &visibility, std::size_t i)
{
	const HostStatus &host = visibility.hosts()[i];
	Json json{{"nqn", host.nqn}, {"state", host.state()}};
	putUnless(json, "generation", host.generation(), std::uint64_t(0));
	json["persistent"] = host.persistent();
	if (host.machines() > 1)
		json["machines"] = host.machines();
	json["first_choice"] = snapshot.views && snapshot.views->firstChoice(host.nqn);
	return json;
}

Json hostJson(const Snapshot &snapshot, const Visibility &visibility, std::size_t i)
{
	const HostStatus &host = visibility.hosts()[i];
	Json json = hostLine(snapshot, visibility, i);
	if (const std::size_t view = visibility.viewOf(i); view != Visibility::npos) {
		json["zones"] = visibility.views()[view].zones->zones;
		json["targets"] = visibility.views()[view].targets.size();
	}
	json["connections"] = Json::array();
	for (const HostSession *session : host.sessions)
		json["connections"].push_back(connectionJson(*session));
	if (host.registered) {
		json["registration"] = host.registered->json();
		json["registration"].erase("nqn");
	}
	return json;
}

Json targetList(const Snapshot &snapshot, const Visibility &visibility)
{
	const std::vector<std::size_t> seen = visibility.visibleTo();
	Json list = Json::array();
	for (const auto &[key, port] : snapshot.model->targets()) {
		Json json = port.target.json();
		json["visible_to"] = seen[list.size()];
		json["seen_by"] = seen[list.size()]; // the old name, for one version
		list.push_back(std::move(json));
	}
	return list;
}

Json instanceList(const Snapshot &snapshot)
{
	Json list = Json::array();
	for (const auto &[key, service] : snapshot.model->instances()) {
		Json json = service.instance.json();
		json["self"] = service.instance.id == snapshot.identity.id;
		list.push_back(std::move(json));
	}
	return list;
}

Json changeList(const Snapshot &snapshot)
{
	Json list = Json::array();
	for (const ChangeEvent &changeEvent : snapshot.changeEvents)
		list.push_back(changeEventJson(changeEvent));
	return list;
}

Json viewList(const Visibility &visibility)
{
	Json list = Json::array();
	for (const Visibility::View &view : visibility.views())
		list.push_back({{"zones", view.zones->zones}, {"all", view.zones->all}, {"targets", view.targets}});
	return list;
}

struct ZoneHosts {
	std::size_t hosts = 0, connected = 0;
};

// By zone name; only zones of @hosts. Empty until the store has loaded
std::map<std::string, ZoneHosts> hostsOfZones(const Snapshot &snapshot, const std::vector<HostStatus> &hosts)
{
	std::map<std::string, ZoneHosts> zones;
	if (!snapshot.views)
		return zones;
	for (const HostStatus &host : hosts)
		for (const std::string &name : snapshot.views->zonesOf(host.nqn)->zones) {
			ZoneHosts &zone = zones[name];
			zone.hosts++;
			zone.connected += !host.sessions.empty();
		}
	return zones;
}

} // namespace

std::span<const CounterText> counterTexts()
{
	return counterTable;
}

void takeSnapshot(Service &service, std::function<void(SnapshotPtr)> done)
{
	service.listSessions([&service, done = std::move(done)](std::vector<HostSession> sessions) {
		auto snapshot = std::make_shared<Snapshot>();
		snapshot->identity = service.identity();
		snapshot->time = wallSeconds();
		snapshot->since = service.startedAt();
		snapshot->draining = service.draining();
		snapshot->store = service.storeState();
		snapshot->pulls = service.pulls();
		for (const CounterText &text : counterTable)
			snapshot->counters.push_back(
				(service.counters().*text.counter).load(std::memory_order_relaxed));
		for (const Latency &latency : service.latencies().commands)
			snapshot->commands.push_back(latency.read());
		snapshot->publications = service.latencies().publications.read();
		snapshot->exceptions = runtime::caughtExceptions();
		snapshot->open = service.counters().open.load(std::memory_order_relaxed);
		snapshot->model = service.sharedModel();
		snapshot->views = service.sharedViews();
		snapshot->sessions = std::move(sessions);
		snapshot->changeEvents.assign(service.changeEvents().begin(), service.changeEvents().end());
		done(std::move(snapshot));
	});
}

std::uint64_t HostStatus::generation() const
{
	std::uint64_t newest = 0;
	for (const HostSession *session : sessions)
		newest = std::max(newest, session->generation);
	return newest;
}

bool HostStatus::persistent() const
{
	return std::ranges::any_of(sessions, &HostSession::persistent);
}

std::size_t HostStatus::machines() const
{
	std::set<std::string_view> ids;
	for (const HostSession *session : sessions)
		ids.insert(session->hostid);
	return ids.size();
}

const char *HostStatus::state() const
{
	if (sessions.empty())
		return "away";
	if (std::ranges::any_of(sessions, &HostSession::current))
		return "current";
	return generation() ? "behind" : "unread";
}

std::vector<HostStatus> hostStatuses(const Snapshot &snapshot)
{
	std::map<std::string_view, HostStatus> hosts;
	for (const HostSession &session : snapshot.sessions)
		hosts[session.hostnqn].sessions.push_back(&session);
	for (const auto &[key, host] : snapshot.model->hosts())
		hosts[host.nqn].registered = &host;
	std::vector<HostStatus> list;
	for (auto &[nqn, host] : hosts) {
		host.nqn = nqn;
		list.push_back(std::move(host));
	}
	return list;
}

Visibility::Visibility(const Snapshot &snapshot)
	: targets_(snapshot.model->targets().size()), hosts_(hostStatuses(snapshot))
{
	viewOf_.assign(hosts_.size(), npos);
	if (!snapshot.views)
		return;
	std::unordered_map<const void *, std::size_t> places; // index of each target by its log entry
	for (const auto &[key, port] : snapshot.model->targets())
		places.emplace(port.entry.get(), places.size());
	std::unordered_map<const ZoneSet *, std::size_t> known;
	for (std::size_t i = 0; i < hosts_.size(); i++) {
		const ZoneSet *zones = snapshot.views->zonesOf(hosts_[i].nqn);
		auto [found, added] = known.emplace(zones, views_.size());
		if (added) {
			View view{zones, {}};
			for (const Block &entry : snapshot.views->of(zones)->entries())
				if (auto place = places.find(entry.get()); place != places.end())
					view.targets.push_back(place->second);
			views_.push_back(std::move(view));
		}
		viewOf_[i] = found->second;
		views_[found->second].hosts++;
	}
}

std::vector<std::size_t> Visibility::visibleTo() const
{
	std::vector<std::size_t> seen(targets_);
	for (const View &view : views_)
		for (std::size_t target : view.targets)
			seen[target] += view.hosts;
	return seen;
}

Json statusJson(const Snapshot &snapshot)
{
	return statusOf(snapshot, Visibility(snapshot));
}

Json hostsJson(const Snapshot &snapshot)
{
	const Visibility visibility(snapshot);
	Json list = Json::array();
	for (std::size_t i = 0; i < visibility.hosts().size(); i++)
		list.push_back(hostJson(snapshot, visibility, i));
	return listOf(snapshot, "hosts", std::move(list));
}

Json targetsJson(const Snapshot &snapshot)
{
	return listOf(snapshot, "targets", targetList(snapshot, Visibility(snapshot)));
}

Json zonesJson(const Snapshot &snapshot)
{
	const auto hosts = hostsOfZones(snapshot, hostStatuses(snapshot));
	Json list = Json::array();
	for (const auto &[key, zone] : snapshot.model->zones()) {
		Json json = zone.json();
		auto found = hosts.find(zone.name);
		json["hosts_now"] = found == hosts.end() ? 0 : found->second.hosts;
		list.push_back(std::move(json));
	}
	return listOf(snapshot, "zones", std::move(list));
}

Json instancesJson(const Snapshot &snapshot)
{
	return listOf(snapshot, "instances", instanceList(snapshot));
}

Json changesJson(const Snapshot &snapshot)
{
	return listOf(snapshot, "changes", changeList(snapshot));
}

Json stateJson(const Snapshot &snapshot)
{
	const Visibility visibility(snapshot);
	Json json = statusOf(snapshot, visibility);
	json["targets"] = targetList(snapshot, visibility);
	json["views"] = viewList(visibility);
	json["hosts"] = Json::array();
	for (std::size_t i = 0; i < visibility.hosts().size(); i++) {
		const HostStatus &host = visibility.hosts()[i];
		Json line = hostLine(snapshot, visibility, i);
		if (visibility.viewOf(i) != Visibility::npos)
			line["view"] = visibility.viewOf(i);
		if (!host.sessions.empty()) {
			const Json connection = connectionJson(*host.sessions.front());
			for (const char *member : {"address", "authentication", "tls"})
				if (connection.contains(member))
					line[member] = connection[member];
		}
		if (host.registered)
			putUnless(line, "name", host.registered->name, std::string());
		json["hosts"].push_back(std::move(line));
	}
	json["instances"] = instanceList(snapshot);
	json["changes"] = changeList(snapshot);
	return json;
}

Json changeEventJson(const ChangeEvent &changeEvent)
{
	Json json{{"number", changeEvent.number}, {"time", changeEvent.time}, {"generation", changeEvent.generation}};
	if (changeEvent.whole)
		json["whole"] = true;
	json["put"] = changeEvent.put;
	json["removed"] = changeEvent.removed;
	putUnless(json, "more", changeEvent.more, std::size_t(0));
	return json;
}

std::string lineOf(const Json &json)
{
	return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

// ---- metrics

namespace {

using runtime::Exposition;
using Type = Exposition::Type;

std::uint64_t sizeOf(const auto &container)
{
	return container.size();
}

constexpr std::size_t maxZones = 256; // with series of their own

double seconds(std::chrono::nanoseconds time)
{
	return static_cast<double>(time.count()) / 1e9;
}

class Writer {
public:
	explicit Writer(const Snapshot &snapshot)
		: snapshot_(snapshot), model_(*snapshot.model), hosts_(hostStatuses(snapshot))
	{
	}

	std::string text()
	{
		instance();
		store();
		records();
		hosts();
		zones();
		for (std::size_t i = 0; i < snapshot_.counters.size(); i++) {
			const CounterText &text = counterTexts()[i];
			one(std::string(text.name) + "_total", Type::counter, text.help, snapshot_.counters[i]);
		}
		latencies();
		one("exceptions_total", Type::counter, "Exceptions caught in callbacks; each is a defect",
		    snapshot_.exceptions);
		return out_.text();
	}

private:
	void family(const std::string &name, Type type, std::string_view help)
	{
		out_.family("nvmeof_cdc_" + name, type, help);
	}
	void one(const std::string &name, Type type, std::string_view help, std::uint64_t value)
	{
		family(name, type, help);
		out_.sample({}, value);
	}
	void gauge(const std::string &name, std::string_view help, std::uint64_t value)
	{
		one(name, Type::gauge, help, value);
	}
	void instance()
	{
		const Identity &identity = snapshot_.identity;
		family("info", Type::gauge, "The instance; always 1");
		out_.sample({{"id", identity.id}, {"nqn", identity.nqn}, {"version", identity.version}},
			    std::uint64_t(1));
		gauge("start_time_seconds", "Start time, in seconds since 1970",
		      static_cast<std::uint64_t>(snapshot_.since));
		gauge("serving", "Whether the store has loaded its records, so that hosts are served",
		      snapshot_.views != nullptr);
		gauge("draining", "Whether it is draining, which hands its hosts over", snapshot_.draining);
		gauge("generation", "Generation of the discovery data, equal on all instances", model_.generation());
	}
	void store()
	{
		const StoreState &store = snapshot_.store;
		family("store_writable", Type::gauge, "Whether the last write to the store succeeded");
		out_.sample({{"engine", store.engine}}, std::uint64_t(store.writable));
		family("store_age_seconds", Type::gauge,
		       "Seconds since changes of other instances stopped arriving; 0: they arrive");
		out_.sample({}, store.staleSince ? std::max(snapshot_.time - static_cast<double>(store.staleSince), 0.0)
						 : 0.0);
	}
	void records()
	{
		std::map<std::string, std::uint64_t> states;
		for (const std::string &name : stateNames())
			states[name] = 0;
		for (const auto &[key, port] : model_.targets())
			states[stateName(port.target.state)]++;
		family("targets", Type::gauge, "Ports of subsystems, by their best ANA state");
		for (const auto &[state, count] : states)
			out_.sample({{"state", state}}, count);
		gauge("zones", "Zones", sizeOf(model_.zones()));
		gauge("instances", "Instances that share the store", sizeOf(model_.instances()));
		gauge("hosts_registered", "Hosts that have registered", sizeOf(model_.hosts()));
		gauge("views", "Sets of zones with a discovery log of their own",
		      snapshot_.views ? snapshot_.views->pages() : 0);
	}
	void hosts()
	{
		std::map<std::string, std::uint64_t> states{{"behind", 0}, {"current", 0}, {"unread", 0}};
		std::uint64_t persistent = 0, cloned = 0;
		for (const HostStatus &host : hosts_) {
			if (!host.sessions.empty())
				states[host.state()]++;
			persistent += host.persistent();
			cloned += host.machines() > 1;
		}
		family("hosts_connected", Type::gauge,
		       "Connected hosts, by whether the log that they have read is current");
		for (const auto &[state, count] : states)
			out_.sample({{"log", state}}, count);
		gauge("hosts_cloned", "Host NQNs that machines with different host IDs use", cloned);
		gauge("hosts_persistent", "Hosts that wait for events", persistent);
		gauge("controllers", "Controllers of hosts", sizeOf(snapshot_.sessions));
		const auto proven = [](const HostSession &session) { return session.proof.has_value(); };
		gauge("controllers_authenticated", "Controllers of hosts that have authenticated themselves",
		      static_cast<std::uint64_t>(std::ranges::count_if(snapshot_.sessions, proven)));
		const auto encrypted = [](const HostSession &session) { return session.tls.has_value(); };
		gauge("controllers_tls", "Controllers of hosts that use TLS",
		      static_cast<std::uint64_t>(std::ranges::count_if(snapshot_.sessions, encrypted)));
		gauge("connections_open", "Open connections", snapshot_.open);
	}

	// The first 256 zones by name have series of their own, so that the selection does not change with the hosts.
	void zones()
	{
		if (!snapshot_.views)
			return;
		const std::vector<ZoneLine> lines = zoneLines();
		const std::size_t told = std::min(lines.size(), maxZones);
		auto each = [&](const std::string &name, Type type, std::string_view help, auto value) {
			family("zone_" + name, type, help);
			for (std::size_t i = 0; i < told; i++)
				out_.sample({{"zone", lines[i].name}}, std::uint64_t(value(lines[i])));
		};
		auto summed = [&](const std::string &name, Type type, std::string_view help, auto value) {
			each(name, type, help, value);
			std::uint64_t sum = 0;
			for (std::size_t i = told; i < lines.size(); i++)
				sum += value(lines[i]);
			if (told < lines.size())
				out_.sample({{"zone", "other zones"}}, sum); // cannot be a zone name, as it has a blank
		};
		auto extent = [&](const ZoneLine &line) { return snapshot_.views->extentOf(line.name); };
		summed("hosts", Type::gauge, "Hosts of a zone that are connected or have registered",
		       [](const ZoneLine &line) { return line.hosts; });
		summed("hosts_connected", Type::gauge, "Hosts of a zone that are connected",
		       [](const ZoneLine &line) { return line.connected; });
		each("log_reads_total", Type::counter, "Reads of the discovery log by hosts of a zone",
		     [](const ZoneLine &line) { return line.reads; });
		each("subsystems", Type::gauge, "Subsystems in a zone",
		     [&](const ZoneLine &line) { return extent(line).subsystems; });
		each("targets", Type::gauge, "Ports of subsystems in a zone",
		     [&](const ZoneLine &line) { return extent(line).targets; });
	}
	struct ZoneLine {
		std::string name;
		std::size_t hosts = 0, connected = 0;
		std::uint64_t reads = 0;
	};
	// Zones, sorted by name
	std::vector<ZoneLine> zoneLines() const
	{
		const ZoneTable &table = snapshot_.views->zoneTable();
		const auto hosts = hostsOfZones(snapshot_, hosts_);
		std::vector<ZoneLine> lines;
		for (const auto &[key, zone] : table.zones()) {
			const auto its = hosts.find(zone.name);
			const auto [all, connected] = its == hosts.end() ? ZoneHosts() : its->second;
			lines.push_back({zone.name, all, connected, table.reads(zone.name)});
		}
		std::ranges::sort(lines, {}, &ZoneLine::name);
		return lines;
	}
	void latencies()
	{
		family("command_latency_seconds", Type::histogram,
		       "Time from the last byte of a command until the socket has accepted the last byte of its "
		       "response");
		for (std::size_t i = 0; i < snapshot_.commands.size(); i++)
			latency({{"command", toString(static_cast<Served>(i))}}, snapshot_.commands[i]);
		family("publication_latency_seconds", Type::histogram,
		       "Time from a change in the store until the event is sent to the hosts that wait for one");
		latency({}, snapshot_.publications);
	}
	// Prometheus buckets include their upper bound, those of the histogram do not; the difference is one
	// nanosecond.
	void latency(const Exposition::Labels &labels, const Latency::Reading &reading)
	{
		constexpr std::size_t last = nvmeof::histogramBuckets - 1;
		std::array<Exposition::Bucket, last> buckets{};
		for (std::size_t i = 0; i < last; i++)
			buckets[i] = {seconds(nvmeof::bucketEnd(i)), reading.histogram[i]};
		out_.histogram(labels, buckets, reading.histogram[last], seconds(reading.sum));
	}

	const Snapshot &snapshot_;
	const Model &model_;
	const std::vector<HostStatus> hosts_;
	Exposition out_;
};

} // namespace

std::string metricsText(const Snapshot &snapshot)
{
	return Writer(snapshot).text();
}

} // namespace cdc
