// SPDX-License-Identifier: LGPL-2.1-or-later
// Records and their generation in an SQLite file, which is locked as long as the object exists.
#pragma once

#include <filesystem>
#include <memory>

#include <sqlite3.h>

#include "store.h"

namespace cdc {

class RecordFile {
public:
	enum class Purpose { store, cache };
	struct Contents {
		std::vector<Change> records;
		std::uint64_t generation = 0;
		std::int64_t heard = 0; // cache: seconds since 1970
	};

	RecordFile(std::filesystem::path file, Purpose purpose) : file_(std::move(file)), purpose_(purpose) {}

	const std::filesystem::path &path() const { return file_; }
	// Creates a missing file. @rebuild: a damaged file is moved aside and replaced by a new one. Errors: it cannot
	// be opened or written, belongs to another program, is damaged, or has a newer schema
	nvmeof::Result<Contents> open(bool rebuild);
	// The name to which open() has moved a damaged file
	const std::filesystem::path &movedTo() const { return movedTo_; }

	// Applies all of @changes or none. Returns those that had an effect, and the resulting generation
	nvmeof::Result<StoreUpdate> commit(std::vector<Change> changes);
	nvmeof::Result<std::uint64_t> raise(std::uint64_t above);
	// For a cache: stores @news of another store that was last reachable at @heard, seconds since 1970
	nvmeof::Result<void> keep(const StoreUpdate &news, std::int64_t heard);

private:
	struct Close {
		void operator()(sqlite3 *db) const { sqlite3_close(db); }
	};
	struct Finalize {
		void operator()(sqlite3_stmt *statement) const { sqlite3_finalize(statement); }
	};
	using Statement = std::unique_ptr<sqlite3_stmt, Finalize>;

	nvmeof::Error failure(const char *what);
	nvmeof::Error damage(const std::string &found);
	nvmeof::Result<void> run(const std::string &sql);
	nvmeof::Result<Statement> prepare(const char *sql);
	nvmeof::Result<std::int64_t> number(const char *sql);
	nvmeof::Result<void> openIt();
	nvmeof::Result<void> check();
	nvmeof::Result<void> migrate();
	nvmeof::Result<void> moveAside();
	nvmeof::Result<Contents> read();
	nvmeof::Result<bool> apply(const Change &change);
	nvmeof::Result<std::vector<Change>> applyAll(std::vector<Change> changes);
	nvmeof::Result<std::uint64_t> setGeneration(std::uint64_t generation);
	template <typename T> nvmeof::Result<T> ended(nvmeof::Result<T> work, bool over);

	std::filesystem::path file_, movedTo_;
	Purpose purpose_;
	bool damaged_ = false;
	std::unique_ptr<sqlite3, Close> db_;
	std::uint64_t generation_ = 0;
};

} // namespace cdc
