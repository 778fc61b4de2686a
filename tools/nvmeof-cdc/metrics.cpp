// SPDX-License-Identifier: LGPL-2.1-or-later
#include "metrics.h"

#include <algorithm>
#include <array>
#include <map>

#include "serving/exposition.h"

namespace cdc {

namespace {

using serving::Exposition;
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
