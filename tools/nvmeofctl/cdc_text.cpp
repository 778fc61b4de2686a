// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cdc_text.h"

#include <ctime>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "table.h"

namespace {

const Json &member(const Json &object, const char *key)
{
	static const Json nothing;
	if (!object.is_object())
		return nothing;
	auto found = object.find(key);
	return found == object.end() ? nothing : *found;
}

const Json &listOf(const Json &document, const char *key)
{
	static const Json none = Json::array();
	const Json &list = member(document, key);
	return list.is_array() ? list : none;
}

bool isTrue(const Json &object, const char *key)
{
	return member(object, key) == true;
}

double numberOf(const Json &object, const char *key)
{
	const Json &value = member(object, key);
	return value.is_number() ? value.get<double>() : 0;
}

std::string joined(const Json &list, const char *between = ", ")
{
	std::string text;
	for (const Json &one : list.is_array() ? list : Json::array())
		text += (text.empty() ? "" : between) + (one.is_string() ? one.get<std::string>() : one.dump());
	return text.empty() ? "-" : text;
}

// The first two, and how many more there are
std::string some(const Json &list)
{
	constexpr std::size_t max = 2;
	if (!list.is_array() || list.size() <= max + 1)
		return joined(list);
	return fmt::format("{}, {}, and {} more", list[0].is_string() ? list[0].get<std::string>() : "-",
			   list[1].is_string() ? list[1].get<std::string>() : "-", list.size() - max);
}

std::string moment(double time)
{
	const auto seconds = static_cast<std::time_t>(time);
	std::tm local{};
	char text[64] = "-";
	if (time > 0 && ::localtime_r(&seconds, &local))
		std::strftime(text, sizeof(text), "%F %T", &local);
	return text;
}

std::string portOf(const Json &target)
{
	const std::string traddr = memberText(target, "traddr");
	const bool six = traddr.find(':') != traddr.npos;
	return fmt::format("{} {}{}{}:{}", memberText(target, "transport"), six ? "[" : "", traddr, six ? "]" : "",
			   memberText(target, "trsvcid"));
}

std::string sourceText(const Json &record)
{
	const std::string owner = memberText(record, "owner");
	return memberText(record, "source") + (owner == "-" ? "" : " " + owner);
}

std::string alerts(const Json &status)
{
	const Json &store = member(status, "store");
	std::string text;
	if (!isTrue(status, "serving"))
		text += "not serving hosts: the records have not loaded its records yet\n";
	if (isTrue(member(status, "instance"), "draining"))
		text += "draining: handing hosts over to other instances\n";
	if (const double cloned = numberOf(member(status, "counts"), "cloned"); cloned > 0)
		text += fmt::format("{:.0f} host NQNs are used by machines with different host IDs: see 'nvmeofctl cdc "
				    "host list'; a cloned machine needs a hostnqn and hostid of its own\n",
				    cloned);
	if (!isTrue(store, "writable"))
		text += "the store cannot be written: " + nofctl::printable(memberText(store, "trouble")) + "\n";
	if (const double since = numberOf(store, "stale_since"); since > 0)
		text += fmt::format("no changes received from other instances since {}\n", moment(since));
	for (const Json &pull : listOf(status, "pulls"))
		if (const Json &trouble = member(pull, "trouble"); !trouble.is_null())
			text += nofctl::printable(fmt::format("{} cannot be read: {}", memberText(pull, "service"),
							      memberText(pull, "trouble"))) +
				"\n";
	return text.empty() ? text : text + "\n";
}

// The services that this instance reads
std::string pullsText(const Json &pulls)
{
	if (pulls.empty())
		return {};
	Table table({{"Read from"}, {"Log"}, {"Events"}, {"Entries", Align::right}, {"Targets", Align::right}});
	for (const Json &pull : pulls)
		table.add({memberText(pull, "service"), isTrue(pull, "read") ? "read" : "not read",
			   isTrue(pull, "watched") ? "subscribed" : "-", memberText(pull, "entries"),
			   memberText(pull, "targets")});
	return "\n" + table.render();
}

std::string countersText(const Json &counters)
{
	std::vector<std::pair<std::string, std::string>> fields;
	for (const auto &[name, value] : counters.items())
		fields.emplace_back(name, value.dump());
	return fields.empty() ? "" : "\nCounters since the start:\n" + renderFields(fields);
}

std::string keyText(const std::string &key)
{
	const std::size_t slash = key.find('/');
	std::string kind = key.substr(0, slash);
	if (kind.ends_with('s'))
		kind.pop_back();
	return slash == key.npos ? key : kind + " " + key.substr(slash + 1);
}

} // namespace

std::string cdcStatusText(const Json &status)
{
	const Json &instance = member(status, "instance"), &counts = member(status, "counts");
	const Json &store = member(status, "store");
	auto count = [&](const char *key) { return memberText(counts, key); };
	return alerts(status) +
	       renderFields({
		       {"Instance", memberText(instance, "id")},
		       {"NQN", memberText(instance, "nqn")},
		       {"Version", memberText(instance, "version")},
		       {"Running since", moment(numberOf(instance, "since"))},
		       {"Addresses", joined(member(instance, "addresses"))},
		       {"Store", memberText(store, "engine") + " " + memberText(store, "place")},
		       {"Generation", memberText(status, "generation")},
		       {"Hosts", fmt::format("{}: {} current, {} behind, {} have not read, {} away; {} registered",
					     count("hosts"), count("current"), count("behind"), count("unread"),
					     count("away"), count("registered"))},
		       {"Connections", count("connections")},
		       {"Targets", count("targets")},
		       {"Zones", fmt::format("{}, {} views", count("zones"), count("views"))},
		       {"Instances", count("instances")},
	       }) +
	       pullsText(listOf(status, "pulls")) + countersText(member(status, "counters"));
}

std::string cdcHostsText(const Json &document)
{
	Table table({{"Host"},
		     {"Address"},
		     {"Log"},
		     {"Generation", Align::right},
		     {"Events"},
		     {"First choice"},
		     {"Targets", Align::right},
		     {"Zones"}});
	const Json &hosts = listOf(document, "hosts");
	for (const Json &host : hosts) {
		const Json &connections = listOf(host, "connections");
		std::string address = connections.empty() ? "-" : memberText(connections[0], "address");
		if (const double machines = numberOf(host, "machines"); machines > 1)
			address += fmt::format(" ({:.0f} machines)", machines);
		table.add({memberText(host, "nqn"), address, memberText(host, "state"), memberText(host, "generation"),
			   isTrue(host, "persistent") ? "subscribed" : "-",
			   isTrue(host, "first_choice") ? "here" : "elsewhere", memberText(host, "targets"),
			   joined(member(host, "zones"))});
	}
	return hosts.empty() ? "no host is connected, and none has registered\n" : table.render();
}

std::string cdcTargetsText(const Json &document)
{
	Table table({{"NQN"}, {"Port"}, {"State"}, {"Source"}, {"Visible to", Align::right}});
	const Json &targets = listOf(document, "targets");
	for (const Json &target : targets)
		table.add({memberText(target, "nqn"), portOf(target), memberText(target, "state"), sourceText(target),
			   memberText(target, "visible_to")});
	return targets.empty() ? "no target is known\n" : table.render();
}

std::string cdcZonesText(const Json &document)
{
	Table table({{"Zone"}, {"Hosts now", Align::right}, {"Hosts"}, {"Targets"}, {"Source"}});
	const Json &zones = listOf(document, "zones");
	for (const Json &zone : zones)
		table.add({memberText(zone, "name"), memberText(zone, "hosts_now"), some(member(zone, "hosts")),
			   some(member(zone, "targets")), sourceText(zone)});
	return zones.empty() ? "no zone is defined\n" : table.render();
}

std::string cdcInstancesText(const Json &document)
{
	Table table({{"Addresses"}, {"NQN"}, {"State"}});
	const Json &instances = listOf(document, "instances");
	for (const Json &instance : instances) {
		const char *state = isTrue(instance, "draining") ? "draining" : "serving";
		table.add({joined(member(instance, "addresses")), memberText(instance, "nqn"),
			   fmt::format("{}{}", state, isTrue(instance, "self") ? ", this one" : "")});
	}
	return instances.empty() ? "no instance is known\n" : table.render();
}

std::string cdcChangeText(const Json &change)
{
	std::string text =
		fmt::format("{} generation {}", moment(numberOf(change, "time")), memberText(change, "generation"));
	if (isTrue(change, "whole"))
		text += ": all records were read from the store again";
	text += "\n";
	for (const auto &[key, sign] : {std::pair("put", '+'), std::pair("removed", '-')})
		for (const Json &one : listOf(change, key))
			text += fmt::format(
				"  {} {}\n", sign,
				nofctl::printable(keyText(one.is_string() ? one.get<std::string>() : one.dump())));
	if (numberOf(change, "more") > 0)
		text += fmt::format("  and {} more\n", memberText(change, "more"));
	return text;
}
