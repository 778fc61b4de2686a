// SPDX-License-Identifier: LGPL-2.1-or-later
#include "audit.h"

#include <algorithm>

#include <fmt/format.h>

namespace cdc {

namespace {

std::optional<Json> recordIn(const Model &model, const std::string &key)
{
	std::optional<Json> json;
	model.visit(key, [&](const auto &record) { json = record.json(); });
	return json;
}

std::string recordText(std::optional<Json> record)
{
	if (!record)
		return "nothing";
	if (record->is_object())
		record->erase("ends");
	return storedText(*record);
}

} // namespace

// Bounded: a registration can have a thousand records and can arrive a hundred times per second.
std::vector<std::string> auditLines(const Model &model, const std::vector<Change> &changes, std::size_t max)
{
	const std::size_t maxCompared = std::min(changes.size(), 10 * max);
	std::vector<std::string> lines;
	std::size_t compared = 0;
	for (; compared < maxCompared && lines.size() < max; compared++) {
		const Change &change = changes[compared];
		const std::string before = recordText(recordIn(model, change.key));
		const std::string after = recordText(
			change.value ? std::optional(Json::parse(*change.value, nullptr, false)) : std::nullopt);
		if (before != after)
			lines.push_back(fmt::format("{}: {} -> {}", change.key, before, after));
	}
	if (const std::size_t more = changes.size() - compared; more > 0)
		lines.push_back(fmt::format("and up to {} more records", more));
	return lines;
}

} // namespace cdc
