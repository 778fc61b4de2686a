// SPDX-License-Identifier: LGPL-2.1-or-later
#include "misbehaviour.h"

#include "acts.h"
#include "connection.h"
#include "identify.h"

#include <algorithm>
#include <array>
#include <iterator>

namespace target {
namespace {

using namespace acts;
using namespace std::chrono_literals;

Completion &cqe(Strike &s)
{
	return s.as<ResponsePdu>().cqe;
}

bool hello(Strike &s, void (*change)(IcResp &))
{
	change(s.as<IcResp>());
	return true;
}

bool property(Strike &s, std::uint32_t offset, std::uint64_t keep, std::uint64_t set)
{
	return when(s.cmd->cdw11 == offset, [&] { *s.value = (*s.value & keep) | set; });
}

// Replaces the ANA log.
bool anaShape(Strike &s, const Bytes &log)
{
	return when(s.log(log_ana), [&] {
		std::fill(s.data->begin(), s.data->end(), 0);
		std::copy_n(log.begin(), std::min(log.size(), s.data->size()), s.data->begin());
	});
}

bool descriptor(Strike &s, std::uint8_t type, std::uint8_t length)
{
	return when(s.identify(cns_descs), [&] {
		(*s.data)[0] = type;
		(*s.data)[1] = length;
	});
}

bool activeIs(Strike &s, std::initializer_list<std::uint32_t> ids)
{
	return when(s.identify(cns_active) && s.cmd->nsid == 0, [&] {
		std::size_t offset = 0;
		for (auto id : ids) {
			put<std::uint32_t>(*s.data, offset, id);
			offset += 4;
		}
	});
}

// Identifies every namespace as the one with this NSID.
bool descriptorsOf(Strike &s, std::uint32_t nsid)
{
	auto store = s.conn.server().stores().find(nsid);
	if (s.identify(cns_ns))
		*s.data = identifyNamespace(s.conn.server().config(), *store);
	if (s.identify(cns_descs))
		*s.data = descriptors(*store);
	return s.identify(cns_ns) || s.identify(cns_descs);
}

// Sends a PDU of another type instead of the completion of an I/O command.
bool insteadOfResponse(Strike &s, std::uint8_t type, std::uint8_t hlen, std::uint32_t plen)
{
	return when(s.io(), [&] {
		header(s).type = type;
		header(s).hlen = hlen;
		header(s).plen = plen;
	});
}

bool responseStatus(Strike &s, bool condition, int status)
{
	return when(condition, [&] { cqe(s).status = static_cast<std::uint16_t>(status << 1); });
}

bool flood(Strike &s, std::uint8_t type, std::uint8_t info, std::uint8_t log, int count = 64)
{
	return when(s.admin(op_keep_alive), [&] {
		auto *conn = &s.conn;
		AsyncEvent event{type, info, log};
		s.after = [conn, event, count] {
			for (int i = 0; i < count; i++)
				conn->server().sendEvent(event);
		};
	});
}

// clang-format off
const Misbehaviour commonTable[] = {
	// Connection establishment
	{"accept-close", 22, Hook::accept, connecting, Expect::refused, nothing,
		[](S &s) { return verdict(true, s, Verdict::close); }},
	{"accept-rst", 22, Hook::accept, connecting, Expect::refused, nothing,
		[](S &s) { return verdict(true, s, Verdict::abort); }},
	{"icresp-never", 22, Hook::icResp, connecting, Expect::refused, nothing,
		[](S &s) { return verdict(true, s, Verdict::mute); }},
	{"icresp-slow", 22, Hook::icResp, connecting, Expect::refused, nothing,
		[](S &s) { return verdict(true, s, Verdict::slow); }},
	{"icresp-half", 22, Hook::icResp, connecting, Expect::refused, nothing,
		[](S &s) { return verdict(true, s, Verdict::abort); }},
	{"icresp-version", 5, Hook::icResp, connecting, Expect::refused, nothing,
		[](S &s) { return hello(s, [](IcResp &p) { p.pfv = 7; }); }},
	{"icresp-type", 5, Hook::icResp, connecting, Expect::refused, nothing,
		[](S &s) { return hello(s, [](IcResp &p) { p.h.type = pdu_response; }); }},
	{"icresp-hlen", 5, Hook::icResp, connecting, Expect::refused, nothing,
		[](S &s) { return hello(s, [](IcResp &p) { p.h.hlen = 127; }); }},
	{"icresp-plen", 5, Hook::icResp, connecting, Expect::refused, nothing,
		[](S &s) { return hello(s, [](IcResp &p) { p.h.plen = 64; }); }},
	{"icresp-cpda", 5, Hook::icResp, connecting, Expect::refused, nothing,
		[](S &s) { return hello(s, [](IcResp &p) { p.cpda = 32; }); }},
	{"icresp-digest-unasked", 5, Hook::icResp, connecting, Expect::refused, nothing,
		[](S &s) { return hello(s, [](IcResp &p) { p.digest = 3; }); }},
	{"icresp-maxh2c-zero", 8, Hook::icResp, connecting, Expect::refused, nothing,
		[](S &s) { return hello(s, [](IcResp &p) { p.maxh2cdata = 0; }); }},
	{"icresp-maxh2c-small", 8, Hook::icResp, connecting, Expect::refused, nothing,
		[](S &s) { return hello(s, [](IcResp &p) { p.maxh2cdata = 100; }); }},
	{"icresp-maxh2c-huge", 8, Hook::icResp, connecting, Expect::refused, nothing,
		[](S &s) { return hello(s, [](IcResp &p) { p.maxh2cdata = 0xffffffff; }); }},

	// Fabrics commands
	{"connect-never", 22, Hook::command, connecting, Expect::refused, nothing,
		[](S &s) { return verdict(s.is(op_fabrics) && s.cmd->fctype() == fc_connect, s, Verdict::drop); }},
	{"connect-refused", 21, Hook::command, connecting, Expect::refused, nothing,
		[](S &s) { return failed(s.is(op_fabrics) &&
			s.cmd->fctype() == fc_connect, s, st_connect_host | st_dnr); }},
	{"connect-wrong-cid", 4, Hook::response, connecting, Expect::refused, nothing,
		[](S &s) { return when(s.is(op_fabrics) &&
			s.cmd->fctype() == fc_connect, [&] { cqe(s).cid = 0x7654; }); }},
	{"connect-wants-authentication", 21, Hook::response, connecting, Expect::refused, nothing,
		[](S &s) { return when(s.is(op_fabrics) &&
			s.cmd->fctype() == fc_connect, [&] { cqe(s).result = cqe(s).result | 1u << 17; }); }},
	{"io-connect-refused", 21, Hook::command, connecting, Expect::refused, nothing,
		[](S &s) { return failed(s.is(op_fabrics) && s.cmd->fctype() == fc_connect && s.cmd->cdw10 >> 16, s,
					 st_connect_param | st_dnr); }},
	{"io-connect-never", 22, Hook::command, connecting, Expect::refused, nothing,
		[](S &s) { return verdict(s.is(op_fabrics) && s.cmd->fctype() == fc_connect && s.cmd->cdw10 >> 16, s,
					  Verdict::drop); }},
	{"property-never", 22, Hook::command, connecting, Expect::refused, nothing,
		[](S &s) { return verdict(s.is(op_fabrics) && s.cmd->fctype() == fc_property_get, s, Verdict::drop); }},
	{"property-set-never", 22, Hook::command, connecting, Expect::refused, nothing,
		[](S &s) { return verdict(s.is(op_fabrics) && s.cmd->fctype() == fc_property_set, s, Verdict::drop); }},
	{"queue-count-never", 22, Hook::command, connecting, Expect::refused, nothing,
		[](S &s) { return verdict(s.admin(op_set_features) && (s.cmd->cdw10 & 0xff) == feat_queues, s,
					  Verdict::drop); }},
	{"property-failed", 21, Hook::command, connecting, Expect::refused, nothing,
		[](S &s) { return failed(s.is(op_fabrics) &&
			s.cmd->fctype() == fc_property_get, s, st_internal | st_dnr); }},
	{"cap-zero", 21, Hook::property, connecting, Expect::refused, nothing,
		[](S &s) { return property(s, prop_cap, 0, 0); }},
	{"cap-mqes-zero", 21, Hook::property, connecting, Expect::refused, nothing,
		[](S &s) { return property(s, prop_cap, ~0xffffull, 0); }},
	{"cap-no-command-set", 21, Hook::property, connecting, Expect::harmless, nothing,
		[](S &s) { return property(s, prop_cap, ~(0xffull << 37), 0); }},
	{"cap-page-size", 21, Hook::property, connecting, Expect::refused, nothing,
		[](S &s) { return property(s, prop_cap, ~0ull, 0xffull << 48); }},
	{"never-ready", 22, Hook::property, connecting, Expect::refused, nothing,
		[](S &s) { return property(s, prop_csts, ~1ull, 0) ||
				  (property(s, prop_cap, ~(0xffull << 24), 1ull << 24) && false); }},
	{"fatal-status", 21, Hook::property, connecting, Expect::refused, nothing,
		[](S &s) { return property(s, prop_csts, ~1ull, 2); }},

	// Identify Controller
	{"identify-never", 22, Hook::command, connecting, Expect::refused, nothing,
		[](S &s) { return verdict(s.identify(cns_ctrl), s, Verdict::drop); }},
	{"identify-failed", 21, Hook::command, connecting, Expect::refused, nothing,
		[](S &s) { return failed(s.identify(cns_ctrl), s, st_internal | st_dnr); }},
	{"identify-short", 7, Hook::adminData, connecting, Expect::refused, nothing,
		[](S &s) { return when(s.identify(cns_ctrl), [&] { s.data->resize(512); }); }},
	{"identify-close", 22, Hook::command, connecting, Expect::refused, nothing,
		[](S &s) { return verdict(s.identify(cns_ctrl), s, Verdict::close); }},
	{"identify-mdts-huge", 21, Hook::adminData, connecting, Expect::harmless, nothing,
		[](S &s) { return poke(s.identify(cns_ctrl), s, at::mdts, 255); }},
	{"identify-ioccsz-zero", 21, Hook::adminData, connecting, Expect::refused, nothing,
		[](S &s) { return poke(s.identify(cns_ctrl), s, at::ioccsz, 0); }},
	{"identify-ioccsz-huge", 21, Hook::adminData, connecting, Expect::refused, nothing,
		[](S &s) { return poke(s.identify(cns_ctrl), s, at::ioccsz, 0xffffffff); }},
	{"identify-icdoff-huge", 21, Hook::adminData, connecting, Expect::refused, nothing,
		[](S &s) { return poke(s.identify(cns_ctrl), s, at::icdoff, 0xffff); }},
	{"identify-sqes", 21, Hook::adminData, connecting, Expect::refused, nothing,
		[](S &s) { return poke(s.identify(cns_ctrl), s, at::sqes, 0xff); }},
	{"identify-cntlid", 21, Hook::adminData, connecting, Expect::refused, nothing,
		[](S &s) { return poke(s.identify(cns_ctrl), s, at::cntlid, 0xfe00); }},
	{"identify-nn-zero", 21, Hook::adminData, connecting, Expect::refused, nothing,
		[](S &s) { return poke(s.identify(cns_ctrl), s, at::nn, 0); }},
	{"identify-nn-huge", 21, Hook::adminData, connecting, Expect::harmless, nothing,
		[](S &s) { return poke(s.identify(cns_ctrl), s, at::nn, 0xffffffff); }},
	{"identify-no-sgl", 21, Hook::adminData, connecting, Expect::refused, nothing,
		[](S &s) { return poke(s.identify(cns_ctrl), s, at::sgls, 0); }},
	{"identify-maxcmd-one", 29, Hook::adminData, connecting, Expect::harmless, nothing,
		[](S &s) { return poke(s.identify(cns_ctrl), s, at::maxcmd, 1); }},
	{"identify-unprintable", 21, Hook::adminData, connecting, Expect::harmless, nothing,
		[](S &s) { return when(s.identify(cns_ctrl), [&] { std::fill_n(s.data->begin() + 4, 68, 0x1b); }); }},
	{"identify-ana-groups-huge", 17, Hook::adminData, connecting, Expect::refused, Needs::ana,
		[](S &s) { return poke(s.identify(cns_ctrl), s, at::anagrpmax, 0xffffffff) &&
				  poke(true, s, at::nanagrpid, 0xffffffff); }},
	{"identify-ana-mnan-huge", 17, Hook::adminData, connecting, Expect::harmless, Needs::ana,
		[](S &s) { return poke(s.identify(cns_ctrl), s, at::mnan, 0xffffffff) &&
				  poke(true, s, at::nn, 0xffffffff); }},
	{"identify-ana-groups-zero", 17, Hook::adminData, connecting, Expect::refused, Needs::ana,
		[](S &s) { return poke(s.identify(cns_ctrl), s, at::anagrpmax, 0) &&
				  poke(true, s, at::nanagrpid, 0); }},
	{"queues-failed", 21, Hook::feature, connecting, Expect::refused, nothing,
		[](S &s) { return failed((s.cmd->cdw10 & 0xff) == feat_queues, s, st_internal | st_dnr); }},
	{"queues-generous", 23, Hook::feature, connecting, Expect::harmless, nothing,
		[](S &s) { return when((s.cmd->cdw10 & 0xff) == feat_queues, [&] { *s.value = 0xffffffff; }); }},
	{"async-config-failed", 21, Hook::feature, connecting, Expect::harmless, nothing,
		[](S &s) { return failed((s.cmd->cdw10 & 0xff) == feat_async_event, s, st_invalid_field | st_dnr); }},
	{"async-config-never", 22, Hook::command, connecting, Expect::refused, nothing,
		[](S &s) { return verdict(s.admin(op_set_features) && (s.cmd->cdw10 & 0xff) == feat_async_event, s,
					  Verdict::drop); }},
	{"async-request-failed", 14, Hook::command, connecting, Expect::harmless, nothing,
		[](S &s) { return failed(s.admin(op_async_event), s, st_internal | st_dnr); }},

	// Namespaces
	{"ns-block-2^40", 21, Hook::adminData, connecting, Expect::nsRefused, nothing,
		[](S &s) { return poke(s.identify(cns_ns), s, at::lbaf0_ds, 40); }},
	{"ns-block-256", 21, Hook::adminData, connecting, Expect::nsRefused, nothing,
		[](S &s) { return poke(s.identify(cns_ns), s, at::lbaf0_ds, 8); }},
	{"ns-block-zero", 21, Hook::adminData, connecting, Expect::nsRefused, nothing,
		[](S &s) { return poke(s.identify(cns_ns), s, at::lbaf0_ds, 0); }},
	{"ns-block-64k", 21, Hook::adminData, connecting, Expect::nsRefused, nothing,
		[](S &s) { return poke(s.identify(cns_ns), s, at::lbaf0_ds, 16); }},
	{"ns-size-overflow", 21, Hook::adminData, connecting, Expect::nsRefused, nothing,
		[](S &s) { return poke(s.identify(cns_ns), s, at::nsze, ~0ull); }},
	{"ns-size-zero", 21, Hook::adminData, connecting, Expect::nsRefused, nothing,
		[](S &s) { return poke(s.identify(cns_ns), s, at::nsze, 0); }},
	{"ns-format-index", 21, Hook::adminData, connecting, Expect::nsRefused, nothing,
		[](S &s) { return poke(s.identify(cns_ns), s, at::flbas, 0x0f); }},
	{"ns-metadata", 21, Hook::adminData, connecting, Expect::nsRefused, nothing,
		[](S &s) { return poke(s.identify(cns_ns), s, at::lbaf0_ms, 8); }},
	{"ns-identify-failed", 21, Hook::command, connecting, Expect::nsRefused, nothing,
		[](S &s) { return failed(s.identify(cns_ns), s, st_internal | st_dnr); }},
	{"ns-identify-not-now", 21, Hook::command, connecting, Expect::scanFailed, nothing,
		[](S &s) { return failed(s.identify(cns_ns), s, st_ns_not_ready); }},
	{"ns-descriptors-not-now", 21, Hook::command, connecting, Expect::scanFailed, nothing,
		[](S &s) { return failed(s.identify(cns_descs), s, st_internal); }},
	{"ns-descriptor-length", 21, Hook::adminData, connecting, Expect::nsRefused, nothing,
		[](S &s) { return descriptor(s, 3, 8); }},
	{"ns-descriptor-long", 21, Hook::adminData, connecting, Expect::harmless, nothing,
		[](S &s) { return descriptor(s, 9, 255); }},
	{"ns-descriptor-unknown", 21, Hook::adminData, connecting, Expect::harmless, nothing,
		[](S &s) { return descriptor(s, 77, 16); }},
	{"ns-descriptor-empty", 21, Hook::adminData, connecting, Expect::harmless, nothing,
		[](S &s) { return descriptor(s, 2, 0); }},
	{"ns-list-descending", 21, Hook::adminData, connecting, Expect::scanFailed, nothing,
		[](S &s) { return activeIs(s, {9, 3, 1}); }},
	{"ns-list-repeated", 21, Hook::adminData, connecting, Expect::scanFailed, nothing,
		[](S &s) { return activeIs(s, {1, 1, 1, 1}); }},
	{"ns-list-broadcast", 21, Hook::adminData, connecting, Expect::scanFailed, nothing,
		[](S &s) { return activeIs(s, {1, 0xffffffff}); }},
	{"ns-list-beyond", 44, Hook::adminData, connecting, Expect::harmless, nothing,
		[](S &s) { return activeIs(s, {1, 70000}); }},
	{"ns-list-endless", 21, Hook::adminData, connecting, Expect::scanFailed, nothing,
		[](S &s) { return when(s.identify(cns_active), [&] {
				for (std::size_t i = 0; i < s.data->size(); i += 4)
					put<std::uint32_t>(*s.data, i, static_cast<std::uint32_t>(1 + i / 4 % 8)); });
						}},
	{"ns-list-failed", 21, Hook::command, connecting, Expect::scanFailed, nothing,
		[](S &s) { return failed(s.identify(cns_active), s, st_internal | st_dnr); }},

	// Completions
	{"cqe-twice", 4, Hook::response, io, Expect::reset, nothing,
		[](S &s) { return verdict(s.io(), s, Verdict::twice); }},
	{"cqe-late-copy", 4, Hook::response, io, Expect::reset, nothing,
		[](S &s) { return when(s.io(), [&] {
				auto *conn = &s.conn;
				auto cmd = *s.cmd;
				s.after = [conn, cmd] { conn->later(50ms, [conn, cmd] { conn->sendResponse(cmd,
					st_ok); }); }; }); }},
	{"cqe-unknown-cid", 4, Hook::response, io, Expect::reset, nothing,
		[](S &s) { return when(s.io(), [&] { cqe(s).cid = 0x0fff; }); }},
	{"cqe-old-generation", 4, Hook::response, io, Expect::reset, nothing,
		[](S &s) { return when(s.io(), [&] { cqe(s).cid = cqe(s).cid ^ 0x1000; }); }},
	{"cqe-sqhd-wild", 29, Hook::response, io, Expect::harmless, nothing,
		[](S &s) { return when(s.io(), [&] { cqe(s).sqhd = 0xfffe; }); }},
	{"cqe-never", 22, Hook::response, io, Expect::silence, nothing,
		[](S &s) { return verdict(s.io(), s, Verdict::mute); }},
	{"io-never", 22, Hook::command, io, Expect::silence, nothing, // but Keep Alive is answered
		[](S &s) { return verdict(s.io(), s, Verdict::drop); }},
	{"controller-silent", 22, Hook::execute, io, Expect::silence, nothing,
		[](S &s) { return verdict(s.ioRead(), s, Verdict::stallSilently); }},
	{"write-stalled", 1, Hook::execute, io, Expect::silence, nothing,
		[](S &s) { return verdict(s.ioWrite(), s, Verdict::stall); }},
	{"write-stalled-silent", 1, Hook::execute, io, Expect::silence, nothing,
		[](S &s) { return verdict(s.ioWrite(), s, Verdict::stallSilently); }},
	{"write-stalled-then-rst", 1, Hook::execute, io, Expect::reset, nothing,
		[](S &s) { return when(s.ioWrite(), [&] {
				auto *conn = &s.conn;
				s.verdict = Verdict::stall;
				s.after = [conn] { conn->end(true); }; }); }},
	{"cqe-hlen-zero", 5, Hook::response, io, Expect::reset, nothing,
		[](S &s) { return insteadOfResponse(s, pdu_response, 0, 24); }},
	{"cqe-hlen-255", 5, Hook::response, io, Expect::reset, nothing,
		[](S &s) { return insteadOfResponse(s, pdu_response, 255, 24); }},
	{"cqe-plen-zero", 5, Hook::response, io, Expect::reset, nothing,
		[](S &s) { return insteadOfResponse(s, pdu_response, 24, 0); }},
	{"cqe-plen-huge", 5, Hook::response, io, Expect::reset, nothing,
		[](S &s) { return insteadOfResponse(s, pdu_response, 24, 0xffffffff); }},
	{"pdu-type-unknown", 5, Hook::response, io, Expect::reset, nothing,
		[](S &s) { return insteadOfResponse(s, 0x42, 24, 24); }},
	{"pdu-type-command", 5, Hook::response, io, Expect::reset, nothing,
		[](S &s) { return insteadOfResponse(s, pdu_command, 72, 72); }},
	{"pdu-type-icresp", 5, Hook::response, io, Expect::reset, nothing,
		[](S &s) { return when(s.io(), [&] { s.pdu->resize(128); insteadOfResponse(s, pdu_ic_resp, 128, 128);
			}); }},
	{"pdu-term", 5, Hook::response, io, Expect::reset, nothing,
		[](S &s) { return insteadOfResponse(s, pdu_c2h_term, 24, 24); }},
	{"pdu-term-long", 5, Hook::response, io, Expect::reset, nothing,
		[](S &s) { return insteadOfResponse(s, pdu_c2h_term, 24, 65536); }},
	{"pdu-hdgst-flag-unasked", 9, Hook::response, io, Expect::reset, nothing,
		[](S &s) { return when(s.io(), [&] { header(s).flags |= f_hdgst; }); }},
	{"cqe-header-digest", 9, Hook::wire, io, Expect::reset, Needs::headerDigest,
		[](S &s) { return when(s.io() && header(s).type == pdu_response, [&] { s.raw->back() ^= 0x80; }); }},
	{"pdu-byte-by-byte", 22, Hook::response, io, Expect::harmless, nothing,
		[](S &s) { return verdict(s.io(), s, Verdict::slow); }},
	{"pdu-byte-per-second", 22, Hook::response, io, Expect::harmless, nothing,
		[](S &s) { return verdict(s.io(), s, Verdict::crawl); }},
	{"cqe-then-close", 4, Hook::response, io, Expect::reset, nothing,
		[](S &s) { return verdict(s.io(), s, Verdict::close); }},
	{"status-media", 26, Hook::response, io, Expect::error, nothing,
		[](S &s) { return responseStatus(s, s.ioWrite(), st_write_fault | st_dnr); }},
	{"status-busy", 26, Hook::response, io, Expect::retried, nothing,
		[](S &s) { return responseStatus(s, s.io(), st_ns_not_ready); }},
	{"status-path", 26, Hook::command, io, Expect::retried, nothing,
		[](S &s) { return failed(s.io(), s, st_path_internal); }},
	{"status-of-the-host", 26, Hook::command, io, Expect::retried, nothing,
		[](S &s) { return failed(s.io(), s, st_host_aborted); }},
	{"status-ana-inaccessible", 17, Hook::command, io, Expect::retried, Needs::ana,
		[](S &s) { return failed(s.io(), s, st_ana_inaccessible); }},
	{"status-ana-transition", 17, Hook::command, io, Expect::retried, Needs::ana,
		[](S &s) { return failed(s.io(), s, st_ana_transition); }},

	// While the connection is idle
	{"keep-alive-never", 22, Hook::command, idle, Expect::silence, nothing,
		[](S &s) { return verdict(s.admin(op_keep_alive), s, Verdict::drop); }},
	{"keep-alive-failed", 22, Hook::command, idle, Expect::harmless, nothing,
		[](S &s) { return failed(s.admin(op_keep_alive), s, st_internal); }},
	{"keep-alive-then-rst", 22, Hook::command, idle, Expect::reset, nothing,
		[](S &s) { return verdict(s.admin(op_keep_alive), s, Verdict::abort); }},
	{"keep-alive-twice", 4, Hook::response, idle, Expect::reset, nothing,
		[](S &s) { return verdict(s.admin(op_keep_alive), s, Verdict::twice); }},
	{"aer-flood", 14, Hook::command, idle, Expect::harmless, nothing,
		[](S &s) { return flood(s, 2, 0, log_changed_ns); }},
	{"aer-unknown", 14, Hook::command, idle, Expect::harmless, nothing,
		[](S &s) { return flood(s, 5, 0xee, 0xee); }},
	{"aer-error-transient", 14, Hook::command, idle, Expect::harmless, nothing,
		[](S &s) { return flood(s, 0, 4, log_error); }},
	{"aer-error-persistent", 14, Hook::command, idle, Expect::reset, nothing,
		[](S &s) { return flood(s, 0, 3, log_error, 1); }},

	// A second port whose namespace differs from the first port's
	{"path-smaller", 27, Hook::adminData, When::joining, Expect::nsRefused, nothing,
		[](S &s) { return poke(s.identify(cns_ns), s, at::nsze, 64) &&
				  poke(true, s, at::ncap, 64); }},
	{"path-larger", 27, Hook::adminData, When::joining, Expect::nsRefused, nothing,
		[](S &s) { return poke(s.identify(cns_ns), s, at::nsze, 1 << 20) &&
				  poke(true, s, at::ncap, 1 << 20); }},
	{"path-block-size", 27, Hook::adminData, When::joining, Expect::nsRefused, nothing,
		[](S &s) { return poke(s.identify(cns_ns), s, at::lbaf0_ds, 12); }},
	{"path-metadata", 27, Hook::adminData, When::joining, Expect::nsRefused, nothing,
		[](S &s) { return poke(s.identify(cns_ns), s, at::lbaf0_ms, 8); }},
	{"path-other-uuid", 27, Hook::adminData, When::joining, Expect::nsRefused, nothing,
		[](S &s) { return poke<std::uint32_t>(s.identify(cns_descs), s, 24, 0x0badc0de); }},
	{"path-other-nguid", 27, Hook::adminData, When::joining, Expect::nsRefused, nothing,
		[](S &s) { return poke<std::uint32_t>(s.identify(cns_descs), s, 4, 0x0badc0de); }},
	{"path-other-nsid", 27, Hook::adminData, When::joining, Expect::nsRefused, nothing,
		[](S &s) { return activeIs(s, {7}) || descriptorsOf(s, 1); }},
	{"path-private", 27, Hook::adminData, When::joining, Expect::nsRefused, nothing,
		[](S &s) { return poke(s.identify(cns_ns), s, at::nmic, 0); }},

	// ANA log
	{"ana-group-count", 17, Hook::adminData, connecting, Expect::refused, Needs::ana,
		[](S &s) { return anaShape(s, makeAnaLog(1, 0xffff, {{1, ana_optimized, {1}, 1}})); }},
	{"ana-nsid-count", 17, Hook::adminData, connecting, Expect::refused, Needs::ana,
		[](S &s) { return anaShape(s, makeAnaLog(1, 1, {{1, ana_optimized, {1}, 0xffffffff}})); }},
	{"ana-nsid-count-wraps", 17, Hook::adminData, connecting, Expect::refused, Needs::ana,
		[](S &s) { return anaShape(s, makeAnaLog(1, 1, {{1, ana_optimized, {1}, 0x40000000}})); }},
	{"ana-unsorted", 17, Hook::adminData, connecting, Expect::harmless, Needs::ana,
		[](S &s) { return anaShape(s, makeAnaLog(1, 2, {{2, ana_non_optimized, {9, 7}, 2}, {1, ana_optimized,
			{5, 1, 3}, 3}})); }},
	{"ana-group-zero", 17, Hook::adminData, connecting, Expect::refused, Needs::ana,
		[](S &s) { return anaShape(s, makeAnaLog(1, 2, {{0, ana_optimized, {1}, 1}, {1, ana_optimized, {1},
			1}})); }},
	{"ana-group-beyond", 17, Hook::adminData, connecting, Expect::refused, Needs::ana,
		[](S &s) { return anaShape(s, makeAnaLog(1, 1, {{0xffffffff, ana_optimized, {1}, 1}})); }},
	{"ana-state-unknown", 17, Hook::adminData, connecting, Expect::refused, Needs::ana,
		[](S &s) { return anaShape(s, makeAnaLog(1, 1, {{1, 9, {1}, 1}})); }},
	{"ana-state-zero", 17, Hook::adminData, connecting, Expect::refused, Needs::ana,
		[](S &s) { return anaShape(s, makeAnaLog(1, 1, {{1, 0, {1}, 1}})); }},
	{"ana-nsid-zero", 17, Hook::adminData, connecting, Expect::harmless, Needs::ana,
		[](S &s) { return anaShape(s, makeAnaLog(1, 1, {{1, ana_optimized, {0, 0xffffffff}, 2}})); }},
	{"ana-nsids-unasked", 17, Hook::adminData, connecting, Expect::refused, Needs::ana,
		[](S &s) { return anaShape(s, makeAnaLog(1, 2, {{1, ana_optimized, {1}, 0}, {2, ana_optimized, {},
			0}})); }},
	{"ana-full-of-ones", 17, Hook::adminData, connecting, Expect::refused, Needs::ana,
		[](S &s) { return when(s.log(log_ana), [&] { std::fill(s.data->begin(), s.data->end(), 0xff); }); }},
	{"ana-no-groups", 17, Hook::adminData, connecting, Expect::unusable, Needs::ana,
		[](S &s) { return anaShape(s, makeAnaLog(1, 0, {})); }},
	{"ana-group-repeated", 17, Hook::adminData, connecting, Expect::unusable, Needs::ana,
		[](S &s) { return anaShape(s, makeAnaLog(1, 2, {{1, ana_optimized, {1}, 1}, {1, ana_inaccessible, {1},
			1}})); }},
	{"ana-moving", 17, Hook::adminData, connecting, Expect::harmless, Needs::ana,
		[](S &s) { static std::uint64_t change = 1;
			return anaShape(s, makeAnaLog(change++, 1, {{1, ana_optimized, {1}, 1}})); }},
	{"ana-log-short", 17, Hook::adminData, connecting, Expect::refused, Needs::ana,
		[](S &s) { return when(s.log(log_ana), [&] { s.data->resize(8); }); }},
	{"ana-log-failed", 17, Hook::command, connecting, Expect::refused, Needs::ana,
		[](S &s) { return failed(s.log(log_ana), s, st_internal | st_dnr); }},
	{"ana-log-never", 17, Hook::command, connecting, Expect::refused, Needs::ana,
		[](S &s) { return verdict(s.log(log_ana), s, Verdict::drop); }},
};
// clang-format on

} // namespace

std::span<const Misbehaviour> misbehaviours()
{
	static const std::vector<Misbehaviour> all = [] {
		std::vector<Misbehaviour> lines(std::begin(commonTable), std::end(commonTable));
		for (auto more : {dataMisbehaviours(), discoveryMisbehaviours(), rdmaMisbehaviours()})
			lines.insert(lines.end(), more.begin(), more.end());
		return lines;
	}();
	return all;
}

bool possible(const Misbehaviour &m, Transport transport)
{
	bool onlyRdma = std::ranges::any_of(rdmaMisbehaviours(),
					    [&](auto &own) { return std::string_view(own.name) == m.name; });
	static constexpr std::array pdus{Hook::icResp,   Hook::c2hData, Hook::r2t,
					 Hook::response, Hook::h2cData, Hook::wire};
	// ana-log-short returns too little data, which a host cannot detect over RDMA
	bool onlyTcp = std::ranges::count(pdus, m.hook) || m.needs == Needs::headerDigest ||
		       m.needs == Needs::dataDigest || m.name == std::string_view("ana-log-short");
	return transport == Transport::rdma ? !onlyTcp : !onlyRdma;
}

const Misbehaviour *findMisbehaviour(std::string_view name)
{
	for (auto all :
	     {misbehaviours(), zoneMisbehaviours(), reservationMisbehaviours(), otherReservationMisbehaviours(),
	      formatMisbehaviours(), authMisbehaviours(), channelMisbehaviours()})
		for (auto &m : all)
			if (name == m.name)
				return &m;
	return nullptr;
}

const char *toString(Expect expect)
{
	switch (expect) {
	case Expect::reset:
		return "reset";
	case Expect::silence:
		return "silence";
	case Expect::refused:
		return "refused";
	case Expect::nsRefused:
		return "namespace refused";
	case Expect::scanFailed:
		return "scan failed";
	case Expect::unusable:
		return "unusable";
	case Expect::entryRefused:
		return "entry refused";
	case Expect::error:
		return "error";
	case Expect::harmless:
		return "harmless";
	case Expect::retried:
		return "retried";
	case Expect::judgedByTest:
		return "bounded";
	}
	return "?";
}

} // namespace target
