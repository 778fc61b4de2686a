// SPDX-License-Identifier: LGPL-2.1-or-later
// Admin commands; Base 2.0, 5.
#include "connection.h"
#include "identify.h"

#include <algorithm>

namespace target {
namespace {

constexpr std::size_t maxAsync = 4; // AERL + 1

Bytes slice(const Bytes &all, std::uint64_t offset, std::size_t length)
{
	Bytes out(length);
	if (offset < all.size())
		std::copy_n(all.begin() + static_cast<std::ptrdiff_t>(offset),
			    std::min<std::uint64_t>(length, all.size() - offset), out.begin());
	return out;
}

} // namespace

// Empty: the command stays outstanding.
std::optional<Reply> Connection::admin(const Command &cmd, const Bytes &data)
{
	if (assoc_->discovery)
		if (auto reply = discoveryAdmin(cmd, data))
			return reply;
	switch (cmd.opcode) {
	case op_identify:
		return identify(cmd);
	case op_get_log:
		return getLog(cmd);
	case op_set_features:
		return setFeatures(cmd, data);
	case op_get_features:
		return getFeatures(cmd);
	case op_keep_alive:
		server_.counters().keepAlives++;
		return Reply{};
	case op_abort:
		server_.counters().aborts++;
		return Reply{st_ok, 1}; // the command was not aborted; this result is always permitted
	case op_cross_reset:
		return crossReset(cmd);
	case op_async_event:
		return asyncEvent(cmd);
	}
	return Reply{st_invalid_opcode | st_dnr};
}

std::optional<Reply> Connection::asyncEvent(const Command &cmd)
{
	server_.counters().asyncEvents++;
	{
		std::lock_guard guard(assoc_->lock);
		if (assoc_->asyncCommands.size() >= maxAsync)
			return Reply{st_async_limit | st_dnr};
		assoc_->asyncCommands.push_back(cmd.cid);
	}
	deliverEvents();
	return std::nullopt;
}

Reply Connection::identify(const Command &cmd)
{
	auto nsid = static_cast<std::uint32_t>(cmd.nsid);
	switch (cmd.cdw10 & 0xff) {
	case cns_ctrl:
		return {st_ok, 0, identifyController(server_.config(), *assoc_)};
	case cns_active:
		if (nsid >= 0xfffffffe)
			return {st_invalid_ns | st_dnr};
		return {st_ok, 0, activeList(server_.stores().idsAbove(nsid))};
	case cns_ns: {
		auto store = server_.stores().find(nsid);
		if (store && store->keyValue())
			return {st_invalid_field | st_dnr};
		return {st_ok, 0, store ? identifyNamespace(server_.config(), *store) : Bytes(4096)};
	}
	case cns_descs: {
		auto store = server_.stores().find(nsid);
		return store ? Reply{st_ok, 0, descriptors(*store)} : Reply{st_invalid_ns | st_dnr};
	}
	case cns_indep: {
		auto store = server_.stores().find(nsid);
		// supported only with more than one command set
		if (!server_.config().keyValue)
			break;
		return {st_ok, 0, store ? identifyIndependent(server_.config(), *store) : Bytes(4096)};
	}
	case cns_cs_ctrl: {
		if (cmd.cdw11 >> 24 != csi_zns)
			return {st_ok, 0, identifyNvm(server_.config())};
		Bytes id(identifySize);
		id[0] = server_.config().zoneAppend;
		return {st_ok, 0, id};
	}
	case cns_cs_ns: {
		auto store = server_.stores().find(nsid);
		if (store && store->zones() && cmd.cdw11 >> 24 == csi_zns)
			return {st_ok, 0, identifyZoned(*store)};
		return {st_ok, 0, store ? identifyGuard(*store) : Bytes(identifySize)};
	}
	}
	return {st_invalid_field | st_dnr};
}

namespace {

// NVMe Base 2.0, 5.16.1.6: one dword per opcode, admin commands, then I/O commands
Bytes effectsLog(const Config &config, std::uint8_t csi)
{
	Bytes log(4096);
	for (auto [opcode, effects] : config.adminEffects)
		put<std::uint32_t>(log, opcode * 4, effects);
	for (auto [opcode, effects] : csi == csi_key_value ? config.keyEffects : config.ioEffects)
		put<std::uint32_t>(log, 1024 + opcode * 4, effects);
	return log;
}

} // namespace

Reply Connection::getLog(const Command &cmd)
{
	auto length = cmd.logBytes(), offset = cmd.logOffset();
	if (length > logLimit)
		return {st_invalid_field | st_dnr};
	Bytes log;
	switch (cmd.cdw10 & 0xff) {
	case log_error:
		server_.counters().errorLogs++;
		log.resize(512);
		break;
	case log_firmware:
		log.resize(512);
		break;
	case log_effects:
		if (!server_.config().hasEffects())
			return {st_invalid_log | st_dnr};
		log = effectsLog(server_.config(), static_cast<std::uint8_t>(cmd.cdw14 >> 24));
		break;
	case log_smart:
		log = smartLog(300, 100);
		break;
	case log_changed_ns: {
		std::lock_guard guard(assoc_->lock);
		log.resize(4096);
		if (assoc_->changedNs)
			put<std::uint32_t>(log, 0, 0xffffffff); // too many to list
		assoc_->changedNs = assoc_->changedNs && cmd.logRetain();
		break;
	}
	case log_ana:
		if (!server_.config().ana)
			return {st_invalid_log | st_dnr};
		log = server_.anaLog(cmd.cdw10 >> 8 & 1);
		break;
	case log_ccr: {
		auto reply = ccrLog(cmd.cdw10 >> 8 & 1);
		if (reply.status)
			return reply;
		log = std::move(reply.data);
		break;
	}
	case log_reservation:
		log = reservationLog();
		break;
	default:
		return {st_invalid_log | st_dnr};
	}
	return {st_ok, 0, slice(log, offset, static_cast<std::size_t>(length))};
}

Reply Connection::setFeatures(const Command &cmd, const Bytes &data)
{
	std::uint64_t result = 0;
	std::lock_guard guard(assoc_->lock);
	switch (cmd.cdw10 & 0xff) {
	case feat_queues: {
		auto min = std::min(cmd.cdw11 & 0xffff, cmd.cdw11 >> 16);
		auto granted = std::min<std::uint32_t>(min + 1, server_.maxIoQueues()) - 1;
		result = granted | granted << 16;
		break;
	}
	case feat_async_event:
		assoc_->asyncConfig = cmd.cdw11;
		break;
	case feat_keep_alive:
		assoc_->kato = std::chrono::milliseconds(cmd.cdw11);
		break;
	case feat_write_cache:
		break;
	case feat_host_behavior:
		if (data.size() < 3)
			return {st_invalid_field | st_dnr};
		assoc_->extendedFormats = data[2];
		break;
	default:
		return {st_invalid_field | st_dnr};
	}
	Strike strike{*this, 0, &cmd};
	strike.value = &result;
	server_.script().offer(Hook::feature, strike);
	return {strike.verdict == Verdict::failed ? strike.status : std::uint16_t(st_ok), result};
}

Reply Connection::getFeatures(const Command &cmd)
{
	std::lock_guard guard(assoc_->lock);
	switch (cmd.cdw10 & 0xff) {
	case feat_queues: {
		std::uint64_t granted = server_.maxIoQueues() - 1u;
		return {st_ok, granted | granted << 16};
	}
	case feat_async_event:
		return {st_ok, assoc_->asyncConfig};
	case feat_keep_alive:
		return {st_ok, static_cast<std::uint64_t>(assoc_->kato.count())};
	case feat_write_cache:
		return {st_ok, 1};
	}
	return {st_invalid_field | st_dnr};
}

} // namespace target
