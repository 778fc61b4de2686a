// SPDX-License-Identifier: LGPL-2.1-or-later
// Reservations of a namespace; NVMe Base 2.0, 8.19. The Host Identifier identifies a registrant.
#pragma once

#include "wire.h"

#include <array>
#include <mutex>
#include <vector>

namespace target {

using HostId = std::array<std::uint8_t, 16>;

enum ReservationType : std::uint8_t {
	resv_none = 0,
	resv_write_exclusive = 1,
	resv_exclusive_access = 2,
	resv_write_exclusive_registrants = 3,
	resv_exclusive_access_registrants = 4,
	resv_write_exclusive_all = 5,
	resv_exclusive_access_all = 6,
};

// Entry of the Reservation Notification log (80h) for a host affected by another host's command
struct ReservationNotice {
	enum Kind : std::uint8_t { registration_preempted = 1, released = 2, reservation_preempted = 3 };
	HostId host{};
	Kind kind = registration_preempted;
	std::uint32_t nsid = 0;
};

inline bool isReservation(std::uint8_t opcode)
{
	return opcode == op_resv_register || opcode == op_resv_report || opcode == op_resv_acquire ||
	       opcode == op_resv_release;
}

class Reservations {
public:
	using Notices = std::vector<ReservationNotice>;

	// Parameters as in the commands; each returns an NVMe status. action: dword 10, bits 2:0
	std::uint16_t registerKey(const HostId &host, std::uint8_t action, bool ignoreKey, std::uint64_t key,
				  std::uint64_t newKey, Notices &tell);
	std::uint16_t acquire(const HostId &host, std::uint8_t action, std::uint8_t type, std::uint64_t key,
			      std::uint64_t victim, Notices &tell);
	std::uint16_t release(const HostId &host, std::uint8_t action, std::uint8_t type, std::uint64_t key,
			      Notices &tell);
	Bytes report(std::size_t bytes) const; // with 128-bit identifiers
	bool allows(const HostId &host, std::uint8_t opcode, bool write) const;

	// For tests
	std::size_t registrants() const;
	std::uint64_t keyOf(const HostId &host) const; // 0: not registered
	bool holds(const HostId &host) const;
	ReservationType type() const;
	std::uint64_t changes() const; // commands that succeeded, except reports

private:
	struct Registrant {
		HostId host;
		std::uint64_t key;
		bool holder = false;
	};

	Registrant *find(const HostId &host);
	bool allHold() const { return type_ >= resv_write_exclusive_all; }
	bool holdsLocked(const Registrant &r) const { return type_ && (allHold() || r.holder); }
	std::uint16_t unregister(Registrant *who, bool ignoreKey, std::uint64_t key, Notices &tell);
	std::uint16_t preempt(const HostId &host, std::uint8_t type, std::uint64_t victim, Notices &tell);
	void hold(const HostId &host, std::uint8_t type);
	void free(const HostId &by, Notices &tell);

	mutable std::mutex lock_;
	std::vector<Registrant> registrants_;
	std::uint8_t type_ = resv_none;
	std::uint32_t generation_ = 0;
	std::uint64_t changes_ = 0;
};

} // namespace target
