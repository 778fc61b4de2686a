// SPDX-License-Identifier: LGPL-2.1-or-later
// Cross-Controller Reset: through one controller of a subsystem a host resets another; TP8028, Base 2.3.
#include "connection.h"

#include <algorithm>

namespace target {

// A reset of an instance that no longer exists succeeds, because that instance executes nothing.
Reply Connection::crossReset(const Command &cmd)
{
	CcrEntry entry{{static_cast<std::uint16_t>(cmd.cdw10 & 0xffff),
			static_cast<std::uint8_t>(cmd.cdw10 >> 16 & 0xff), assoc_->cntlid, ccr_in_progress,
			ccr_validated | ccr_initiated},
		       cmd.cdw12 | std::uint64_t(cmd.cdw13) << 32};
	if (!server_.config().ccrLimit)
		return {st_invalid_opcode | st_dnr};
	server_.counters().crossResets++;
	if (entry.told.icid == assoc_->cntlid)
		return {st_invalid_field | st_dnr};
	auto plan = server_.ccr();
	std::unique_lock guard(assoc_->lock);
	auto &log = assoc_->ccrLog;
	auto running = [](auto &e) { return e.told.status == ccr_in_progress; };
	if (std::any_of(log.begin(), log.end(), [&](auto &e) { return running(e) && e.cirn == entry.cirn; }))
		return {st_ccr_in_progress};
	if (std::count_if(log.begin(), log.end(), running) >= server_.config().ccrLimit)
		return {st_ccr_limit};
	if (plan.succeeds && !plan.delay.count()) {
		guard.unlock();
		server_.subsystem().endInstance(entry.told.icid, entry.told.ciu, entry.cirn, assoc_->hostnqn);
		return {st_ok, 1};
	}
	log.push_back(entry);
	later(plan.delay, [this, entry, plan] { endCrossReset(entry, plan); });
	return {st_ok, 0};
}

void Connection::endCrossReset(const CcrEntry &entry, CcrPlan plan)
{
	if (plan.succeeds)
		server_.subsystem().endInstance(entry.told.icid, entry.told.ciu, entry.cirn, assoc_->hostnqn);
	{
		std::lock_guard guard(assoc_->lock);
		for (auto &e : assoc_->ccrLog)
			if (e.cirn == entry.cirn)
				e.told.status = plan.succeeds ? ccr_success : ccr_failed;
		if (plan.notice && (assoc_->asyncConfig >> 20 & 1))
			assoc_->asyncEvents.push_back(event_ccr_completed);
	}
	deliverEvents();
}

Reply Connection::ccrLog(bool removeCompleted)
{
	if (!server_.config().ccrLimit)
		return {st_invalid_log | st_dnr};
	std::lock_guard guard(assoc_->lock);
	std::vector<CcrRecord> records;
	for (auto &e : assoc_->ccrLog)
		records.push_back(e.told);
	Reply reply{st_ok, 0, makeCcrLog(records)};
	if (removeCompleted)
		std::erase_if(assoc_->ccrLog, [](auto &e) { return e.told.status != ccr_in_progress; });
	return reply;
}

} // namespace target
