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

double seconds(std::chrono::nanoseconds time)
{
	return static_cast<double>(time.count()) / 1e9;
}

class Writer {
public:
	explicit Writer(const Picture &picture) : picture_(picture), model_(*picture.model) {}

	std::string text()
	{
		instance();
		store();
		records();
		hosts();
		for (std::size_t i = 0; i < picture_.counters.size(); i++) {
			const CounterText &text = counterTexts()[i];
			one(std::string(text.name) + "_total", Type::counter, text.help, picture_.counters[i]);
		}
		latencies();
		one("exceptions_total", Type::counter, "Exceptions caught in callbacks; each is a defect",
		    picture_.exceptions);
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
		const Identity &identity = picture_.identity;
		family("info", Type::gauge, "The instance; always 1");
		out_.sample({{"id", identity.id}, {"nqn", identity.nqn}, {"version", identity.version}},
			    std::uint64_t(1));
		gauge("start_time_seconds", "When it started, in seconds since 1970",
		      static_cast<std::uint64_t>(picture_.since));
		gauge("serving", "Whether the store has told what there is, so that hosts are served",
		      picture_.views != nullptr);
		gauge("draining", "Whether it is handing its hosts over", picture_.draining);
		gauge("generation", "Of what hosts are told, equal on all instances", model_.generation());
	}
	void store()
	{
		const StoreState &store = picture_.store;
		family("store_writable", Type::gauge, "Whether the last write to the store was good");
		out_.sample({{"engine", store.engine}}, std::uint64_t(store.writable));
		family("store_age_seconds", Type::gauge, "Since when changes of others do not arrive; 0: they do");
		out_.sample({}, store.agedSince ? std::max(picture_.time - static_cast<double>(store.agedSince), 0.0)
						: 0.0);
	}
	void records()
	{
		std::map<std::string, std::uint64_t> states;
		for (const std::string &name : stateNames())
			states[name] = 0;
		for (const auto &[key, port] : model_.targets())
			states[stateName(port.target.state)]++;
		family("targets", Type::gauge, "Ports of subsystems, by the best ANA state there");
		for (const auto &[state, count] : states)
			out_.sample({{"state", state}}, count);
		gauge("zones", "Zones", sizeOf(model_.zones()));
		gauge("instances", "Instances that share the store", sizeOf(model_.instances()));
		gauge("hosts_registered", "Hosts that have registered", sizeOf(model_.hosts()));
		gauge("views", "Sets of zones that there is a page for", picture_.views ? picture_.views->pages() : 0);
	}
	void hosts()
	{
		std::map<std::string, std::uint64_t> states{{"behind", 0}, {"current", 0}, {"unread", 0}};
		std::uint64_t persistent = 0, cloned = 0;
		for (const HostPicture &host : hostPictures(picture_)) {
			if (!host.guests.empty())
				states[host.state()]++;
			persistent += host.persistent();
			cloned += host.machines() > 1;
		}
		family("hosts_connected", Type::gauge,
		       "Hosts that are connected, by whether what they have read is of now");
		for (const auto &[state, count] : states)
			out_.sample({{"log", state}}, count);
		gauge("hosts_cloned", "Host NQNs that machines with different host IDs connect by", cloned);
		gauge("hosts_persistent", "Hosts that wait for events", persistent);
		gauge("controllers", "Controllers of hosts", sizeOf(picture_.guests));
		gauge("connections_open", "Connections that there are", picture_.open);
	}

	void latencies()
	{
		family("command_latency_seconds", Type::histogram,
		       "From the last byte of a command to the last byte of its answer that the socket has taken");
		for (std::size_t i = 0; i < picture_.commands.size(); i++)
			latency({{"command", toString(static_cast<Served>(i))}}, picture_.commands[i]);
		family("publication_latency_seconds", Type::histogram,
		       "From a change, as the store tells it, until the hosts that wait for events are told");
		latency({}, picture_.publications);
	}
	// Buckets have their upper end here, and not in the histogram, which is no difference of whole nanoseconds.
	void latency(const Exposition::Labels &labels, const Latency::Reading &reading)
	{
		constexpr std::size_t last = nvmeof::histogramBuckets - 1;
		std::array<Exposition::Bucket, last> buckets{};
		for (std::size_t i = 0; i < last; i++)
			buckets[i] = {seconds(nvmeof::bucketEnd(i)), reading.histogram[i]};
		out_.histogram(labels, buckets, reading.histogram[last], seconds(reading.sum));
	}

	const Picture &picture_;
	const Model &model_;
	Exposition out_;
};

} // namespace

std::string metricsText(const Picture &picture)
{
	return Writer(picture).text();
}

} // namespace cdc
