// SPDX-License-Identifier: LGPL-2.1-or-later
#include "status.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "serving/guard.h"
#include "wall_clock.h"

namespace cdc {

namespace {

constexpr CounterText counter_texts[] = {
	{"connections", &Counters::accepted, "Accepted connections"},
	{"connections_refused", &Counters::tooMany, "Connections closed at once because of a limit"},
	{"hosts", &Counters::hosts, "Connect commands that succeeded"},
	{"hosts_refused", &Counters::refused, "Connect commands that failed"},
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

Json instanceJson(const Picture &picture)
{
	Json json{{"id", picture.identity.id}, {"nqn", picture.identity.nqn},  {"version", picture.identity.version},
		  {"since", picture.since},    {"draining", picture.draining}, {"addresses", Json::array()}};
	auto found = picture.model->instances().find(std::string(prefixOf(Kind::instance)) + picture.identity.id);
	if (found != picture.model->instances().end())
		json["addresses"] = found->second.instance.addresses;
	return json;
}

Json storeJson(const StoreState &store)
{
	Json json{{"engine", store.engine}, {"place", store.place}, {"writable", store.writable}};
	putUnless(json, "trouble", store.trouble, std::string());
	putUnless(json, "stale_since", store.agedSince, std::int64_t(0)); // the old name follows, for one version
	putUnless(json, "aged_since", store.agedSince, std::int64_t(0));
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

Json countersJson(const Picture &picture)
{
	Json json = Json::object();
	for (std::size_t i = 0; i < picture.counters.size(); i++)
		json[counter_texts[i].name] = picture.counters[i];
	json["exceptions"] = picture.exceptions;
	return json;
}

Json countsJson(const Picture &picture, const Sight &sight)
{
	std::map<std::string, std::size_t> states{{"current", 0}, {"behind", 0}, {"unread", 0}, {"away", 0}};
	for (const HostPicture &host : sight.hosts())
		states[host.state()]++;
	return {{"hosts", sight.hosts().size()},
		{"current", states["current"]},
		{"behind", states["behind"]},
		{"unread", states["unread"]},
		{"away", states["away"]},
		{"cloned",
		 std::ranges::count_if(sight.hosts(), [](const HostPicture &host) { return host.machines() > 1; })},
		{"registered", picture.model->hosts().size()},
		{"controllers", picture.guests.size()},
		{"connections", picture.open},
		{"targets", picture.model->targets().size()},
		{"zones", picture.model->zones().size()},
		{"instances", picture.model->instances().size()},
		{"views", picture.views ? picture.views->pages() : 0}};
}

Json statusOf(const Picture &picture, const Sight &sight)
{
	return {{"instance", instanceJson(picture)},         {"time", picture.time},
		{"generation", picture.model->generation()}, {"serving", picture.views != nullptr},
		{"store", storeJson(picture.store)},         {"pulls", pullsJson(picture.pulls)},
		{"counts", countsJson(picture, sight)},      {"counters", countersJson(picture)}};
}

// A document with one list: the generation and the list
Json listOf(const Picture &picture, const char *name, Json list)
{
	return {{"generation", picture.model->generation()}, {name, std::move(list)}};
}

Json hostLine(const Picture &picture, const Sight &sight, std::size_t i)
{
	const HostPicture &host = sight.hosts()[i];
	Json json{{"nqn", host.nqn}, {"state", host.state()}};
	putUnless(json, "generation", host.generation(), std::uint64_t(0));
	json["persistent"] = host.persistent();
	if (host.machines() > 1)
		json["machines"] = host.machines();
	json["first_choice"] = picture.views && picture.views->firstChoice(host.nqn);
	return json;
}

Json hostJson(const Picture &picture, const Sight &sight, std::size_t i)
{
	const HostPicture &host = sight.hosts()[i];
	Json json = hostLine(picture, sight, i);
	if (const std::size_t view = sight.viewOf(i); view != Sight::npos) {
		json["zones"] = sight.views()[view].zones->zones;
		json["targets"] = sight.views()[view].targets.size();
	}
	json["connections"] = Json::array();
	for (const Guest *guest : host.guests)
		json["connections"].push_back({{"address", guest->address},
					       {"hostid", guest->hostid},
					       {"cntlid", guest->cntlid},
					       {"generation", guest->generation},
					       {"current", guest->current},
					       {"persistent", guest->persistent}});
	if (host.registered) {
		json["registration"] = host.registered->json();
		json["registration"].erase("nqn");
	}
	return json;
}

Json targetList(const Picture &picture, const Sight &sight)
{
	const std::vector<std::size_t> seen = sight.seenBy();
	Json list = Json::array();
	for (const auto &[key, port] : picture.model->targets()) {
		Json json = port.target.json();
		json["visible_to"] = seen[list.size()];
		json["seen_by"] = seen[list.size()]; // the old name, for one version
		list.push_back(std::move(json));
	}
	return list;
}

Json instanceList(const Picture &picture)
{
	Json list = Json::array();
	for (const auto &[key, service] : picture.model->instances()) {
		Json json = service.instance.json();
		json["self"] = service.instance.id == picture.identity.id;
		list.push_back(std::move(json));
	}
	return list;
}

Json changeList(const Picture &picture)
{
	Json list = Json::array();
	for (const Happening &happening : picture.happenings)
		list.push_back(happeningJson(happening));
	return list;
}

Json viewList(const Sight &sight)
{
	Json list = Json::array();
	for (const Sight::View &view : sight.views())
		list.push_back({{"zones", view.zones->zones}, {"all", view.zones->all}, {"targets", view.targets}});
	return list;
}

} // namespace

std::span<const CounterText> counterTexts()
{
	return counter_texts;
}

void takePicture(Service &service, std::function<void(PicturePtr)> done)
{
	service.census([&service, done = std::move(done)](std::vector<Guest> guests) {
		auto picture = std::make_shared<Picture>();
		picture->identity = service.identity();
		picture->time = wallSeconds();
		picture->since = service.startedAt();
		picture->draining = service.draining();
		picture->store = service.storeState();
		picture->pulls = service.pulls();
		for (const CounterText &text : counter_texts)
			picture->counters.push_back((service.counters().*text.counter).load(std::memory_order_relaxed));
		for (const Latency &latency : service.latencies().commands)
			picture->commands.push_back(latency.read());
		picture->publications = service.latencies().publications.read();
		picture->exceptions = serving::caughtExceptions();
		picture->open = service.counters().open.load(std::memory_order_relaxed);
		picture->model = service.sharedModel();
		picture->views = service.sharedViews();
		picture->guests = std::move(guests);
		picture->happenings.assign(service.happenings().begin(), service.happenings().end());
		done(std::move(picture));
	});
}

std::uint64_t HostPicture::generation() const
{
	std::uint64_t newest = 0;
	for (const Guest *guest : guests)
		newest = std::max(newest, guest->generation);
	return newest;
}

bool HostPicture::persistent() const
{
	return std::ranges::any_of(guests, &Guest::persistent);
}

std::size_t HostPicture::machines() const
{
	std::set<std::string_view> ids;
	for (const Guest *guest : guests)
		ids.insert(guest->hostid);
	return ids.size();
}

const char *HostPicture::state() const
{
	if (guests.empty())
		return "away";
	if (std::ranges::any_of(guests, &Guest::current))
		return "current";
	return generation() ? "behind" : "unread";
}

std::vector<HostPicture> hostPictures(const Picture &picture)
{
	std::map<std::string_view, HostPicture> hosts;
	for (const Guest &guest : picture.guests)
		hosts[guest.hostnqn].guests.push_back(&guest);
	for (const auto &[key, host] : picture.model->hosts())
		hosts[host.nqn].registered = &host;
	std::vector<HostPicture> list;
	for (auto &[nqn, host] : hosts) {
		host.nqn = nqn;
		list.push_back(std::move(host));
	}
	return list;
}

std::map<std::string, ZoneHosts> hostsOfZones(const Picture &picture, const std::vector<HostPicture> &hosts)
{
	std::map<std::string, ZoneHosts> zones;
	if (!picture.views)
		return zones;
	for (const HostPicture &host : hosts)
		for (const std::string &name : picture.views->zonesOf(host.nqn)->zones) {
			ZoneHosts &zone = zones[name];
			zone.hosts++;
			zone.connected += !host.guests.empty();
		}
	return zones;
}

Sight::Sight(const Picture &picture) : targets_(picture.model->targets().size()), hosts_(hostPictures(picture))
{
	viewOf_.assign(hosts_.size(), npos);
	if (!picture.views)
		return;
	std::unordered_map<const void *, std::size_t> places; // index of each target by its log entry
	for (const auto &[key, port] : picture.model->targets())
		places.emplace(port.entry.get(), places.size());
	std::unordered_map<const ZoneSet *, std::size_t> known;
	for (std::size_t i = 0; i < hosts_.size(); i++) {
		const ZoneSet *zones = picture.views->zonesOf(hosts_[i].nqn);
		auto [found, added] = known.emplace(zones, views_.size());
		if (added) {
			View view{zones, {}};
			for (const Block &entry : picture.views->of(zones)->entries())
				if (auto place = places.find(entry.get()); place != places.end())
					view.targets.push_back(place->second);
			views_.push_back(std::move(view));
		}
		viewOf_[i] = found->second;
		views_[found->second].hosts++;
	}
}

std::vector<std::size_t> Sight::seenBy() const
{
	std::vector<std::size_t> seen(targets_);
	for (const View &view : views_)
		for (std::size_t target : view.targets)
			seen[target] += view.hosts;
	return seen;
}

Json statusJson(const Picture &picture)
{
	return statusOf(picture, Sight(picture));
}

Json hostsJson(const Picture &picture)
{
	const Sight sight(picture);
	Json list = Json::array();
	for (std::size_t i = 0; i < sight.hosts().size(); i++)
		list.push_back(hostJson(picture, sight, i));
	return listOf(picture, "hosts", std::move(list));
}

Json targetsJson(const Picture &picture)
{
	return listOf(picture, "targets", targetList(picture, Sight(picture)));
}

Json zonesJson(const Picture &picture)
{
	const auto hosts = hostsOfZones(picture, hostPictures(picture));
	Json list = Json::array();
	for (const auto &[key, zone] : picture.model->zones()) {
		Json json = zone.json();
		auto found = hosts.find(zone.name);
		json["hosts_now"] = found == hosts.end() ? 0 : found->second.hosts;
		list.push_back(std::move(json));
	}
	return listOf(picture, "zones", std::move(list));
}

Json instancesJson(const Picture &picture)
{
	return listOf(picture, "instances", instanceList(picture));
}

Json changesJson(const Picture &picture)
{
	return listOf(picture, "changes", changeList(picture));
}

Json stateJson(const Picture &picture)
{
	const Sight sight(picture);
	Json json = statusOf(picture, sight);
	json["targets"] = targetList(picture, sight);
	json["views"] = viewList(sight);
	json["hosts"] = Json::array();
	for (std::size_t i = 0; i < sight.hosts().size(); i++) {
		const HostPicture &host = sight.hosts()[i];
		Json line = hostLine(picture, sight, i);
		if (sight.viewOf(i) != Sight::npos)
			line["view"] = sight.viewOf(i);
		if (!host.guests.empty())
			line["address"] = host.guests.front()->address;
		if (host.registered)
			putUnless(line, "name", host.registered->name, std::string());
		json["hosts"].push_back(std::move(line));
	}
	json["instances"] = instanceList(picture);
	json["changes"] = changeList(picture);
	return json;
}

Json happeningJson(const Happening &happening)
{
	Json json{{"number", happening.number}, {"time", happening.time}, {"generation", happening.generation}};
	if (happening.whole)
		json["whole"] = true;
	json["put"] = happening.put;
	json["removed"] = happening.removed;
	putUnless(json, "more", happening.more, std::size_t(0));
	return json;
}

std::string lineOf(const Json &json)
{
	return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace cdc
