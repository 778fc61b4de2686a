// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Moves a stripe to other members while it is in use. A device-mapper mirror copies the data and writes to both sides
 * until the copy is complete. If it is interrupted, the old members are still complete; the copy can be undone or
 * finished later.
 */
#pragma once

#include <optional>
#include <string>

#include "build.h"

namespace nofctl::stripe {

// From the mirror's status
struct CopyState {
	std::uint64_t done = 0, of = 0; // copied and total regions
	bool broken = false;            // one side has failed
};

// Parses "2 254:1 254:2 12/40 1 AA 1 core"; nothing if it is not the status of a mirror.
std::optional<CopyState> parseCopy(const std::string &status);

// Names of the two devices below the mirror: NAME-old and NAME-new.
std::string oldName(const std::string &name);
std::string newName(const std::string &name);

// Turns a stripe into a mirror that copies to @to.
nvmeof::Result<void> beginCopy(const Mapped &stripe, const Target &to);
// Whether the stripe is a mirror, that is, being copied.
bool isCopying(const Mapped &stripe);
nvmeof::Result<CopyState> copyState(const std::string &name);
// Keeps only the new members. Must be called after the copy is complete.
nvmeof::Result<void> endCopy(const std::string &name);
// Keeps only the old members.
nvmeof::Result<void> undoCopy(const std::string &name);

} // namespace nofctl::stripe
