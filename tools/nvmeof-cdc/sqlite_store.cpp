// SPDX-License-Identifier: LGPL-2.1-or-later
#include "sqlite_store.h"

#include <fmt/format.h>

namespace cdc {

using nvmeof::Error;
using nvmeof::ErrorCode;
using nvmeof::Result;

namespace {

constexpr int application_id = 0x6e6f6663; // "nofc": whose file it is
constexpr int schema_version = 1;

Error wrong(std::string message)
{
	Error error;
	error.message = std::move(message);
	return error;
}

std::string text(sqlite3_stmt *statement, int column)
{
	const auto *bytes = reinterpret_cast<const char *>(sqlite3_column_text(statement, column));
	return bytes ? std::string(bytes, static_cast<std::size_t>(sqlite3_column_bytes(statement, column))) : "";
}

void bind(sqlite3_stmt *statement, int place, const std::string &value)
{
	sqlite3_bind_text(statement, place, value.data(), static_cast<int>(value.size()), SQLITE_TRANSIENT);
}

// Hosts are told again by themselves what they have registered; of all else nothing may be lost with the power.
bool precious(const std::vector<Change> &changes)
{
	for (const Change &change : changes)
		if (toldToHosts(kindOf(change.key).value_or(Kind::target)))
			return true;
	return false;
}

} // namespace

Error SqliteStore::failure(const std::string &what) const
{
	const int code = db_ ? sqlite3_errcode(db_.get()) : SQLITE_CANTOPEN;
	std::string advice;
	if (code == SQLITE_BUSY || code == SQLITE_LOCKED)
		advice = "; another nvmeof-cdc has it: stop that one, or give this one a file of its own";
	else if (code == SQLITE_CORRUPT || code == SQLITE_NOTADB)
		advice = "; put back a copy, or move it away and start with an empty one";
	else if (code == SQLITE_FULL)
		advice = "; make room on its file system";
	else if (code == SQLITE_READONLY || code == SQLITE_CANTOPEN)
		advice = "; see who may write it and its folder, and whether the file system is mounted read-only";
	return wrong(fmt::format("{}: {}: {}{}", file_.string(), what, db_ ? sqlite3_errmsg(db_.get()) : "no memory",
				 advice));
}

Result<void> SqliteStore::run(const char *sql)
{
	if (sqlite3_exec(db_.get(), sql, nullptr, nullptr, nullptr) != SQLITE_OK)
		return failure("cannot use the store");
	return {};
}

Result<SqliteStore::Statement> SqliteStore::prepare(const char *sql)
{
	sqlite3_stmt *made = nullptr;
	if (sqlite3_prepare_v2(db_.get(), sql, -1, &made, nullptr) != SQLITE_OK)
		return failure("cannot use the store");
	return Statement(made);
}

Result<std::int64_t> SqliteStore::number(const char *sql)
{
	Result<Statement> statement = prepare(sql);
	if (!statement)
		return statement.error();
	if (sqlite3_step(statement->get()) != SQLITE_ROW)
		return failure("cannot read the store");
	return sqlite3_column_int64(statement->get(), 0);
}

// Whole, ours, and not of a newer version
Result<void> SqliteStore::check()
{
	Result<std::int64_t> id = number("PRAGMA application_id"), version = number("PRAGMA user_version");
	if (!id)
		return id.error();
	if (!version)
		return version.error();
	if (*version && *id != application_id)
		return wrong(fmt::format("{}: that is another program's", file_.string()));
	if (*version > schema_version)
		return wrong(fmt::format("{}: made by a newer version (schema {}, this one knows {}): update, or start "
					 "with another file",
					 file_.string(), *version, schema_version));
	Result<Statement> quick = prepare("PRAGMA quick_check(1)");
	if (!quick)
		return quick.error();
	if (sqlite3_step(quick->get()) != SQLITE_ROW)
		return failure("cannot check the store");
	if (std::string found = text(quick->get(), 0); found != "ok")
		return wrong(
			fmt::format("{}: damaged: {}; put back a copy, or move it away and start with an empty one",
				    file_.string(), found));
	return {};
}

Result<void> SqliteStore::migrate()
{
	Result<std::int64_t> version = number("PRAGMA user_version");
	if (!version || *version == schema_version)
		return version ? Result<void>() : version.error();
	return run("BEGIN IMMEDIATE;"
		   "CREATE TABLE record(key TEXT PRIMARY KEY NOT NULL, value TEXT NOT NULL) WITHOUT ROWID;"
		   "CREATE TABLE generation(value INTEGER NOT NULL);"
		   "INSERT INTO generation VALUES(1);"
		   "PRAGMA application_id = 0x6e6f6663;"
		   "PRAGMA user_version = 1;"
		   "COMMIT");
}

Result<News> SqliteStore::all()
{
	Result<std::int64_t> generation = number("SELECT value FROM generation");
	if (!generation)
		return generation.error();
	generation_ = static_cast<std::uint64_t>(*generation);
	Result<Statement> rows = prepare("SELECT key, value FROM record");
	if (!rows)
		return rows.error();
	News news{.whole = true, .changes = {}, .generation = generation_};
	int step;
	while ((step = sqlite3_step(rows->get())) == SQLITE_ROW)
		news.changes.push_back({text(rows->get(), 0), text(rows->get(), 1)});
	if (step != SQLITE_DONE)
		return failure("cannot read the store");
	return news;
}

Result<void> SqliteStore::start(Told told)
{
	told_ = std::move(told);
	sqlite3 *opened = nullptr;
	const int result = sqlite3_open_v2(file_.c_str(), &opened, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
	db_.reset(opened);
	if (result != SQLITE_OK)
		return failure("cannot open the store");
	// one lock for life: nobody else reads or writes
	for (const char *sql :
	     {"PRAGMA locking_mode = EXCLUSIVE", "PRAGMA journal_mode = WAL", "BEGIN IMMEDIATE; COMMIT"})
		if (Result<void> done = run(sql); !done)
			return done;
	if (Result<void> done = check(); !done)
		return done;
	if (Result<void> done = migrate(); !done)
		return done;
	Result<News> news = all();
	if (!news)
		return news.error();
	told_(*std::move(news));
	return {};
}

// Whether anything is another than before
Result<bool> SqliteStore::apply(const Change &change)
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

// Within a transaction, which the caller ends when it fails
Result<News> SqliteStore::commit(std::vector<Change> changes)
{
	News news;
	bool told = false;
	for (Change &change : changes) {
		Result<bool> changed = apply(change);
		if (!changed)
			return changed.error();
		if (!*changed)
			continue;
		told = told || toldToHosts(kindOf(change.key).value_or(Kind::target));
		news.changes.push_back(std::move(change));
	}
	news.generation = generation_ + told;
	if (told)
		if (Result<void> done = run("UPDATE generation SET value = value + 1"); !done)
			return done.error();
	if (Result<void> done = run("COMMIT"); !done)
		return done.error();
	return news;
}

void SqliteStore::write(std::vector<Change> changes, Done done)
{
	Result<void> begun = run(precious(changes) ? "PRAGMA synchronous = FULL; BEGIN IMMEDIATE"
						   : "PRAGMA synchronous = NORMAL; BEGIN IMMEDIATE");
	Result<News> news = begun ? commit(std::move(changes)) : Result<News>(begun.error());
	if (!news) {
		trouble_ = news.error().message;
		if (!sqlite3_get_autocommit(db_.get()))
			sqlite3_exec(db_.get(), "ROLLBACK", nullptr, nullptr, nullptr);
		return done(news.error());
	}
	trouble_.clear();
	generation_ = news->generation;
	if (!news->changes.empty())
		told_(*std::move(news));
	done({});
}

// The only one there is: not worth writing down
void SqliteStore::join(const Instance &instance)
{
	told_({.whole = false, .changes = {{instance.key(), instance.json().dump()}}, .generation = generation_});
}

StoreState SqliteStore::state() const
{
	return {.engine = "sqlite", .place = file_.string(), .writable = trouble_.empty(), .trouble = trouble_};
}

} // namespace cdc
