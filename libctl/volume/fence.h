// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Grants the right to write to a namespace to one host at a time, by reservations of type Write Exclusive - Registrants
 * Only. A host that loses the right is unregistered, and the target then refuses its writes, including those still
 * queued. The key identifies the volume and the publication that a host is registered for: a later publication preempts
 * earlier ones, never the reverse.
 */
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <nvmeof/namespace.h>
#include <nvmeof/result.h>
#include <nvmeof/uuid.h>

namespace nofctl::volume {

// The reservation report of a namespace; NVMe Base 2.0, 7.4 and 8.19

struct Registrant {
	std::string host; // host identifier, as a UUID
	std::uint64_t key = 0;
	bool holds = false;
	bool thisHost = false;
};

struct ReservationReport {
	std::uint32_t generation = 0; // counts changes of registrations
	std::uint8_t type = 0;        // 1 to 6; 0: no reservation holder
	bool persists = false;        // PTPLS: reservations persist through power loss
	std::vector<Registrant> registrants;
};

// Number of entries according to the header. A registrant has one entry per controller, or a single entry.
std::size_t reservationEntries(std::span<const std::uint8_t> report);
// @self: ID of this host. Nothing if the report is malformed.
std::optional<ReservationReport> parseReservation(std::span<const std::uint8_t> report,
						  const std::optional<nvmeof::Uuid> &self);
// The error of a Reservation Report whose ioctl returned @status: -1 with errno set, or the NVMe status (refused).
nvmeof::Error reportError(const std::string &disk, int status);
nvmeof::Result<ReservationReport> readReservation(const nvmeof::Namespace &ns, const std::optional<nvmeof::Uuid> &self);

// Mark (8 bits), hash of the volume name (16 bits), publication number (40 bits): a time in units of 10 ms
struct FenceKey {
	std::uint64_t value = 0;

	static FenceKey make(const std::string &volume, std::uint64_t publication);
	static std::optional<FenceKey> parse(const std::string &text); // 16 hexadecimal digits
	std::string toString() const;
	std::uint64_t publication() const;
	bool ours() const; // carries the mark of make()
	bool sameVolume(const FenceKey &other) const;

	bool operator==(const FenceKey &) const = default;
};

inline bool hasFence(const nvmeof::Namespace &ns)
{
	return ns.reservations & nvmeof::writeExclusiveRegistrants;
}

// The next step to obtain the right
struct FenceStep {
	std::optional<std::string> refusal;  // why the right cannot be obtained
	std::optional<std::uint64_t> enroll; // key to register, replacing any existing one
	std::uint64_t key = 0;               // key of this host after that
	std::vector<std::uint64_t> victims;  // keys of earlier publications to preempt
	bool reserve = false;
	bool done() const { return !refusal && !enroll && victims.empty() && !reserve; }
};
FenceStep nextFenceStep(const ReservationReport &report, FenceKey key);

// Obtains the right and verifies it. Errors: EBUSY, if a later publication has the right, or other software has
// registered a host. After an error, a registration made by this call is withdrawn.
nvmeof::Result<void> takeFence(const nvmeof::Namespace &ns, const std::optional<nvmeof::Uuid> &self, FenceKey key);
// Gives up the right. Not an error if this host has lost it already.
nvmeof::Result<void> dropFence(const nvmeof::Namespace &ns, const std::optional<nvmeof::Uuid> &self);

} // namespace nofctl::volume
