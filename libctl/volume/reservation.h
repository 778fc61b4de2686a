// SPDX-License-Identifier: LGPL-2.1-or-later
// The reservation report of a namespace; NVMe Base 2.0, 7.4 and 8.19
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

} // namespace nofctl::volume
