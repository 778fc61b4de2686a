// SPDX-License-Identifier: LGPL-2.1-or-later
#include "record_file.h"

#include <algorithm>
#include <chrono>
#include <ctime>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "libctl/base/make_error.h"
#include "wall_clock.h"

namespace cdc {

using nvmeof::Error;
using nvmeof::Result;

namespace {

// Each step upgrades the schema by one version.
constexpr const char *steps[] = {
	"CREATE TABLE record(key TEXT PRIMARY KEY NOT NULL, value TEXT NOT NULL) WITHOUT ROWID;"
	"CREATE TABLE generation(value INTEGER NOT NULL);",
	"ALTER TABLE generation ADD COLUMN heard INTEGER NOT NULL DEFAULT 0;",
};
constexpr int schemaVersion = std::size(steps);

// application_id: "nofc", "nofk"
int idOf(RecordFile::Purpose purpose)
{
	return purpose == RecordFile::Purpose::store ? 0x6e6f6663 : 0x6e6f666b;
}

// Based on the time, so that a new store does not repeat generations of an earlier one that hosts may have seen.
std::int64_t firstGeneration()
{
	return std::max<std::int64_t>(1, wallMs());
}

std::string columnText(sqlite3_stmt *statement, int column)
{
	const auto *bytes = reinterpret_cast<const char *>(sqlite3_column_text(statement, column));
	return bytes ? std::string(bytes, static_cast<std::size_t>(sqlite3_column_bytes(statement, column))) : "";
}

void bind(sqlite3_stmt *statement, int place, const std::string &value)
{
	sqlite3_bind_text64(statement, place, value.data(), value.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
}

bool affectLogs(const std::vector<Change> &changes)
{
	return std::ranges::any_of(
		changes, [](const Change &change) { return affectsLogs(kindOf(change.key).value_or(Kind::target)); });
}

bool isDamage(int code)
{
	return code == SQLITE_CORRUPT || code == SQLITE_NOTADB;
}

const char *adviceFor(int code)
{
	switch (code) {
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return "; another nvmeof-cdc uses it: stop that instance, or configure another file for this one";
	case SQLITE_FULL:
		return "; free space on its file system";
	case SQLITE_READONLY:
	case SQLITE_CANTOPEN:
	case SQLITE_PERM:
		return "; check the permissions of the file and its directory, and whether the file system is mounted "
		       "read-only";
	}
	return "";
}

} // namespace

Error RecordFile::damage(const std::string &found)
{
	damaged_ = true;
	const char *advice =
		purpose_ == Purpose::cache
			? "start with --rebuild to move it aside and rebuild it from etcd"
			: "restore a copy, or start with --rebuild to move it aside and create an empty one";
	return nofctl::makeError(fmt::format("{}: damaged: {}; {}", file_.string(), found, advice));
}

Error RecordFile::failure(const char *what)
{
	const int code = db_ ? sqlite3_errcode(db_.get()) : SQLITE_NOMEM;
	const std::string why = db_ ? sqlite3_errmsg(db_.get()) : "no memory";
	if (isDamage(code & 0xff))
		return damage(why);
	return nofctl::makeError(fmt::format("{}: {}: {}{}", file_.string(), what, why, adviceFor(code & 0xff)));
}

Result<void> RecordFile::run(const std::string &sql)
{
	if (sqlite3_exec(db_.get(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK)
		return failure("cannot use the store");
	return {};
}

Result<RecordFile::Statement> RecordFile::prepare(const char *sql)
{
	sqlite3_stmt *made = nullptr;
	if (sqlite3_prepare_v2(db_.get(), sql, -1, &made, nullptr) != SQLITE_OK)
		return failure("cannot use the store");
	return Statement(made);
}

Result<std::int64_t> RecordFile::number(const char *sql)
{
	Result<Statement> statement = prepare(sql);
	if (!statement)
		return statement.error();
	switch (sqlite3_step(statement->get())) {
	case SQLITE_ROW:
		return sqlite3_column_int64(statement->get(), 0);
	case SQLITE_DONE:
		return damage("a value is missing");
	}
	return failure("cannot read the store");
}

// Checks that the file is intact, ours, and not of a newer version
Result<void> RecordFile::check()
{
	Result<std::int64_t> id = number("PRAGMA application_id"), version = number("PRAGMA user_version");
	if (!id || !version)
		return id ? version.error() : id.error();
	if (*id && *id != idOf(purpose_))
		return nofctl::makeError(fmt::format("{}: this file {}: configure another file", file_.string(),
						     *id == idOf(Purpose::cache)   ? "is a cache of etcd, not a store"
						     : *id == idOf(Purpose::store) ? "is a store, not a cache of etcd"
										   : "belongs to another program"));
	Result<std::int64_t> tables = number("SELECT count(*) FROM sqlite_schema");
	if (!tables)
		return tables.error();
	if (!*id && (*version || *tables))
		return nofctl::makeError(fmt::format("{}: this file belongs to another program: configure another file",
						     file_.string()));
	if (*version > schemaVersion)
		return nofctl::makeError(
			fmt::format("{}: made by a newer version (schema {}, this one knows {}): update nvmeof-cdc, or "
				    "move a backup of 'nvmeofctl cdc backup' into another file with 'nvmeof-cdc move'",
				    file_.string(), *version, schemaVersion));
	Result<Statement> quick = prepare("PRAGMA quick_check(1)");
	if (!quick)
		return quick.error();
	if (sqlite3_step(quick->get()) != SQLITE_ROW)
		return failure("cannot check the store");
	if (std::string found = columnText(quick->get(), 0); found != "ok")
		return damage(found);
	return {};
}

// Upgrades the schema, or creates it, in one transaction
Result<void> RecordFile::migrate()
{
	Result<std::int64_t> version = number("PRAGMA user_version");
	if (!version || *version == schemaVersion)
		return version ? Result<void>() : version.error();
	std::string sql = "PRAGMA synchronous = FULL; BEGIN IMMEDIATE;";
	for (std::int64_t step = *version; step < schemaVersion; step++)
		sql += steps[step];
	if (*version == 0)
		sql += fmt::format("INSERT INTO generation(value) VALUES({});",
				   purpose_ == Purpose::store ? firstGeneration() : 0);
	sql += fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}; COMMIT", idOf(purpose_),
			   schemaVersion);
	return ended(run(sql), sqlite3_get_autocommit(db_.get()));
}

Result<void> RecordFile::openIt()
{
	damaged_ = false;
	sqlite3 *opened = nullptr;
	const int result = sqlite3_open_v2(file_.c_str(), &opened, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
	db_.reset(opened);
	if (result != SQLITE_OK)
		return failure("cannot open the store");
	// otherwise SQLite fails only when it locks the file
	if (sqlite3_db_readonly(db_.get(), "main") == 1)
		return nofctl::makeError(
			fmt::format("{}: it is not writable{}", file_.string(), adviceFor(SQLITE_READONLY)));
	// leave a damaged file as it was found
	sqlite3_db_config(db_.get(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
	// hold one exclusive lock until the file is closed
	for (const char *sql :
	     {"PRAGMA locking_mode = EXCLUSIVE", "PRAGMA journal_mode = WAL", "BEGIN IMMEDIATE; COMMIT"})
		if (Result<void> done = run(sql); !done)
			return done;
	if (Result<void> done = check(); !done)
		return done;
	sqlite3_db_config(db_.get(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, nullptr);
	return migrate();
}

Result<void> RecordFile::moveAside()
{
	db_.reset();
	movedTo_ = fmt::format("{}.damaged-{:%Y%m%dT%H%M%SZ}", file_.string(), fmt::gmtime(std::time(nullptr)));
	for (const char *part : {"-wal", "-journal", ""}) {
		std::error_code error;
		std::filesystem::rename(file_.string() + part, movedTo_.string() + part, error);
		if (error && (error != std::errc::no_such_file_or_directory || !*part))
			return nofctl::makeError(fmt::format("{}: cannot move it to {}: {}", file_.string(),
							     movedTo_.string(), error.message()));
	}
	return {};
}

Result<RecordFile::Contents> RecordFile::read()
{
	Contents contents;
	Result<std::int64_t> generation = number("SELECT value FROM generation"),
			     heard = number("SELECT heard FROM generation");
	if (!generation || !heard)
		return generation ? heard.error() : generation.error();
	contents.generation = generation_ = static_cast<std::uint64_t>(*generation);
	contents.heard = *heard;
	Result<Statement> rows = prepare("SELECT key, value FROM record");
	if (!rows)
		return rows.error();
	int step;
	while ((step = sqlite3_step(rows->get())) == SQLITE_ROW)
		contents.records.push_back({columnText(rows->get(), 0), columnText(rows->get(), 1)});
	if (step != SQLITE_DONE)
		return failure("cannot read the store");
	return contents;
}

Result<RecordFile::Contents> RecordFile::open(bool rebuild)
{
	Result<void> opened = openIt();
	Result<Contents> contents = opened ? read() : Result<Contents>(opened.error());
	if (contents || !damaged_ || !rebuild)
		return contents;
	if (Result<void> moved = moveAside(); !moved)
		return moved.error();
	opened = openIt();
	return opened ? read() : Result<Contents>(opened.error());
}

// Commits or rolls back a transaction. @over: @work has committed it already
template <typename T> Result<T> RecordFile::ended(Result<T> work, bool over)
{
	if (work && !over)
		if (Result<void> done = run("COMMIT"); !done)
			work = done.error();
	if (!sqlite3_get_autocommit(db_.get()))
		sqlite3_exec(db_.get(), "ROLLBACK", nullptr, nullptr, nullptr);
	return work;
}

// Returns whether the record has changed
Result<bool> RecordFile::apply(const Change &change)
{
	Result<Statement> statement =
		prepare(change.value ? "INSERT INTO record VALUES(?1, ?2) ON CONFLICT(key) DO UPDATE SET value = ?2 "
				       "WHERE value <> ?2"
				     : "DELETE FROM record WHERE key = ?1");
	if (!statement)
		return statement.error();
	bind(statement->get(), 1, change.key);
	if (change.value)
		bind(statement->get(), 2, *change.value);
	if (sqlite3_step(statement->get()) != SQLITE_DONE)
		return failure("cannot write the store");
	return sqlite3_changes(db_.get()) > 0;
}

Result<std::vector<Change>> RecordFile::applyAll(std::vector<Change> changes)
{
	std::vector<Change> applied;
	for (Change &change : changes) {
		Result<bool> changed = apply(change);
		if (!changed)
			return changed.error();
		if (*changed)
			applied.push_back(std::move(change));
	}
	return applied;
}

Result<std::uint64_t> RecordFile::setGeneration(std::uint64_t generation)
{
	if (Result<void> done = run(fmt::format("UPDATE generation SET value = {}", generation)); !done)
		return done.error();
	return generation;
}

Result<StoreUpdate> RecordFile::commit(std::vector<Change> changes)
{
	// hosts repeat their registrations; all other changes must survive a power failure
	const char *safety = affectLogs(changes) ? "FULL" : "NORMAL";
	if (Result<void> begun = run(fmt::format("PRAGMA synchronous = {}; BEGIN IMMEDIATE", safety)); !begun)
		return begun.error();
	auto work = [&]() -> Result<StoreUpdate> {
		Result<std::vector<Change>> applied = applyAll(std::move(changes));
		if (!applied)
			return applied.error();
		Result<std::uint64_t> generation =
			affectLogs(*applied) ? setGeneration(generation_ + 1) : Result<std::uint64_t>(generation_);
		if (!generation)
			return generation.error();
		return StoreUpdate{.whole = false, .changes = *std::move(applied), .generation = *generation};
	};
	Result<StoreUpdate> news = ended(work(), false);
	if (news)
		generation_ = news->generation;
	return news;
}

Result<std::uint64_t> RecordFile::raise(std::uint64_t above)
{
	if (generation_ > above)
		return generation_;
	if (Result<void> begun = run("PRAGMA synchronous = FULL; BEGIN IMMEDIATE"); !begun)
		return begun.error();
	Result<std::uint64_t> raised = ended(setGeneration(above + 1), false);
	if (raised)
		generation_ = *raised;
	return raised;
}

Result<void> RecordFile::keep(const StoreUpdate &news, std::int64_t heard)
{
	if (Result<void> begun = run("PRAGMA synchronous = NORMAL; BEGIN IMMEDIATE"); !begun)
		return begun;
	auto work = [&]() -> Result<void> {
		if (news.whole)
			if (Result<void> emptied = run("DELETE FROM record"); !emptied)
				return emptied;
		if (Result<std::vector<Change>> applied = applyAll(news.changes); !applied)
			return applied.error();
		return run(fmt::format("UPDATE generation SET value = {}, heard = {}", news.generation, heard));
	};
	Result<void> kept = ended(work(), false);
	if (kept)
		generation_ = news.generation;
	return kept;
}

} // namespace cdc
