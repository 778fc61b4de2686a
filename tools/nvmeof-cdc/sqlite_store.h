// SPDX-License-Identifier: LGPL-2.1-or-later
// The embedded store: an SQLite file used by a single instance. Writes of one turn of the loop form one transaction.
#pragma once

#include "libctl/runtime/loop.h"
#include "record_file.h"
#include "store.h"

namespace cdc {

class SqliteStore : public Store {
public:
	// @rebuild: move a damaged file aside and start with an empty one
	SqliteStore(runtime::Loop &loop, std::filesystem::path file, bool rebuild = false);

	// Reports the records before it returns.
	nvmeof::Result<void> start(OnUpdate onUpdate) override;
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
	OnUpdate onUpdate_;
	std::vector<Write> writes_;
	runtime::Timer turn_;                // end of the turn
	std::vector<std::string> instances_; // keys of instance records in the file
	std::uint64_t generation_ = 0;
	std::string trouble_;
};

} // namespace cdc
