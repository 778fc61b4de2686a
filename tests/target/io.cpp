// SPDX-License-Identifier: LGPL-2.1-or-later
// I/O commands on memory; NVM Command Set 1.0, 3.
#include "connection.h"

namespace target {
namespace {

constexpr std::uint16_t outOfRange = st_lba_range | st_dnr;
constexpr std::uint8_t op_verify = 0x0c, op_copy = 0x19;
constexpr std::size_t copyRange = 32; // bytes
constexpr std::uint32_t fuaBit = 1u << 30;

std::uint16_t statusOf(AnaState state)
{
	switch (state) {
	case ana_inaccessible:
		return st_ana_inaccessible;
	case ana_persistent_loss:
		return st_ana_persistent_loss;
	case ana_change:
		return st_ana_transition;
	default:
		return st_ok;
	}
}

Reply answer(bool good)
{
	return {good ? std::uint16_t(st_ok) : outOfRange};
}

} // namespace

Reply Connection::io(const Command &cmd, const Bytes &data)
{
	auto store = server_.stores().find(cmd.nsid);
	if (!store && cmd.opcode != op_flush)
		return {st_invalid_ns | st_dnr};
	std::uint16_t refused = st_ok;
	if (store && server_.config().ana)
		refused = statusOf(server_.anaState(store->anaGroup()));
	if (refused) {
		server_.counters().anaRefusals++;
		return {refused};
	}
	std::lock_guard guard(assoc_->executing);
	if (assoc_->dead)
		return {st_internal};
	if (cmd.opcode == op_flush) {
		server_.counters().flushes++;
		return {};
	}
	if (auto status = allowed(*store, cmd))
		return {status};
	return onStore(*store, cmd, data);
}

// Checks reservations and write protection; returns an NVMe status.
std::uint16_t Connection::allowed(Store &store, const Command &cmd)
{
	bool write = cmd.opcode != op_read && cmd.opcode != op_verify && cmd.opcode != op_zone_receive;
	if (store.reservations().allows(assoc_->hostid, cmd.opcode, write))
		return write && store.writeProtected() && !isReservation(cmd.opcode)
			       ? std::uint16_t(st_write_protected | st_dnr)
			       : std::uint16_t(st_ok);
	server_.counters().conflicts++;
	return st_resv_conflict | st_dnr;
}

Reply Connection::onStore(Store &store, const Command &cmd, const Bytes &data)
{
	auto &count = server_.counters();
	if (store.keyValue()) {
		Reply reply{};
		reply.status = store.keyValue()->execute(cmd, data, reply.data, reply.result);
		return reply;
	}
	std::size_t length = std::size_t(cmd.blocks()) << store.shift();
	auto *pi = store.protection();
	auto transferred = pi ? pi->dataBytes(cmd) : length; // by Read or Write
	if (pi && pi->format().guard == 64 && !assoc_->extendedFormats)
		return {st_invalid_ns | st_dnr};
	switch (cmd.opcode) {
	case op_read: {
		count.reads++;
		if (cmd.sgl.length != transferred)
			server_.violation("read: SGL and block count differ");
		Reply reply{st_ok, 0, Bytes(length)};
		if (!store.read(cmd.slba(), reply.data))
			return {outOfRange};
		if (pi)
			reply.status = pi->check(cmd, reply.data);
		return reply;
	}
	case op_write: {
		count.writes++;
		count.fua += cmd.cdw12 & fuaBit ? 1 : 0;
		count.inCapsuleWrites += cmd.sgl.type == sgl_in_capsule ? 1 : 0;
		if (data.size() != transferred) {
			server_.violation("write: data and block count differ");
			return {st_invalid_field | st_dnr};
		}
		Bytes plain;
		std::vector<Protection::Tuple> made;
		if (pi) {
			plain = data;
			if (auto status = pi->protect(cmd, plain, made))
				return {status};
		}
		if (auto status = store.zones() ? store.zones()->write(cmd.slba(), cmd.blocks()) : std::uint16_t(st_ok))
			return {status};
		if (!store.write(cmd.slba(), pi ? plain : data, assoc_->serial))
			return {outOfRange};
		if (pi)
			pi->keep(cmd.slba(), made);
		return {};
	}
	case op_write_zeroes: {
		count.zeroes++;
		count.deallocated += cmd.cdw12 >> 25 & 1;
		if (auto limit = server_.config().writeZeroes; limit && length > std::size_t(4096) << limit)
			return {st_invalid_field | st_dnr};
		std::vector<Protection::Tuple> made;
		if (pi) {
			Bytes zeroes(transferred);
			if (auto status = pi->protect(cmd, zeroes, made))
				return {status};
		}
		if (!store.zero(cmd.slba(), cmd.blocks()))
			return {outOfRange};
		if (pi)
			pi->keep(cmd.slba(), made);
		return {};
	}
	case op_dsm:
		count.discards++;
		return dsm(store, cmd, data);
	}
	if (cmd.opcode == op_verify) {
		Bytes found(length);
		return answer(store.read(cmd.slba(), found));
	}
	if (cmd.opcode == op_copy)
		return copy(store, cmd, data);
	if (server_.config().reservations && isReservation(cmd.opcode))
		return reservationCommand(store, cmd, data);
	if (store.zones())
		return onZones(store, *store.zones(), cmd, data);
	return {st_invalid_opcode | st_dnr};
}

// Copies source ranges of the same namespace, in order, to one destination.
Reply Connection::copy(Store &store, const Command &cmd, const Bytes &data)
{
	std::size_t ranges = (cmd.cdw12 & 0xff) + 1;
	if (data.size() < ranges * copyRange) {
		server_.violation("Copy: fewer ranges than said");
		return {st_invalid_field | st_dnr};
	}
	auto to = cmd.slba();
	for (std::size_t i = 0; i < ranges; i++) {
		auto blocks = std::size_t(get<std::uint16_t>(data, i * copyRange + 16)) + 1;
		Bytes moved(blocks << store.shift());
		if (!store.read(get<std::uint64_t>(data, i * copyRange + 8), moved) ||
		    !store.write(to, moved, assoc_->serial))
			return {outOfRange};
		to += blocks;
	}
	return {};
}

Reply Connection::onZones(Store &store, ZoneTable &zones, const Command &cmd, const Bytes &data)
{
	switch (cmd.opcode) {
	case op_zone_append: {
		std::uint64_t at = 0;
		if (auto status = zones.append(cmd.slba(), cmd.blocks(), at))
			return {status};
		return store.write(at, data, assoc_->serial) ? Reply{st_ok, at} : Reply{outOfRange};
	}
	case op_zone_send:
		return {zones.manage(cmd.slba(), static_cast<std::uint8_t>(cmd.cdw13), cmd.cdw13 >> 8 & 1)};
	case op_zone_receive: {
		auto bytes = (std::size_t(cmd.cdw12) + 1) * 4;
		if (cmd.sgl.length != bytes)
			server_.violation("report of zones: SGL and length differ");
		Reply reply{st_ok, 0, zones.report(cmd.slba(), std::min(bytes, logLimit), cmd.cdw13 >> 16 & 1)};
		Strike strike{*this, qid_, &cmd, nullptr, &reply.data};
		server_.script().offer(Hook::zones, strike);
		return reply;
	}
	}
	return {st_invalid_opcode | st_dnr};
}

Reply Connection::dsm(Store &store, const Command &cmd, const Bytes &data)
{
	std::size_t ranges = (cmd.cdw10 & 0xff) + 1;
	if (data.size() < ranges * 16) {
		server_.violation("Dataset Management: fewer ranges than said");
		return {st_invalid_field | st_dnr};
	}
	if (!(cmd.cdw11 & 4)) // other attributes are hints
		return {};
	auto &config = server_.config();
	if (config.discardRanges && ranges > config.discardRanges) {
		server_.violation("Dataset Management: more ranges than DMRL");
		return {st_invalid_field | st_dnr};
	}
	std::uint64_t left = config.discardBlocks ? config.discardBlocks : ~0ull;
	for (std::size_t i = 0; i < ranges; i++) {
		std::uint64_t blocks = get<std::uint32_t>(data, i * 16 + 4);
		if (config.rangeBlocks)
			blocks = std::min<std::uint64_t>(blocks, config.rangeBlocks);
		blocks = std::min(blocks, left);
		left -= blocks;
		auto slba = get<std::uint64_t>(data, i * 16 + 8);
		if (!store.zero(slba, blocks))
			return {outOfRange};
		if (auto *pi = store.protection())
			pi->forget(slba, blocks);
	}
	return {};
}

} // namespace target
