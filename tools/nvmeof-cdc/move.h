// SPDX-License-Identifier: LGPL-2.1-or-later
// From one store to another: all records but instances, and generations that go on growing.
#pragma once

#include <map>

#include "serving/loop.h"
#include "store.h"

namespace cdc {

struct Moved {
	std::size_t records = 0;
	std::uint64_t before = 0; // the last generation there, which is smaller than any here
};

class Move {
public:
	using Done = std::function<void(nvmeof::Result<Moved>)>;

	// Both are not started yet; nobody uses @from meanwhile, and it has no cache. @to may have some of the same
	// records, so that what was interrupted can be done again, but no other ones.
	Move(serving::Loop &loop, Store &from, Store &to, Done done);
	void start();

private:
	using Records = std::map<std::string, std::string>;

	void isRead(const News &news);
	void isThere(const News &news);
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
