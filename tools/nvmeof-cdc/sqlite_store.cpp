// SPDX-License-Identifier: LGPL-2.1-or-later
#include "sqlite_store.h"

#include <syslog.h>

#include <fmt/format.h>

#include "libctl/runtime/journal.h"

namespace cdc {

using nvmeof::Result;

SqliteStore::SqliteStore(runtime::Loop &loop, std::filesystem::path file, bool rebuild)
	: file_(std::move(file), RecordFile::Purpose::store), rebuild_(rebuild), turn_(loop, [this] { commit(); })
{
}

Result<void> SqliteStore::start(OnUpdate onUpdate)
{
	onUpdate_ = std::move(onUpdate);
	Result<RecordFile::Contents> contents = file_.open(rebuild_);
	if (!contents)
		return contents.error();
	if (!file_.movedTo().empty())
		runtime::say(LOG_WARNING, fmt::format("{} was damaged: it was renamed to {}, and the store is empty",
						      file_.path().string(), file_.movedTo().string()));
	for (const Change &record : contents->records)
		if (kindOf(record.key) == Kind::instance)
			instances_.push_back(record.key);
	generation_ = contents->generation;
	onUpdate_({.whole = true, .changes = std::move(contents->records), .generation = generation_});
	return {};
}

void SqliteStore::write(std::vector<Change> changes, Done done)
{
	writes_.push_back({std::move(changes), std::move(done)});
	turn_.startUnlessRunning(std::chrono::milliseconds(0));
}

Result<void> SqliteStore::commit(std::vector<Change> changes)
{
	if (changes.empty())
		return {};
	Result<StoreUpdate> news = file_.commit(std::move(changes));
	trouble_ = news ? "" : news.error().message;
	if (!news)
		return news.error();
	generation_ = news->generation;
	if (!news->changes.empty())
		onUpdate_(*std::move(news));
	return {};
}

// Commits all writes together; if that fails, each by itself, so that a bad write does not fail the others.
void SqliteStore::commit()
{
	std::vector<Write> writes;
	writes.swap(writes_);
	std::vector<Change> all;
	for (const Write &write : writes)
		all.insert(all.end(), write.changes.begin(), write.changes.end());
	const Result<void> together = commit(std::move(all));
	for (Write &write : writes)
		write.done(together || writes.size() == 1 ? together : commit(std::move(write.changes)));
}

void SqliteStore::raise(std::uint64_t above, Done done)
{
	Result<std::uint64_t> raised = file_.raise(above);
	if (!raised)
		return done(raised.error());
	if (*raised != generation_) {
		generation_ = *raised;
		onUpdate_({.whole = false, .changes = {}, .generation = generation_});
	}
	done({});
}

// This is the only instance: records of other IDs are stale and removed.
void SqliteStore::join(const Instance &instance)
{
	std::vector<Change> changes;
	for (const std::string &key : instances_)
		if (key != instance.key())
			changes.push_back({key, {}});
	changes.push_back(changeOf(instance));
	instances_ = {instance.key()};
	write(std::move(changes), [this, instance](const Result<void> &done) {
		if (!done) // hosts need the instance's own entry even if it cannot be stored
			onUpdate_({.whole = false, .changes = {changeOf(instance)}, .generation = generation_});
	});
}

void SqliteStore::leave(Done done)
{
	write({}, std::move(done)); // completes after all earlier writes
}

StoreState SqliteStore::state() const
{
	return {.engine = "sqlite", .place = file_.path().string(), .writable = trouble_.empty(), .trouble = trouble_};
}

} // namespace cdc
