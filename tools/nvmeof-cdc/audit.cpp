// SPDX-License-Identifier: LGPL-2.1-or-later
#include "audit.h"

#include <fmt/format.h>

namespace cdc {

namespace {

constexpr std::size_t most_lines = 100;

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

std::vector<std::string> auditLines(const Model &model, const std::vector<Change> &changes)
{
	std::vector<std::string> lines;
	std::size_t more = 0;
	for (const Change &change : changes) {
		const std::string before = recordText(recordIn(model, change.key));
		const std::string after = recordText(
			change.value ? std::optional(Json::parse(*change.value, nullptr, false)) : std::nullopt);
		if (before == after)
			continue;
		if (lines.size() < most_lines)
			lines.push_back(fmt::format("{}: {} -> {}", change.key, before, after));
		else
			more++;
	}
	if (more > 0)
		lines.push_back(fmt::format("and {} more records", more));
	return lines;
}

} // namespace cdc
