// SPDX-License-Identifier: LGPL-2.1-or-later
// The embedded store: one file of SQLite's, of one service alone.
#pragma once

#include <filesystem>
#include <memory>

#include <sqlite3.h>

#include "store.h"

namespace cdc {

class SqliteStore : public Store {
public:
	explicit SqliteStore(std::filesystem::path file) : file_(std::move(file)) {}

	// Errors: the file cannot be opened or written, is another's, is damaged, or of a newer version
	nvmeof::Result<void> start(Told told) override;
	void write(std::vector<Change> changes, Done done) override;
	void join(const Instance &instance) override;
	StoreState state() const override;

private:
	struct Close {
		void operator()(sqlite3 *db) const { sqlite3_close(db); }
	};
	struct Finalize {
		void operator()(sqlite3_stmt *statement) const { sqlite3_finalize(statement); }
	};
	using Statement = std::unique_ptr<sqlite3_stmt, Finalize>;

	nvmeof::Error failure(const std::string &what) const;
	nvmeof::Result<void> run(const char *sql);
	nvmeof::Result<Statement> prepare(const char *sql);
	nvmeof::Result<std::int64_t> number(const char *sql);
	nvmeof::Result<void> check();
	nvmeof::Result<void> migrate();
	nvmeof::Result<News> all();
	nvmeof::Result<bool> apply(const Change &change);
	nvmeof::Result<News> commit(std::vector<Change> changes);

	std::filesystem::path file_;
	Told told_;
	std::unique_ptr<sqlite3, Close> db_;
	std::uint64_t generation_ = 0;
	std::string trouble_;
};

} // namespace cdc
