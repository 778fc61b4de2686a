// SPDX-License-Identifier: LGPL-2.1-or-later
// Misbehaviour of the discovery service. Every other entry is corrupted, so that tests can check the entries between.
#include "acts.h"
#include "connection.h"
#include "discovery.h"
#include "identify.h"

#include <algorithm>

namespace target {
namespace {

using namespace acts;
using Header = DiscoveryHeader;
using Entry = DiscoveryEntry;

Discovery &service(Connection &conn)
{
	return conn.server().subsystem().discovery();
}

bool connects(Strike &s)
{
	if (!s.is(op_fabrics) || s.cmd->fctype() != fc_connect)
		return false;
	auto c = Connect::decode(*s.cmd, *s.data);
	return c && service(s.conn).answersTo(c->subsysnqn);
}

bool identifies(Strike &s)
{
	return s.conn.discovery() && s.identify(cns_ctrl);
}

bool reads(Strike &s)
{
	return s.log(log_discovery);
}

// A read beyond the header
bool readsOn(Strike &s)
{
	return reads(s) && s.cmd->logOffset() != 0;
}

template <std::size_t room> void setText(char (&field)[room], std::string_view text, char padding = ' ')
{
	nofctl::wire::setText(field, text, padding);
}

template <std::size_t room> void repad(char (&field)[room])
{
	for (auto *c = field + room; c != field && c[-1] == ' '; c--)
		c[-1] = 0;
}

// Terminates the text with a NUL, followed by other bytes.
template <std::size_t room> void litter(char (&field)[room])
{
	repad(field);
	auto *end = std::find(field, field + room, 0);
	if (end != field + room)
		std::fill(end + 1, field + room, 'x');
}

template <class T> void ones(T &field)
{
	std::memset(&field, 0xff, sizeof(field));
}

bool header(Strike &s, void (*change)(Header &))
{
	return when(*s.value == 0, [&] { change(*reinterpret_cast<Header *>(s.data->data())); });
}

bool entries(Strike &s, void (*change)(Entry &))
{
	return when(*s.value % 2 != 0, [&] { change(*reinterpret_cast<Entry *>(s.data->data())); });
}

bool everyEntryIs(Strike &s, const Entry &entry)
{
	return when(*s.value != 0, [&] { std::memcpy(s.data->data(), &entry, sizeof(entry)); });
}

Entry toThisVeryPort(Strike &s, SubsystemType type, const std::string &nqn)
{
	return makeEntry(type, nqn, s.conn.server().config().address, s.conn.server().port());
}

bool referralToItself(Strike &s, const char *nqn)
{
	auto entry = toThisVeryPort(s, sub_referral, nqn);
	return when(*s.value % 2 != 0, [&] { std::memcpy(s.data->data(), &entry, sizeof(entry)); });
}

// Changes the log after one read and before the next.
bool afterRead(Strike &s, void (*change)(Discovery &))
{
	return when(reads(s), [&] {
		auto *conn = &s.conn;
		s.after = [conn, change] { change(service(*conn)); };
	});
}

bool tellAfter(bool condition, Strike &s, AsyncEvent event, int count = 1)
{
	return when(condition, [&] {
		auto *conn = &s.conn;
		s.after = [conn, event, count] {
			for (int i = 0; i < count; i++)
				conn->tell(event);
		};
	});
}

Entry another(std::uint64_t number)
{
	return makeEntry(sub_nvm, "nqn.2024-01.io.nvmeof:new" + std::to_string(number), "127.0.0.1", 4420);
}

// Sets the generation counter to 2^64 - 1 for this read; the next change makes it 0.
bool wraps(Strike &s)
{
	return when(reads(s), [&] {
		auto *conn = &s.conn;
		service(*conn).setGeneration(~0ull);
		s.after = [conn] { service(*conn).rotate(); };
	});
}

constexpr auto atDiscovery = When::discovery;
constexpr auto atDiscoveryOnce = When::discoveryOnce;

// clang-format off
const Misbehaviour discoveryTable[] = {
	// The controller
	{"disc-connect-refused", 21, Hook::command, atDiscovery, Expect::refused, nothing,
		[](S &s) { return failed(connects(s), s, st_connect_host | st_dnr); }},
	{"disc-connect-busy", 31, Hook::command, atDiscovery, Expect::refused, nothing,
		[](S &s) { return failed(connects(s), s, st_connect_busy); }},
	{"disc-connect-never", 22, Hook::command, atDiscovery, Expect::refused, nothing,
		[](S &s) { return verdict(connects(s), s, Verdict::drop); }},
	{"disc-keep-alive-refused", 21, Hook::command, atDiscovery, Expect::refused, Needs::persistent,
		[](S &s) { return failed(connects(s) && s.cmd->cdw12, s, st_connect_param | st_dnr); }},
	{"disc-type-io", 21, Hook::adminData, atDiscovery, Expect::refused, nothing,
		[](S &s) { return poke(identifies(s), s, at::cntrltype, 1); }},
	{"disc-type-not-told", 21, Hook::adminData, atDiscovery, Expect::harmless, nothing, // as before NVMe 1.4
		[](S &s) { return poke(identifies(s), s, at::cntrltype, 0); }},
	{"disc-type-unknown", 21, Hook::adminData, atDiscovery, Expect::refused, nothing,
		[](S &s) { return poke(identifies(s), s, at::cntrltype, 0x7f); }},
	{"disc-namespaces", 21, Hook::adminData, atDiscovery, Expect::harmless, nothing,
		[](S &s) { return poke(identifies(s), s, at::nn, 8); }},
	{"disc-no-offsets", 21, Hook::adminData, atDiscovery, Expect::refused, nothing,
		[](S &s) { return poke(identifies(s), s, at::lpa, 0); }},
	{"disc-subnqn-of-another", 21, Hook::adminData, atDiscovery, Expect::harmless, nothing,
		[](S &s) { return poke<std::uint32_t>(identifies(s), s, at::subnqn + 20, 0x2e786f66); }},

	// Reading
	{"disc-log-unsupported", 21, Hook::command, atDiscovery, Expect::refused, nothing,
		[](S &s) { return failed(reads(s), s, st_invalid_log | st_dnr); }},
	{"disc-log-failed", 21, Hook::command, atDiscovery, Expect::refused, nothing,
		[](S &s) { return failed(reads(s), s, st_internal | st_dnr); }},
	{"disc-log-never", 22, Hook::command, atDiscovery, Expect::refused, nothing,
		[](S &s) { return verdict(reads(s), s, Verdict::drop); }},
	{"disc-log-restart", 28, Hook::command, atDiscoveryOnce, Expect::retried, nothing,
		[](S &s) { return failed(reads(s), s, st_discover_restart); }},
	{"disc-log-restart-always", 28, Hook::command, atDiscovery, Expect::refused, nothing,
		[](S &s) { return failed(reads(s), s, st_discover_restart); }},
	{"disc-piece-failed", 21, Hook::command, atDiscovery, Expect::refused, nothing,
		[](S &s) { return failed(readsOn(s), s, st_internal | st_dnr); }},
	{"disc-piece-never", 22, Hook::command, atDiscovery, Expect::refused, nothing,
		[](S &s) { return verdict(readsOn(s), s, Verdict::drop); }},
	{"disc-piece-then-rst", 22, Hook::command, atDiscoveryOnce, Expect::reset, nothing,
		[](S &s) { return verdict(readsOn(s), s, Verdict::abort); }},
	{"disc-log-short", 7, Hook::adminData, atDiscovery, Expect::refused, nothing,
		[](S &s) { return when(reads(s), [&] { s.data->resize(s.data->size() / 2); }); }},
	{"disc-piece-short", 7, Hook::adminData, atDiscovery, Expect::refused, nothing,
		[](S &s) { return when(readsOn(s), [&] { s.data->resize(s.data->size() - 4); }); }},
	{"disc-offset-ignored", 28, Hook::adminData, atDiscovery, Expect::refused, nothing,
		[](S &s) { return when(readsOn(s), [&] {
				auto size = s.data->size();
				s.data->clear();
				for (auto &b : service(s.conn).blocks(s.conn.server(), 0, size / discoveryBlock + 1))
					s.data->insert(s.data->end(), b.begin(), b.end());
				s.data->resize(size); }); }},
	{"disc-log-byte-by-byte", 22, Hook::c2hData, atDiscovery, Expect::refused, nothing,
		[](S &s) { return verdict(reads(s), s, Verdict::slow); }},

	// The log changes while it is read
	{"disc-moves-once", 28, Hook::command, atDiscoveryOnce, Expect::retried, nothing,
		[](S &s) { return afterRead(s, [](Discovery &d) { d.rotate(); }); }},
	{"disc-moves-always", 28, Hook::command, atDiscovery, Expect::refused, nothing,
		[](S &s) { return afterRead(s, [](Discovery &d) { d.rotate(); }); }},
	{"disc-moves-unseen", 28, Hook::command, atDiscovery, Expect::harmless, nothing,
		[](S &s) { return afterRead(s, [](Discovery &d) { d.rotate(true); }); }},
	{"disc-grows", 28, Hook::command, atDiscovery, Expect::refused, nothing,
		[](S &s) { return afterRead(s, [](Discovery &d) { d.add({another(d.generation())}); }); }},
	{"disc-shrinks", 28, Hook::command, atDiscoveryOnce, Expect::retried, nothing,
		[](S &s) { return afterRead(s, [](Discovery &d) { d.setEntryLimit(1); }); }},
	{"disc-vanishes", 28, Hook::command, atDiscoveryOnce, Expect::retried, nothing,
		[](S &s) { return afterRead(s, [](Discovery &d) { d.setEntryLimit(0); }); }},
	{"disc-generation-moves", 28, Hook::command, atDiscovery, Expect::refused, nothing,
		[](S &s) { return afterRead(s, [](Discovery &d) { d.setGeneration(d.generation() + 1); }); }},
	{"disc-generation-falls", 28, Hook::command, atDiscovery, Expect::refused, nothing,
		[](S &s) { return afterRead(s, [](Discovery &d) { d.rotate(true); d.setGeneration(d.generation() - 1);
			}); }},
	{"disc-generation-wraps", 28, Hook::command, atDiscoveryOnce, Expect::retried, nothing,
		[](S &s) { return wraps(s); }},

	// Header
	{"disc-numrec-larger", 28, Hook::discovery, atDiscovery, Expect::entryRefused, nothing,
		[](S &s) { return header(s, [](Header &h) { h.numrec = h.numrec + 7; }); }},
	{"disc-numrec-smaller", 28, Hook::discovery, atDiscovery, Expect::harmless, nothing,
		[](S &s) { return header(s, [](Header &h) { h.numrec = 1; }); }},
	{"disc-numrec-zero", 28, Hook::discovery, atDiscovery, Expect::harmless, nothing,
		[](S &s) { return header(s, [](Header &h) { h.numrec = 0; }); }},
	{"disc-numrec-2^22", 21, Hook::discovery, atDiscovery, Expect::refused, nothing, // times 1024: 2^32
		[](S &s) { return header(s, [](Header &h) { h.numrec = 1ull << 22; }); }},
	{"disc-numrec-2^54", 21, Hook::discovery, atDiscovery, Expect::refused, nothing, // times 1024: 2^64
		[](S &s) { return header(s, [](Header &h) { h.numrec = 1ull << 54; }); }},
	{"disc-numrec-2^63", 21, Hook::discovery, atDiscovery, Expect::refused, nothing,
		[](S &s) { return header(s, [](Header &h) { h.numrec = 1ull << 63; }); }},
	{"disc-numrec-ones", 21, Hook::discovery, atDiscovery, Expect::refused, nothing,
		[](S &s) { return header(s, [](Header &h) { h.numrec = ~0ull; }); }},
	{"disc-format-unknown", 21, Hook::discovery, atDiscovery, Expect::refused, nothing,
		[](S &s) { return header(s, [](Header &h) { h.recfmt = 0x7fff; }); }},
	{"disc-header-ones", 21, Hook::discovery, atDiscovery, Expect::refused, nothing,
		[](S &s) { return header(s, [](Header &h) { ones(h); }); }},

	// Entries
	{"disc-trtype-zero", 21, Hook::discovery, atDiscovery, Expect::entryRefused, nothing,
		[](S &s) { return entries(s, [](Entry &e) { e.trtype = 0; }); }},
	{"disc-trtype-unknown", 21, Hook::discovery, atDiscovery, Expect::entryRefused, nothing,
		[](S &s) { return entries(s, [](Entry &e) { e.trtype = 0x2a; }); }},
	{"disc-trtype-rdma", 21, Hook::discovery, atDiscovery, Expect::harmless, nothing,
		[](S &s) { return entries(s, [](Entry &e) { e.trtype = tr_rdma; }); }},
	{"disc-trtype-loop", 21, Hook::discovery, atDiscovery, Expect::harmless, nothing,
		[](S &s) { return entries(s, [](Entry &e) { e.trtype = tr_loop; e.adrfam = 254; }); }},
	{"disc-adrfam-unknown", 21, Hook::discovery, atDiscovery, Expect::entryRefused, nothing,
		[](S &s) { return entries(s, [](Entry &e) { e.adrfam = 9; }); }},
	{"disc-adrfam-other", 21, Hook::discovery, atDiscovery, Expect::entryRefused, nothing,
		[](S &s) { return entries(s, [](Entry &e) {
			e.adrfam = static_cast<std::uint8_t>(fam_ipv4 + fam_ipv6 - e.adrfam); }); }},
	{"disc-subtype-zero", 21, Hook::discovery, atDiscovery, Expect::entryRefused, nothing,
		[](S &s) { return entries(s, [](Entry &e) { e.subtype = 0; }); }},
	{"disc-subtype-unknown", 21, Hook::discovery, atDiscovery, Expect::entryRefused, nothing,
		[](S &s) { return entries(s, [](Entry &e) { e.subtype = 77; }); }},
	{"disc-tls-required", 21, Hook::discovery, atDiscovery, Expect::harmless, nothing,
		[](S &s) { return entries(s, [](Entry &e) { e.treq = treq_required; e.tsas[0] = 2; }); }},
	{"disc-treq-ones", 21, Hook::discovery, atDiscovery, Expect::entryRefused, nothing,
		[](S &s) { return entries(s, [](Entry &e) { ones(e.treq); }); }},
	{"disc-cntlid-reserved", 21, Hook::discovery, atDiscovery, Expect::entryRefused, nothing,
		[](S &s) { return entries(s, [](Entry &e) { e.cntlid = 0xfff5; }); }},
	{"disc-cntlid-fixed", 21, Hook::discovery, atDiscovery, Expect::harmless, nothing,
		[](S &s) { return entries(s, [](Entry &e) { e.cntlid = 1; }); }},
	{"disc-asqsz-zero", 21, Hook::discovery, atDiscovery, Expect::harmless, nothing,
		[](S &s) { return entries(s, [](Entry &e) { e.asqsz = 0; }); }},
	{"disc-eflags-ones", 21, Hook::discovery, atDiscovery, Expect::harmless, nothing,
		[](S &s) { return entries(s, [](Entry &e) { ones(e.eflags); }); }},
	{"disc-reserved-ones", 21, Hook::discovery, atDiscovery, Expect::harmless, nothing,
		[](S &s) { return entries(s, [](Entry &e) { ones(e.reserved); ones(e.reserved2); }); }},
	{"disc-entry-zero", 21, Hook::discovery, atDiscovery, Expect::entryRefused, nothing,
		[](S &s) { return entries(s, [](Entry &e) { e = {}; }); }},
	{"disc-entry-ones", 21, Hook::discovery, atDiscovery, Expect::entryRefused, nothing,
		[](S &s) { return entries(s, [](Entry &e) { ones(e); }); }},

	// Texts of entries
	{"disc-traddr-unterminated", 21, Hook::discovery, atDiscovery, Expect::entryRefused, nothing,
		[](S &s) { return entries(s, [](Entry &e) { setText(e.traddr, "127.0.0.", '1'); }); }},
	{"disc-trsvcid-unterminated", 21, Hook::discovery, atDiscovery, Expect::entryRefused, nothing,
		[](S &s) { return entries(s, [](Entry &e) { setText(e.trsvcid, "", '4'); }); }},
	{"disc-subnqn-unterminated", 21, Hook::discovery, atDiscovery, Expect::entryRefused, nothing,
		[](S &s) { return entries(s, [](Entry &e) { setText(e.subnqn, "nqn.2024-01.io.nvmeof:", 'x'); }); }},
	{"disc-traddr-empty", 21, Hook::discovery, atDiscovery, Expect::entryRefused, nothing,
		[](S &s) { return entries(s, [](Entry &e) { setText(e.traddr, ""); }); }},
	{"disc-trsvcid-empty", 21, Hook::discovery, atDiscovery, Expect::entryRefused, nothing,
		[](S &s) { return entries(s, [](Entry &e) { setText(e.trsvcid, ""); }); }},
	{"disc-subnqn-empty", 21, Hook::discovery, atDiscovery, Expect::entryRefused, nothing,
		[](S &s) { return entries(s, [](Entry &e) { setText(e.subnqn, "", 0); }); }},
	{"disc-traddr-any", 21, Hook::discovery, atDiscovery, Expect::entryRefused, nothing,
		[](S &s) { return entries(s, [](Entry &e) { setText(e.traddr, "0.0.0.0"); }); }},
	{"disc-traddr-multicast", 21, Hook::discovery, atDiscovery, Expect::entryRefused, nothing,
		[](S &s) { return entries(s, [](Entry &e) { setText(e.traddr, "224.0.0.1"); }); }},
	{"disc-traddr-name", 21, Hook::discovery, atDiscovery, Expect::entryRefused, nothing,
		[](S &s) { return entries(s, [](Entry &e) { setText(e.traddr, "target.invalid"); }); }},
	{"disc-trsvcid-word", 21, Hook::discovery, atDiscovery, Expect::entryRefused, nothing,
		[](S &s) { return entries(s, [](Entry &e) { setText(e.trsvcid, "4420x"); }); }},
	{"disc-trsvcid-large", 21, Hook::discovery, atDiscovery, Expect::entryRefused, nothing, // 4420 modulo 2^16
		[](S &s) { return entries(s, [](Entry &e) { setText(e.trsvcid, "69956"); }); }},
	{"disc-trsvcid-negative", 21, Hook::discovery, atDiscovery, Expect::entryRefused, nothing,
		[](S &s) { return entries(s, [](Entry &e) { setText(e.trsvcid, "-1"); }); }},
	{"disc-subnqn-shell", 21, Hook::discovery, atDiscovery, Expect::harmless, nothing,
		[](S &s) { return entries(s, [](Entry &e) { setText(e.subnqn, "nqn.2024-01.io.nvmeof:$(reboot);/../'\"",
			0); }); }},
	{"disc-text-unprintable", 21, Hook::discovery, atDiscovery, Expect::entryRefused, nothing,
		[](S &s) { return entries(s, [](Entry &e) {
				setText(e.traddr, "\x1b[2J\n\r\xff");
				setText(e.trsvcid, "\x1b[2J\n\r\xff");
				setText(e.subnqn, "nqn.2024-01.io.nvmeof:\x1b[2J\n\r\xff", 0); }); }},
	{"disc-text-padded-with-nul", 21, Hook::discovery, atDiscovery, Expect::harmless, nothing,
		[](S &s) { return entries(s, [](Entry &e) { repad(e.traddr); repad(e.trsvcid); }); }},
	{"disc-text-behind-nul", 21, Hook::discovery, atDiscovery, Expect::harmless, nothing,
		[](S &s) { return entries(s, [](Entry &e) {
				litter(e.traddr);
				litter(e.trsvcid);
				litter(e.subnqn); }); }},

	// Entries that refer back to the same port
	{"disc-itself-repeated", 20, Hook::discovery, atDiscovery, Expect::harmless, nothing,
		[](S &s) { return everyEntryIs(s, toThisVeryPort(s, sub_current, wellKnownDiscoveryNqn)); }},
	{"disc-port-repeated", 20, Hook::discovery, atDiscovery, Expect::harmless, nothing,
		[](S &s) { return everyEntryIs(s, toThisVeryPort(s, sub_nvm, s.conn.server().config().nqn)); }},
	{"disc-itself-as-storage", 20, Hook::discovery, atDiscovery, Expect::entryRefused, nothing,
		[](S &s) { return everyEntryIs(s, toThisVeryPort(s, sub_nvm, wellKnownDiscoveryNqn)); }},
	{"disc-referral-to-itself", 31, Hook::discovery, atDiscovery, Expect::harmless, nothing,
		[](S &s) { return referralToItself(s, wellKnownDiscoveryNqn); }},
	{"disc-referral-to-storage", 21, Hook::discovery, atDiscovery, Expect::harmless, nothing,
		[](S &s) { return referralToItself(s, s.conn.server().config().nqn.c_str()); }},

	// Events
	{"disc-event-storm", 31, Hook::command, atDiscovery, Expect::harmless, Needs::persistent,
		[](S &s) { return tellAfter(s.conn.discovery() && s.admin(op_async_event), s,
			event_discovery_changed); }},
	{"disc-event-each-read", 31, Hook::command, atDiscovery, Expect::harmless, nothing,
		[](S &s) { return tellAfter(reads(s), s, event_discovery_changed); }},
	{"disc-event-flood", 14, Hook::command, atDiscoveryOnce, Expect::harmless, nothing,
		[](S &s) { return tellAfter(reads(s), s, event_discovery_changed, 64); }},
	{"disc-event-of-namespaces", 14, Hook::command, atDiscoveryOnce, Expect::harmless, nothing,
		[](S &s) { return tellAfter(reads(s), s, event_ns_changed); }},
	{"disc-event-unknown", 14, Hook::command, atDiscoveryOnce, Expect::harmless, nothing,
		[](S &s) { return tellAfter(reads(s), s, {2, 0x77, 0x77}); }},
	{"disc-event-lost", 28, Hook::response, atDiscoveryOnce, Expect::harmless, Needs::persistent,
		[](S &s) { return verdict(s.conn.discovery() && s.admin(op_async_event), s, Verdict::drop); }},
};
// clang-format on

} // namespace

std::span<const Misbehaviour> discoveryMisbehaviours()
{
	return discoveryTable;
}

} // namespace target
