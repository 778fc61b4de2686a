// SPDX-License-Identifier: LGPL-2.1-or-later
#include "reload_report.h"

#include <algorithm>
#include <set>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

using namespace nvmeof;
using Json = nlohmann::json;

namespace nvmeofd {

namespace {

constexpr std::size_t maxListed = 256; // per list in a reply

// A table or a list entry
struct Block {
	std::string table;
	bool entry = false;
	std::vector<std::string> lines;

	bool operator==(const Block &) const = default;
	// Identifies an entry by its first line; a table occurs once.
	std::string key() const { return table + "\n" + (entry && !lines.empty() ? lines.front() : ""); }
	// "nqn.s" of 'nqn = "nqn.s"'
	std::string name() const
	{
		if (!entry || lines.empty())
			return {};
		std::string value =
			lines.front().substr(std::min(lines.front().find("= "), lines.front().size() - 2) + 2);
		const bool quoted = value.size() > 1 && value.front() == '"' && value.back() == '"';
		return quoted ? value.substr(1, value.size() - 2) : value;
	}
};

std::vector<Block> blocksOf(const std::string &text)
{
	std::vector<Block> blocks;
	std::istringstream in(text);
	for (std::string line; std::getline(in, line);) {
		if (line.starts_with("[[") && line.ends_with("]]"))
			blocks.push_back({line.substr(2, line.size() - 4), true, {}});
		else if (line.starts_with('[') && line.ends_with(']'))
			blocks.push_back({line.substr(1, line.size() - 2), false, {}});
		else if (!line.empty() && !blocks.empty())
			blocks.back().lines.push_back(line);
	}
	return blocks;
}

// Multiset difference: the elements of @all that are not in @others
std::vector<Block> without(std::vector<Block> all, const std::vector<Block> &others)
{
	for (const Block &other : others)
		if (auto same = std::ranges::find(all, other); same != all.end())
			all.erase(same);
	return all;
}

std::vector<std::string> without(std::vector<std::string> all, const std::vector<std::string> &others)
{
	std::erase_if(all, [&](const std::string &line) { return std::ranges::find(others, line) != others.end(); });
	return all;
}

// Reports a change of order in a list where the order matters, if nothing else in it changed.
void addMoved(std::vector<ConfigChange> &changes, const std::vector<Block> &before, const std::vector<Block> &after)
{
	auto defaults = [](std::vector<Block> blocks) {
		std::erase_if(blocks, [](const Block &one) { return one.table != "defaults"; });
		return blocks;
	};
	const std::vector<Block> was = defaults(before), is = defaults(after);
	if (was != is && without(was, is).empty() && without(is, was).empty())
		changes.push_back({ConfigChange::Kind::moved, "defaults", "", {}, {}});
}

std::string textOf(const PlannedConnection &connection)
{
	const ConnectOptions &options = connection.options;
	return fmt::format("{} {} {}", options.transport, options.address.toString(), options.subsysnqn);
}

template <typename T> std::set<std::string> textsOf(const std::vector<T> &all, auto text)
{
	std::set<std::string> texts;
	for (const T &one : all)
		texts.insert(text(one));
	return texts;
}

std::vector<std::string> difference(const std::set<std::string> &all, const std::set<std::string> &less)
{
	std::vector<std::string> left;
	std::ranges::set_difference(all, less, std::back_inserter(left));
	return left;
}

bool dropsKey(const ConfigChange &change)
{
	auto names = [](const std::vector<std::string> &lines, const char *key) {
		return std::ranges::any_of(lines, [&](const std::string &line) { return line.starts_with(key); });
	};
	auto drops = [&](const char *key) { return names(change.was, key) && !names(change.is, key); };
	return change.kind == ConfigChange::Kind::changed &&
	       (drops("dhchap-key ") || drops("dhchap-ctrl-key ") || drops("tls-key "));
}

Json listed(const std::vector<std::string> &all)
{
	Json list = Json::array();
	for (const std::string &one : all)
		if (list.size() < maxListed)
			list.push_back(one);
	return list;
}

} // namespace

const char *toString(ConfigChange::Kind kind)
{
	switch (kind) {
	case ConfigChange::Kind::added:
		return "added";
	case ConfigChange::Kind::removed:
		return "removed";
	case ConfigChange::Kind::changed:
		return "changed";
	case ConfigChange::Kind::moved:
		return "moved";
	}
	return "unknown";
}

std::string ConfigChange::toString() const
{
	const std::string what =
		fmt::format("{} [{}]{}{}", nvmeofd::toString(kind), table, name.empty() ? "" : " ", name);
	if (kind == Kind::moved)
		return what + ": order changed";
	if (kind != Kind::changed)
		return fmt::format("{}: {}", what, fmt::join(kind == Kind::added ? is : was, ", "));
	return fmt::format("{}: {} (was: {})", what, is.empty() ? "not set" : fmt::format("{}", fmt::join(is, ", ")),
			   was.empty() ? "not set" : fmt::format("{}", fmt::join(was, ", ")));
}

std::vector<ConfigChange> configChanges(const std::string &before, const std::string &after)
{
	const std::vector<Block> all = blocksOf(before), now = blocksOf(after);
	std::vector<Block> gone = without(all, now);
	std::vector<ConfigChange> changes;
	for (const Block &one : without(now, all)) {
		auto was = std::ranges::find(gone, one.key(), &Block::key);
		if (was == gone.end() && one.entry) {
			changes.push_back({ConfigChange::Kind::added, one.table, one.name(), {}, one.lines});
			continue;
		}
		const std::vector<std::string> lines = was == gone.end() ? std::vector<std::string>() : was->lines;
		changes.push_back({ConfigChange::Kind::changed, one.table, one.name(), without(lines, one.lines),
				   without(one.lines, lines)});
		if (was != gone.end())
			gone.erase(was);
	}
	for (const Block &one : gone) // a removed table has its defaults, like an empty one
		changes.push_back({one.entry ? ConfigChange::Kind::removed : ConfigChange::Kind::changed,
				   one.table,
				   one.name(),
				   one.lines,
				   {}});
	addMoved(changes, all, now);
	return changes;
}

Reloaded planChanges(const Plan &before, const Plan &after)
{
	auto key = [](const PlannedService &service) { return service.key; };
	const std::set<std::string> had = textsOf(before.connections, textOf), has = textsOf(after.connections, textOf);
	const std::set<std::string> asked = textsOf(before.services, key), asks = textsOf(after.services, key);
	Reloaded reloaded;
	reloaded.wanted = difference(has, had);
	reloaded.unwanted = difference(had, has);
	reloaded.services = difference(asks, asked);
	reloaded.bygone = difference(asked, asks);
	return reloaded;
}

std::vector<std::string> linesOf(const Reloaded &reloaded)
{
	std::vector<std::string> lines;
	auto add = [&](const std::vector<std::string> &texts, const char *what) {
		for (const std::string &text : texts)
			lines.push_back(fmt::format("{}: {}", what, text));
	};
	for (const ConfigChange &one : reloaded.changes)
		lines.push_back(one.toString());
	add(reloaded.wanted, "connection added to the plan");
	add(reloaded.unwanted, "connection removed from the plan");
	add(reloaded.services, "discovery service added");
	add(reloaded.bygone, "discovery service removed");
	add(reloaded.rekeyed, "keys passed on, result in the journal");
	if (lines.empty())
		lines.emplace_back("no change");
	if (std::ranges::find(reloaded.changes, "defaults", &ConfigChange::table) != reloaded.changes.end())
		lines.emplace_back("[[defaults]] apply to new connections; 'nvmeofctl apply-policy' applies them to "
				   "existing subsystems");
	if (std::ranges::any_of(reloaded.changes, dropsKey))
		lines.emplace_back("existing connections keep keys that are no longer configured, until they are "
				   "disconnected");
	add(reloaded.notes, "note");
	return lines;
}

Json toJson(const Reloaded &reloaded)
{
	Json changes = Json::array();
	for (const ConfigChange &one : reloaded.changes)
		if (changes.size() < maxListed)
			changes.push_back({{"change", toString(one.kind)},
					   {"table", one.table},
					   {"name", one.name},
					   {"was", one.was},
					   {"is", one.is}});
	return {{"changes", std::move(changes)},
		{"connections", {{"added", listed(reloaded.wanted)}, {"removed", listed(reloaded.unwanted)}}},
		{"services", {{"added", listed(reloaded.services)}, {"removed", listed(reloaded.bygone)}}},
		{"keys", listed(reloaded.rekeyed)},
		{"notes", listed(reloaded.notes)},
		{"lines", listed(linesOf(reloaded))}};
}

} // namespace nvmeofd
