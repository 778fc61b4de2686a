// SPDX-License-Identifier: LGPL-2.1-or-later
// Reservation commands (NVMe Base 2.0, 7.2 to 7.5) and the Reservation Notification log
#include "connection.h"

#include <algorithm>

namespace target {

Reply Connection::reservationCommand(Store &store, const Command &cmd, const Bytes &data)
{
	auto &reservations = store.reservations();
	std::uint8_t action = cmd.cdw10 & 7, type = cmd.cdw10 >> 8 & 0xff;
	bool ignoreKey = cmd.cdw10 >> 3 & 1;
	if (cmd.opcode == op_resv_report) {
		auto bytes = (std::size_t(cmd.cdw10) + 1) * 4;
		if (!(cmd.cdw11 & 1)) // NVMe over Fabrics requires 128-bit Host Identifiers
			return {st_host_id_format | st_dnr};
		if (cmd.sgl.length != bytes)
			server_.violation("report of reservations: SGL and length differ");
		Reply reply{st_ok, 0, reservations.report(std::min(bytes, logLimit))};
		Strike strike{*this, qid_, &cmd, nullptr, &reply.data};
		server_.script().offer(Hook::report, strike);
		return reply;
	}
	if (data.size() < (cmd.opcode == op_resv_release ? 8u : 16u)) {
		server_.violation("reservation: fewer data than keys");
		return {st_invalid_field | st_dnr};
	}
	if (ignoreKey && cmd.opcode != op_resv_register)
		return {st_invalid_field | st_dnr};
	auto key = get<std::uint64_t>(data, 0);
	auto other = cmd.opcode == op_resv_release ? 0 : get<std::uint64_t>(data, 8);
	std::vector<ReservationNotice> notices;
	std::uint16_t status = st_ok;
	if (cmd.opcode == op_resv_register)
		status = reservations.registerKey(assoc_->hostid, action, ignoreKey, key, other, notices);
	else if (cmd.opcode == op_resv_acquire)
		status = reservations.acquire(assoc_->hostid, action, type, key, other, notices);
	else
		status = reservations.release(assoc_->hostid, action, type, key, notices);
	server_.counters().conflicts += status == (st_resv_conflict | st_dnr);
	if (cmd.opcode == op_resv_acquire && action == 2)
		for (auto &n : notices)
			server_.subsystem().stalledWrites().drop(n.host);
	notifyReservations(store, notices);
	return {status};
}

// Queues the notices at all controllers of the hosts concerned.
void Connection::notifyReservations(const Store &store, const std::vector<ReservationNotice> &notices)
{
	for (auto &notice : notices)
		for (auto &a : server_.associations().all()) {
			if (a->hostid != notice.host || a->discovery)
				continue;
			std::lock_guard guard(a->lock);
			if (a->reservationLog.empty()) // one event until the log has been read
				a->asyncEvents.push_back(event_reservation);
			a->reservationLog.push_back(notice);
			a->reservationLog.back().nsid = store.nsid();
			if (auto *conn = a->admin)
				conn->post([conn] { conn->deliverEvents(); });
		}
}

// Returns the oldest notice and removes it.
Bytes Connection::reservationLog()
{
	Bytes log(64);
	std::lock_guard guard(assoc_->lock);
	if (assoc_->reservationLog.empty())
		return log;
	auto notice = assoc_->reservationLog.front();
	assoc_->reservationLog.pop_front();
	put<std::uint8_t>(log, 8, notice.kind);
	put<std::uint8_t>(log, 9, static_cast<std::uint8_t>(assoc_->reservationLog.size()));
	put<std::uint32_t>(log, 12, notice.nsid);
	return log;
}

} // namespace target
