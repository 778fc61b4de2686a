// SPDX-License-Identifier: LGPL-2.1-or-later
// Opens the configured store, and moves records between stores.
#pragma once

#include <map>
#include <memory>

#include "config.h"
#include "libctl/runtime/loop.h"
#include "store.h"

namespace cdc {

// The configured store, not started yet. @rebuild: replace a damaged local file by a new one. Errors: the password file
// of etcd cannot be read
nvmeof::Result<std::unique_ptr<Store>> makeStore(runtime::Loop &loop, const StoreRules &rules, bool rebuild);

struct Moved {
	std::size_t records = 0;
	std::uint64_t before = 0; // last generation of the old store; the new one continues above it
};

// Moves all records except instances from one store to another; the generation continues to rise.
class Move {
public:
	using Done = std::function<void(nvmeof::Result<Moved>)>;

	// Neither store is started yet, and no instance uses @from, which has no cache. @to may have some of the same
	// records, so that an interrupted move can be repeated, but no others.
	Move(runtime::Loop &loop, Store &from, Store &to, Done done);
	void start();

private:
	using Records = std::map<std::string, std::string>;

	void sourceRead(const StoreUpdate &news);
	void targetRead(const StoreUpdate &news);
	void isWritten(const nvmeof::Result<void> &written);
	void writeNext();
	void end(nvmeof::Result<Moved> result);

	Store &from_, &to_;
	Done done_;
	runtime::Timer patience_;
	Records records_;
	Records::const_iterator next_;
	Moved moved_;
	bool read_ = false, there_ = false;
};

} // namespace cdc
