// SPDX-License-Identifier: LGPL-2.1-or-later
// The reservation report of a disk, as the target gives it; NVMe Base 2.0, 7.4 and 8.19
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

struct Registrant {
	std::string host; // its identifier, as a UUID
	std::uint64_t key = 0;
	bool holds = false;
	bool thisHost = false;
};

struct ReservationReport {
	std::uint32_t generation = 0; // raised with each registration that comes, changes or goes
	std::uint8_t type = 0;        // 1 to 6; 0: nobody holds it
	bool persists = false;        // registrations outlive a loss of power
	std::vector<Registrant> registrants;
};

// Entries that a report of so many bytes tells of; a registrant has one for each of its controllers, or one for all
std::size_t reservationEntries(std::span<const std::uint8_t> report);
// @self: this host. Nothing: it is none.
std::optional<ReservationReport> parseReservation(std::span<const std::uint8_t> report,
						  const std::optional<nvmeof::Uuid> &self);
// Error refused: the target's NVMe status
nvmeof::Result<ReservationReport> readReservation(const nvmeof::Namespace &ns, const std::optional<nvmeof::Uuid> &self);

} // namespace nofctl::volume
