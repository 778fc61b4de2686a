// SPDX-License-Identifier: LGPL-2.1-or-later
// Fabrics commands: Connect and properties; Base 2.0, 6.
#include "connection.h"

#include <algorithm>

namespace target {
namespace {

constexpr std::uint16_t badParam = st_connect_param | st_dnr;
constexpr std::uint32_t cc_enable = 1, csts_ready = 1, csts_shutdown_done = 2 << 2;

} // namespace

Reply Connection::fabrics(const Command &cmd, const Bytes &data)
{
	switch (cmd.fctype()) {
	case fc_connect:
		return connect(cmd, data);
	case fc_property_get:
		return propertyGet(cmd);
	case fc_property_set:
		return propertySet(cmd);
	}
	return {st_invalid_opcode | st_dnr};
}

Reply Connection::connect(const Command &cmd, const Bytes &data)
{
	auto c = Connect::decode(cmd, data);
	if (connected_ || !c)
		return {st_connect_format | st_dnr};
	bool discovery = server_.subsystem().discovery().answersTo(c->subsysnqn);
	if ((discovery ? c->qid != 0 : c->subsysnqn != server_.config().nqn) || c->hostnqn.empty())
		return {badParam};
	if (c->entries < 2 || c->entries > 65535 || (c->qid && c->entries > server_.config().queueEntries)) {
		server_.violation("SQSIZE " + std::to_string(c->entries - 1) + " of queue " + std::to_string(c->qid));
		return {badParam};
	}
	qid_ = c->qid;
	auto reply = c->qid ? connectIo(*c) : connectAdmin(*c, discovery);
	if (reply.status)
		return reply;
	entries_ = static_cast<std::uint16_t>(c->entries);
	sqhd_ = 1; // Connect was the first entry
	sqFlow_ = !((c->attributes & ca_sqflow_off) && server_.config().allowSqflowOff);
	connected_ = true;
	askForAuthentication(cmd, reply, c->hostnqn);
	return reply;
}

Reply Connection::connectAdmin(const Connect &c, bool discovery)
{
	if (c.cntlid != anyCntlid || (discovery && c.kato && !server_.config().persistentDiscovery))
		return {badParam};
	assoc_ = server_.associations().create();
	std::lock_guard guard(assoc_->lock);
	assoc_->port = &server_;
	assoc_->lateExpiry = server_.config().lateExpiry;
	assoc_->katoUnit = std::chrono::milliseconds(server_.config().kas * 100);
	assoc_->quiesce = std::chrono::milliseconds(server_.config().quiesce);
	assoc_->trafficKeepAlive = server_.config().trafficKeepAlive;
	assoc_->hostnqn = c.hostnqn;
	assoc_->hostid = c.hostid;
	assoc_->kato = std::chrono::milliseconds(c.kato);
	assoc_->admin = this;
	if (!discovery) {
		server_.counters().adminConnects++;
		return {st_ok, assoc_->cntlid};
	}
	assoc_->discovery = true;
	assoc_->idle = server_.config().discoveryIdle;
	server_.subsystem().discovery().subscribe(assoc_);
	server_.counters().discoveryConnects++;
	return {st_ok, assoc_->cntlid};
}

Reply Connection::connectIo(const Connect &c)
{
	auto found = server_.associations().find(c.cntlid);
	if (!found || found->hostnqn != c.hostnqn || found->hostid != c.hostid)
		return {badParam};
	if (found->discovery || !(found->csts & csts_ready) || qid_ > server_.config().maxIoQueues)
		return {badParam};
	assoc_ = found;
	server_.counters().ioConnects++;
	return {st_ok, assoc_->cntlid};
}

Reply Connection::propertyGet(const Command &cmd)
{
	if (!assoc_ || qid_ != 0 || (cmd.cdw10 & 7) != (cmd.cdw11 == prop_cap)) // ATTRIB: 8 bytes for CAP, otherwise 4
		return {st_invalid_field | st_dnr};
	auto &config = server_.config();
	std::uint64_t value = 0;
	{
		std::lock_guard guard(assoc_->lock);
		switch (cmd.cdw11) {
		case prop_cap: // MQES, CQR, TO, CSS
			value = (config.queueEntries - 1u) | 1u << 16 | std::uint32_t(config.readyTimeout) << 24 |
				1ull << (assoc_->discovery ? 44 : 37) |
				std::uint64_t((config.zoned || config.keyValue) && !assoc_->discovery) << 43;
			break;
		case prop_vs:
			value = server_.config().version;
			break;
		case prop_cc:
			value = assoc_->cc;
			break;
		case prop_csts:
			value = assoc_->csts;
			break;
		default:
			return {st_invalid_field | st_dnr};
		}
	}
	Strike strike{*this, 0, &cmd};
	strike.value = &value;
	server_.script().offer(Hook::property, strike);
	return {st_ok, value};
}

Reply Connection::propertySet(const Command &cmd)
{
	if (!assoc_ || qid_ != 0 || cmd.cdw11 != prop_cc)
		return {st_invalid_field | st_dnr};
	std::lock_guard guard(assoc_->lock);
	if (cmd.cdw12 & ~assoc_->cc & cc_enable)
		assoc_->renew();
	assoc_->cc = cmd.cdw12;
	assoc_->csts = assoc_->cc & cc_enable ? csts_ready : 0;
	if (assoc_->cc >> 14 & 3) {
		assoc_->csts |= csts_shutdown_done;
		server_.counters().shutdowns++;
	}
	return {};
}

} // namespace target
