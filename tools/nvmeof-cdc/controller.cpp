// SPDX-License-Identifier: LGPL-2.1-or-later
#include "controller.h"

#include <algorithm>

namespace cdc {

using namespace nofctl::wire;

namespace {

constexpr std::uint16_t badField = st_invalid_field | st_dnr;
constexpr std::uint32_t cc_enable = 1, csts_ready = 1, csts_shutdown_done = 2 << 2;
constexpr std::uint32_t version = 2 << 16;           // NVMe 2.0
constexpr std::uint64_t readyUnits = 10;             // CAP.TO, of 500 ms
constexpr std::uint32_t katoUnit = 100;              // KAS: 1, ms
constexpr std::uint64_t maxReadBeyondLog = 4u << 20; // bytes that a read may extend beyond the end of a log
constexpr std::uint32_t discoveryChanges = 1u << 31; // of OAES and of the feature
constexpr std::uint16_t retryUnits = 5;              // CRDT1, of 100 ms
constexpr std::uint32_t dataInvalid = 1u << 16;      // IATTR: the error is in the Connect data
constexpr std::uint32_t supported = 1;               // LSUPP of a log page
constexpr std::size_t logPageCount = 256;
constexpr std::uint8_t logSupported = 0;

template <typename Member> constexpr std::uint64_t offsetIn(Member ConnectData::*member)
{
	const ConnectData data{};
	return static_cast<std::uint64_t>(reinterpret_cast<const char *>(&(data.*member)) -
					  reinterpret_cast<const char *>(&data));
}

std::uint32_t rounded(std::uint32_t kato)
{
	const std::uint64_t units = (std::uint64_t(kato) + katoUnit - 1) / katoUnit;
	return static_cast<std::uint32_t>(std::min<std::uint64_t>(units * katoUnit, UINT32_MAX));
}

// @length bytes of @all from @offset on; zeros beyond its end
Answer part(const Bytes &all, std::uint64_t offset, std::uint64_t length)
{
	if (offset > all.size() || length > all.size() + maxReadBeyondLog)
		return {.status = badField};
	const std::size_t there = std::min<std::uint64_t>(length, all.size() - offset);
	const auto from = all.begin() + static_cast<std::ptrdiff_t>(offset);
	return {.data = Bytes(from, from + static_cast<std::ptrdiff_t>(there)), .zeros = length - there};
}

Bytes supportedLogs()
{
	Bytes logs(logPageCount * sizeof(Le32));
	for (std::uint8_t log : {logSupported, std::uint8_t(log_error), std::uint8_t(log_discovery)})
		put<std::uint32_t>(logs, log * sizeof(Le32), supported);
	return logs;
}

} // namespace

std::uint16_t Controller::check(const Command &cmd, std::span<const std::uint8_t> data, const Identity &identity,
				Connect &connect, std::uint64_t &result)
{
	constexpr std::uint16_t wrong = st_connect_param | st_dnr;
	auto read = Connect::decode(cmd, data);
	if (!read || (cmd.cdw10 & 0xffff) != 0) // RECFMT
		return st_connect_format | st_dnr;
	connect = *read;
	result = 42; // offset in the command: QID
	if (connect.qid != 0)
		return wrong;
	result = 44; // SQSIZE
	if (connect.entries < 2)
		return wrong;
	result = dataInvalid | offsetIn(&ConnectData::cntlid);
	if (connect.cntlid != anyCntlid)
		return wrong;
	result = dataInvalid | offsetIn(&ConnectData::subsysnqn);
	if (connect.subsysnqn != discoveryNqn && connect.subsysnqn != identity.nqn)
		return wrong;
	result = dataInvalid | offsetIn(&ConnectData::hostnqn);
	if (!checkName(connect.hostnqn))
		return wrong;
	result = 48; // offset in the command: KATO
	if (connect.kato > maxKato)
		return st_keep_alive | st_dnr;
	result = 0;
	return st_ok;
}

Controller::Controller(const Identity &identity, std::uint16_t cntlid, const Connect &connect,
		       std::shared_ptr<const Views> views)
	: identity_(identity), hostnqn_(connect.hostnqn), hostid_(connect.hostid), cntlid_(cntlid),
	  byOwnNqn_(connect.subsysnqn != discoveryNqn), kato_(rounded(connect.kato)), views_(std::move(views)),
	  inUse_(views_->zoneTable().use(hostnqn_)), zones_(views_->zonesOf(hostnqn_)), page_(views_->of(zones_))
{
}

Outcome Controller::handle(const Command &cmd)
{
	if (cmd.opcode == op_fabrics)
		return fabrics(cmd);
	if (!(csts_ & csts_ready))
		return Answer{.status = st_sequence | st_dnr};
	switch (cmd.opcode) {
	case op_identify:
		return identify(cmd);
	case op_get_log:
		return logPage(cmd);
	case op_set_features:
		return setFeatures(cmd);
	case op_get_features:
		return getFeatures(cmd);
	case op_async_event:
		return requestEvent(cmd);
	case op_abort:
		return abort(cmd);
	case op_keep_alive:
		return Answer{.status = kato_ ? std::uint16_t(st_ok) : badField};
	}
	return Answer{.status = st_invalid_opcode | st_dnr};
}

Outcome Controller::fabrics(const Command &cmd)
{
	switch (cmd.fctype()) {
	case fc_property_get:
		return propertyGet(cmd);
	case fc_property_set:
		return propertySet(cmd);
	case fc_connect: // second Connect
		return Answer{.status = st_sequence | st_dnr};
	}
	return Answer{.status = st_invalid_opcode | st_dnr};
}

Answer Controller::propertyGet(const Command &cmd) const
{
	if ((cmd.cdw10 & 7) != (cmd.cdw11 == prop_cap)) // ATTRIB: eight bytes, or four
		return {.status = badField};
	switch (cmd.cdw11) {
	case prop_cap: // MQES, CQR, TO, CSS: no I/O command set
		return {.result = (queueEntries - 1) | 1u << 16 | readyUnits << 24 | 1ull << 44};
	case prop_vs:
		return {.result = version};
	case prop_cc:
		return {.result = cc_};
	case prop_csts:
		return {.result = csts_};
	}
	return {.status = badField};
}

Answer Controller::propertySet(const Command &cmd)
{
	if (cmd.cdw11 != prop_cc || (cmd.cdw10 & 7) != 0) // ATTRIB: four bytes
		return {.status = badField};
	if (~cmd.cdw12 & cc_ & cc_enable)
		reset();
	cc_ = cmd.cdw12;
	csts_ = cc_ & cc_enable ? csts_ready : 0;
	if (cc_ >> 14 & 3) // SHN
		csts_ |= csts_shutdown_done;
	return {};
}

void Controller::reset()
{
	events_ = eventSent_ = false;
	requests_ = 0;
	aborted_.reset();
}

Answer Controller::identify(const Command &cmd) const
{
	if ((cmd.cdw10 & 0xff) != cns_ctrl)
		return {.status = badField};
	Bytes id(identifySize);
	put(id, at::serial, identity_.serial, ' ');
	put(id, at::model, "nvmeof-cdc", ' ');
	put(id, at::firmware, identity_.version, ' ');
	put(id, at::cntlid, cntlid_);
	put(id, at::ver, version);
	put(id, at::oaes, discoveryChanges);
	put(id, at::ctratt, 1u << 6); // traffic based keep-alive
	put(id, at::cntrltype, ctrl_discovery);
	put(id, at::dctype, dc_centralized);
	put(id, at::crdt1, retryUnits);
	put(id, at::acl, 3);
	put(id, at::aerl, maxRequests - 1);
	put(id, at::lpa, lpa_extended);
	put(id, at::elpe, maxErrors - 1);
	put(id, at::kas, 1);
	put(id, at::maxcmd, queueEntries);
	put(id, at::sgls, 1 | 1 << 20);
	put(id, at::subnqn, byOwnNqn_ ? identity_.nqn : discoveryNqn, 0);
	return {.data = std::move(id)};
}

Answer Controller::logPage(const Command &cmd)
{
	const std::uint64_t offset = cmd.logOffset(), length = cmd.logBytes();
	if (offset % 4 != 0)
		return {.status = badField};
	switch (cmd.cdw10 & 0xff) {
	case logSupported:
		return part(supportedLogs(), offset, length);
	case log_error: {
		Bytes all;
		for (const ErrorEntry &entry : errors_)
			append(all, bytesOf(entry));
		all.resize(maxErrors * sizeof(ErrorEntry));
		return part(all, offset, length);
	}
	case log_discovery:
		return discoveryLog(offset, length, cmd.logRetain());
	}
	return {.status = st_invalid_log | st_dnr};
}

// A read from offset 0 takes a snapshot of the current log. Reads from other offsets continue it, so that all pieces
// are consistent. The host detects a newer log by the generation in the header.
Answer Controller::discoveryLog(std::uint64_t offset, std::uint64_t length, bool retain)
{
	if (offset == 0) {
		page_ = views_->of(zones_);
		generation_ = views_->generation();
		eventSent_ = eventSent_ && retain;
	}
	const std::uint64_t size = sizeof(DiscoveryHeader) + page_->count() * discoveryBlock;
	if (offset > size || length > size + maxReadBeyondLog)
		return {.status = badField};
	Answer answer;
	if (offset < sizeof(DiscoveryHeader)) {
		DiscoveryHeader header{};
		header.genctr = generation_;
		header.numrec = page_->count();
		const auto bytes = bytesOf(header).subspan(offset);
		append(answer.data, bytes.first(std::min<std::uint64_t>(length, bytes.size())));
	}
	answer.page = page_;
	answer.offset = std::max<std::uint64_t>(offset, sizeof(DiscoveryHeader)) - sizeof(DiscoveryHeader);
	answer.length = std::min(length - answer.data.size(), page_->count() * discoveryBlock - answer.offset);
	answer.zeros = length - answer.data.size() - answer.length;
	return answer;
}

Answer Controller::setFeatures(const Command &cmd)
{
	if (cmd.cdw10 >> 31) // SV: nothing can be saved
		return {.status = badField};
	switch (cmd.cdw10 & 0xff) {
	case feat_async_event:
		events_ = cmd.cdw11 & discoveryChanges;
		return {};
	case feat_keep_alive:
		if (cmd.cdw11 > maxKato)
			return {.status = st_keep_alive | st_dnr};
		kato_ = rounded(cmd.cdw11);
		return {};
	}
	return {.status = badField};
}

Answer Controller::getFeatures(const Command &cmd) const
{
	if (cmd.cdw10 >> 8 & 7) // SEL: only the current value exists
		return {.status = badField};
	switch (cmd.cdw10 & 0xff) {
	case feat_async_event:
		return {.result = events_ ? discoveryChanges : 0};
	case feat_keep_alive:
		return {.result = kato_};
	}
	return {.status = badField};
}

Outcome Controller::requestEvent(const Command &cmd)
{
	if (requests_ == maxRequests)
		return Answer{.status = st_async_limit | st_dnr};
	cids_[requests_++] = cmd.cid;
	return std::nullopt;
}

// Aborts Asynchronous Event Requests only. A pending registration is not aborted; other commands complete at once.
Answer Controller::abort(const Command &cmd)
{
	const auto cid = static_cast<std::uint16_t>(cmd.cdw10 >> 16);
	const auto end = cids_.begin() + requests_;
	const auto found = std::find(cids_.begin(), end, cid);
	if (found == end || (cmd.cdw10 & 0xffff) != 0)
		return {.result = 1}; // not aborted
	std::copy(found + 1, end, found);
	requests_--;
	aborted_ = cid;
	return {};
}

std::optional<Registration> Controller::registration(const Command &cmd, std::span<const std::uint8_t> data,
						     std::uint16_t &status)
{
	status = st_sequence | st_dnr;
	if (!(csts_ & csts_ready))
		return {};
	status = badField;
	auto registration = decodeRegistration(data);
	if (!registration || (cmd.cdw10 & 0xf) > dim_update)
		return {};
	if (registration->entity == dim_host && registration->nqn != hostnqn_)
		return {};
	status = st_ok;
	return registration;
}

void Controller::failed(const Command &cmd, std::uint16_t status)
{
	ErrorEntry entry{};
	entry.errorCount = ++errorCount_;
	entry.cmdid = cmd.cid;
	entry.statusField = static_cast<std::uint16_t>(status << 1);
	entry.parmLocation = parm_location_none;
	entry.trtype = tr_tcp;
	errors_.insert(errors_.begin(), entry);
	if (errors_.size() > maxErrors)
		errors_.pop_back();
}

void Controller::tell(std::shared_ptr<const Views> views)
{
	if (!views_->sameZones(*views)) {
		inUse_ = views->zoneTable().use(hostnqn_);
		zones_ = views->zonesOf(hostnqn_);
	}
	views_ = std::move(views);
}

std::optional<Controller::Event> Controller::event()
{
	if (aborted_)
		return Event{*std::exchange(aborted_, std::nullopt), st_abort_requested, 0};
	if (!wantsEvents() || eventSent_)
		return {};
	if (const auto page = views_->of(zones_); page == page_ || page->entries() == page_->entries())
		return {};
	eventSent_ = true;
	const std::uint16_t cid = cids_[0];
	std::copy(cids_.begin() + 1, cids_.begin() + requests_, cids_.begin());
	requests_--;
	return Event{cid, st_ok, event_discovery_changed.result()};
}

} // namespace cdc
