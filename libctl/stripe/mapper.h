// SPDX-License-Identifier: LGPL-2.1-or-later
// Device-mapper devices, through libdevmapper, and the stripes among them. Requires root.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nvmeof/config.h>
#include <nvmeof/result.h>
#include <nvmeof/snapshot.h>

namespace nofctl::stripe {

struct Target {
	std::uint64_t start = 0, length = 0; // sectors
	std::string type, parameters;
};

struct Mapped {
	std::string name;
	std::string uuid;
	int users = 0; // openers
	bool suspended = false;
	std::vector<Target> table;

	std::uint64_t sectors() const;
};

// Nothing if no device has that name.
nvmeof::Result<std::optional<Mapped>> findMapped(const std::string &name);
nvmeof::Result<std::vector<std::string>> mappedNames();

nvmeof::Result<void> removeMapped(const std::string &name);

// A configured stripe, and the members that exist
struct Parts {
	std::vector<std::string> disks;   // names, in order; "" for a missing member
	std::vector<std::string> missing; // wwids of missing members
	std::uint64_t bytes = 0;          // size of the stripe; only if no member is missing

	bool whole() const { return missing.empty(); }
};

Parts membersOfStripe(const nvmeof::ConfigStripe &stripe, const nvmeof::Snapshot &all);
// The single target of a stripe over @disks.
Target stripedTarget(const std::vector<std::string> &disks, std::uint64_t chunk, std::uint64_t bytes);
nvmeof::Result<void> makeStripe(const std::string &name, const Target &target);
// Whether @mapped is one of our stripes, judged by its name and uuid.
bool isStripe(const Mapped &mapped);

/*
 * Moves a stripe to other members while it is in use. A device-mapper mirror copies the data and writes to both sides
 * until the copy is complete. If it is interrupted, the old members are still complete; the copy can be undone or
 * finished later.
 */

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

// A stripe as its table has it, with the wwids that its disks have now; "" for a disk that is gone
nvmeof::ConfigStripe stripeOf(const std::string &name, const Mapped &striped, const nvmeof::Snapshot &all);

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
