// SPDX-License-Identifier: LGPL-2.1-or-later
// Differences of a discovery controller from an I/O controller; Base 2.0, 3.1.2.3.
#include "connection.h"
#include "identify.h"

#include <algorithm>

namespace target {
namespace {

Bytes identifyDiscovery(Config config, const Association &assoc, std::string nqn)
{
	config.nqn = std::move(nqn);
	config.ana = false;
	config.namespaces = 0;
	if (!config.persistentDiscovery)
		config.kas = 0;
	auto id = identifyController(config, assoc);
	put(id, at::oaes, 1u << 31); // Discovery Log Page Change notices
	put(id, at::cntrltype, 2);
	put(id, at::dctype, config.centralized ? dc_centralized : dc_unknown);
	// not supported: I/O queues and commands, Cross-Controller Reset
	for (auto field : {at::cmic, at::sqes, at::cqes, at::vwc, at::ciu, at::ccrl, at::msdbd})
		put(id, field, 0);
	for (auto field : {at::ioccsz, at::iorcsz})
		put(id, field, 0);
	put(id, at::oncs, 0);
	put(id, at::cirn, 0);
	return id;
}

} // namespace

// Empty: handled as by other controllers.
std::optional<Reply> Connection::discoveryAdmin(const Command &cmd, const Bytes &data)
{
	auto what = cmd.cdw10 & 0xff;
	switch (cmd.opcode) {
	case op_identify:
		if (what != cns_ctrl)
			return Reply{st_invalid_field | st_dnr};
		return Reply{st_ok, 0,
			     identifyDiscovery(server_.config(), *assoc_, server_.subsystem().discovery().nqn())};
	case op_get_log:
		if (what == log_discovery)
			return discoveryLog(cmd);
		return what == log_error ? std::nullopt : std::optional(Reply{st_invalid_log | st_dnr});
	case op_set_features:
	case op_get_features:
		if (what == feat_async_event || what == feat_keep_alive)
			return {};
		return Reply{st_invalid_field | st_dnr};
	case op_dim:
		return server_.config().centralized ? takeRegistration(cmd, data) : Reply{st_invalid_opcode | st_dnr};
	case op_cross_reset:
		return Reply{st_invalid_opcode | st_dnr};
	}
	return {};
}

Reply Connection::takeRegistration(const Command &cmd, const Bytes &data)
{
	auto host = decodeRegistration(data);
	if (!host || host->entity != dim_host || (cmd.cdw10 & 0xf) != dim_register || host->nqn != assoc_->hostnqn) {
		server_.violation("a registration that is none");
		return {st_invalid_field | st_dnr};
	}
	if (server_.subsystem().discovery().consumeInterruption())
		return {st_interrupted | st_crd1};
	server_.subsystem().discovery().registerHost(*host);
	return {};
}

// Returns a piece of the current log; the log may change before the next piece is read.
Reply Connection::discoveryLog(const Command &cmd)
{
	auto &discovery = server_.subsystem().discovery();
	auto offset = cmd.logOffset(), length = cmd.logBytes();
	if (length > logLimit || offset % 4 || offset > discovery.size(server_))
		return {st_invalid_field | st_dnr};
	server_.counters().discoveryReads++;
	auto first = offset / discoveryBlock;
	auto skipped = offset % discoveryBlock;
	auto count = (skipped + length + discoveryBlock - 1) / discoveryBlock;
	Bytes all;
	for (auto &block : discovery.blocks(server_, first, count)) {
		std::uint64_t index = first++;
		Strike strike{*this, 0, &cmd, nullptr, &block, nullptr, &index};
		server_.script().offer(Hook::discovery, strike);
		all.insert(all.end(), block.begin(), block.end());
	}
	if (!cmd.logRetain())
		assoc_->clearDiscoveryEvent();
	auto from = all.begin() + static_cast<std::ptrdiff_t>(skipped);
	return {st_ok, 0, Bytes(from, from + static_cast<std::ptrdiff_t>(length))};
}

} // namespace target
