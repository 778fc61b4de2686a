// SPDX-License-Identifier: LGPL-2.1-or-later
#include "impact.h"

#include <algorithm>
#include <unordered_set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "libctl/base/invalid_error.h"

namespace cdc {

namespace {

constexpr std::size_t maxNamedHosts = 20;

// Keys of targets by their log entries. A copy of a model shares the entries.
using EntryKeys = std::unordered_map<const void *, std::string_view>;

EntryKeys entryKeysOf(const Model &model)
{
	EntryKeys keys;
	for (const auto &[key, port] : model.targets())
		keys.emplace(port.entry.get(), key);
	return keys;
}

std::vector<std::string_view> seenOn(const Page &page, const EntryKeys &keys)
{
	std::vector<std::string_view> seen;
	for (const Block &entry : page.entries())
		if (auto found = keys.find(entry.get()); found != keys.end())
			seen.push_back(found->second);
	return seen;
}

} // namespace

std::vector<Loss> lossesBy(const Model &model, const Model &changed, const ViewRules &rules,
			   const std::set<std::string> &hosts, Removed removed)
{
	const Views before(model, rules, nullptr), after(changed, rules, nullptr);
	const EntryKeys keysBefore = entryKeysOf(model), keysAfter = entryKeysOf(changed);
	std::map<std::pair<const ZoneSet *, const ZoneSet *>, Loss> known; // shared by hosts in the same zones
	std::vector<Loss> losses;
	for (const std::string &host : hosts) {
		const std::pair zones{before.zonesOf(host), after.zonesOf(host)};
		auto [loss, fresh] = known.try_emplace(zones);
		if (fresh) {
			const auto had = seenOn(*before.of(zones.first), keysBefore);
			const auto has = seenOn(*after.of(zones.second), keysAfter);
			const std::unordered_set<std::string_view> left(has.begin(), has.end());
			loss->second.before = had.size();
			for (std::string_view key : had)
				if (!left.contains(key) &&
				    (removed == Removed::counted || changed.targets().contains(std::string(key)))) {
					loss->second.lost++;
					if (loss->second.targets.size() < maxNamedHosts)
						loss->second.targets.emplace_back(nameOf(key));
				}
		}
		if (loss->second.lost == 0)
			continue;
		losses.push_back(loss->second);
		losses.back().hostnqn = host;
	}
	return losses;
}

std::string textOf(const Loss &loss)
{
	const std::size_t more = loss.lost - loss.targets.size();
	return fmt::format("{} would lose {} of {} targets: {}{}", loss.hostnqn, loss.lost, loss.before,
			   fmt::join(loss.targets, ", "), more ? fmt::format(" and {} more", more) : "");
}

nvmeof::Error tooLarge(const std::vector<Loss> &losses, std::string_view next)
{
	const Loss &worst = *std::ranges::find_if(losses, &Loss::large);
	const auto others = std::ranges::count_if(losses, &Loss::large) - 1;
	return nofctl::invalidError(
		fmt::format("{} would lose {} of {} targets{}; {}", worst.hostnqn, worst.lost, worst.before,
			    others ? fmt::format(", and {} other hosts more than half of theirs", others) : "", next));
}

} // namespace cdc
