// SPDX-License-Identifier: LGPL-2.1-or-later
#include "etcd_view.h"

#include <charconv>

namespace cdc::etcd {

namespace {

// 0: not a valid number
std::uint64_t numberIn(const std::string &text)
{
	std::uint64_t number = 0;
	auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
	return error == std::errc() && end == text.data() + text.size() && number <= UINT64_MAX / 2 ? number : 0;
}

} // namespace

bool View::Position::isContinuedBy(const Position &later) const
{
	const bool sameBase = later.baseRevision == baseRevision && later.base == base;
	return later.header.cluster == header.cluster && later.header.revision >= header.revision &&
	       later.generation() && later.generationRevision >= generationRevision &&
	       (sameBase || later.baseRevision > header.revision);
}

void View::apply(const Event &event, std::vector<Change> &changes)
{
	marks_.header.revision = std::max(marks_.header.revision, event.revision);
	if (!event.key.starts_with(prefix_))
		return;
	const std::string key = event.key.substr(prefix_.size());
	if (kindOf(key)) {
		auto record = records_.find(key);
		if (event.value ? record != records_.end() && record->second == *event.value : record == records_.end())
			return;
		if (event.value)
			records_.insert_or_assign(key, *event.value);
		else
			records_.erase(record);
		changes.push_back({key, event.value});
	} else if (key.starts_with("alive/")) {
		event.value ? (void)alive_.insert(key.substr(6)) : (void)alive_.erase(key.substr(6));
	} else if (event.key == generationKey()) {
		marks_.generationRevision = event.value ? event.revision : 0;
	} else if (event.key == baseKey()) {
		marks_.base = event.value ? numberIn(*event.value) : 0;
		marks_.baseRevision = event.value ? event.revision : 0;
	}
}

StoreUpdate View::apply(const std::vector<Event> &events)
{
	StoreUpdate news;
	for (const Event &event : events)
		apply(event, news.changes);
	news.generation = generation();
	return news;
}

StoreUpdate View::whole() const
{
	StoreUpdate news{.whole = true, .changes = {}, .generation = generation()};
	for (const auto &[key, value] : records_)
		news.changes.push_back({key, value});
	return news;
}

const std::string *View::valueOf(const std::string &key) const
{
	auto found = records_.find(key);
	return found == records_.end() ? nullptr : &found->second;
}

std::vector<std::string> View::dead() const
{
	std::vector<std::string> dead;
	const std::string prefix(prefixOf(Kind::instance));
	for (auto record = records_.lower_bound(prefix); record != records_.end(); ++record) {
		if (!record->first.starts_with(prefix))
			break;
		if (const std::string id = record->first.substr(prefix.size()); !alive(id))
			dead.push_back(id);
	}
	return dead;
}

} // namespace cdc::etcd
