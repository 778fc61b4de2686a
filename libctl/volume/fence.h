// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The right to write to a namespace, for one host at a time, by reservations of the target: "write exclusive,
 * registrants only". A host that lost the right is registered no longer, and the target refuses its writes, whatever it
 * still has in its queues. The key says which publication of which volume a host is registered for: a later one takes
 * the right from earlier ones, and never the other way round.
 */
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nvmeof/namespace.h>
#include <nvmeof/result.h>
#include <nvmeof/uuid.h>

#include "reservation.h"

namespace nofctl::volume {

// A mark (8 bits), a hash of the volume's name (16), the number of the publication (40): that of the time, in 10 ms
struct FenceKey {
	std::uint64_t value = 0;

	static FenceKey make(const std::string &volume, std::uint64_t publication);
	static std::optional<FenceKey> parse(const std::string &text); // 16 hexadecimal digits
	std::string toString() const;
	std::uint64_t publication() const;
	bool ours() const; // made by make()
	bool sameVolume(const FenceKey &other) const;

	bool operator==(const FenceKey &) const = default;
};

inline bool hasFence(const nvmeof::Namespace &ns)
{
	return ns.reservations & nvmeof::writeExclusiveRegistrants;
}

// The next step towards holding the right
struct FenceStep {
	std::optional<std::string> refusal;  // the right is not to be had; why
	std::optional<std::uint64_t> enroll; // a key to register, with whatever is registered already
	std::uint64_t key = 0;               // by which this host is registered then
	std::vector<std::uint64_t> victims;  // keys of earlier publications
	bool reserve = false;
	bool done() const { return !refusal && !enroll && victims.empty() && !reserve; }
};
FenceStep nextFenceStep(const ReservationReport &report, FenceKey key);

/*
 * Takes the right, and looks afterwards whether it has it. Error EBUSY: a later publication has it, or software that is
 * not this one has registered hosts. This host is not registered after an error.
 */
nvmeof::Result<void> takeFence(const nvmeof::Namespace &ns, const std::optional<nvmeof::Uuid> &self, FenceKey key);
// Gives it back. No error where this host has lost it.
nvmeof::Result<void> dropFence(const nvmeof::Namespace &ns, const std::optional<nvmeof::Uuid> &self);

} // namespace nofctl::volume
