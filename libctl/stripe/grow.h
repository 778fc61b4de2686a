// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A stripe moves to other members while it is in use: device mapper's mirror copies, and writes go to both until all is
 * there. What ends it in between leaves the old members whole; the copy can be ended, or gone on with, later.
 */
#pragma once

#include <optional>
#include <string>

#include "build.h"

namespace nofctl::stripe {

// Of the mirror's status
struct CopyState {
	std::uint64_t done = 0, of = 0; // regions
	bool broken = false;            // one side does not take writes any more
};

// "2 254:1 254:2 12/40 1 AA 1 core"; nothing: it is none of a mirror.
std::optional<CopyState> parseCopy(const std::string &status);

// What is below it is NAME-old and NAME-new.
std::string oldName(const std::string &name);
std::string newName(const std::string &name);

// From an ordinary stripe to one that is being copied to @to.
nvmeof::Result<void> beginCopy(const Mapped &stripe, const Target &to);
// Whether it is being copied.
bool isCopying(const Mapped &stripe);
nvmeof::Result<CopyState> copyState(const std::string &name);
// All is there: the new members alone.
nvmeof::Result<void> endCopy(const std::string &name);
// The old members alone.
nvmeof::Result<void> undoCopy(const std::string &name);

} // namespace nofctl::stripe
