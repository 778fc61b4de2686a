// SPDX-License-Identifier: LGPL-2.1-or-later
// Moves all records except instances from one store to another; the generation continues to rise.
#pragma once

#include <map>

#include "serving/loop.h"
#include "store.h"

namespace cdc {

struct Moved {
	std::size_t records = 0;
	std::uint64_t before = 0; // last generation of the old store; the new one continues above it
};

class Move {
public:
	using Done = std::function<void(nvmeof::Result<Moved>)>;

	// Neither store is started yet, and no instance uses @from, which has no cache. @to may have some of the same
	// records, so that an interrupted move can be repeated, but no others.
	Move(serving::Loop &loop, Store &from, Store &to, Done done);
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
	serving::Timer patience_;
	Records records_;
	Records::const_iterator next_;
	Moved moved_;
	bool read_ = false, there_ = false;
};

} // namespace cdc
