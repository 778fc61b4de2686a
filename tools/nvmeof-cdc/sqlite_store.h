// SPDX-License-Identifier: LGPL-2.1-or-later
// The embedded store: one file, of one service alone. What is written in one turn of the loop is one transaction.
#pragma once

#include "record_file.h"
#include "serving/loop.h"
#include "store.h"

namespace cdc {

class SqliteStore : public Store {
public:
	// @rebuild: a file that is damaged is moved aside, and an empty one begun
	SqliteStore(serving::Loop &loop, std::filesystem::path file, bool rebuild = false);

	// Tells at once.
	nvmeof::Result<void> start(Told told) override;
	void write(std::vector<Change> changes, Done done) override;
	void raise(std::uint64_t above, Done done) override;
	void join(const Instance &instance) override;
	void leave(Done done) override;
	StoreState state() const override;

private:
	struct Write {
		std::vector<Change> changes;
		Done done;
	};

	void commit();
	nvmeof::Result<void> commit(std::vector<Change> changes);

	RecordFile file_;
	bool rebuild_;
	Told told_;
	std::vector<Write> writes_;
	serving::Timer turn_;                // ends
	std::vector<std::string> instances_; // keys, in the file
	std::uint64_t generation_ = 0;
	std::string trouble_;
};

} // namespace cdc
