// SPDX-License-Identifier: LGPL-2.1-or-later
// Each misbehaviour of the discovery service does what its table line says.
#include "discovery_client.h"
#include "identify.h"
#include "misbehaviour.h"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace target;

namespace {

// A misbehaviour, armed after the log has been read once
struct Play {
	Server server;
	Discovery &discovery = server.subsystem().discovery();
	Queue q;
	Log good;

	explicit Play(const Misbehaviour &m) : q((discovery.add(made(24)), discover(server)))
	{
		askForEvents(q);
		good = readLog(q);
		REQUIRE(good.entries.size() == 26);
		server.script().arm(m, m.when == When::discoveryOnce ? 1 : Script::forever);
	}

	Log read() { return readLog(q, 26); }
	Bytes identify()
	{
		REQUIRE(q.run(command(op_identify, cns_ctrl)) == st_ok);
		return q.data();
	}
};

// The header differs from the good one by this change; the entries are the good ones.
void headerIs(Play &p, void (*change)(DiscoveryHeader &))
{
	auto wanted = p.good.header;
	change(wanted);
	auto log = p.read();
	REQUIRE(log.status == st_ok);
	CHECK(std::memcmp(&log.header, &wanted, sizeof(wanted)) == 0);
	CHECK(std::memcmp(&log.after, &wanted, sizeof(wanted)) == 0);
	for (std::size_t i = 0; i < log.entries.size(); i++)
		CHECK(same(log.entries[i], p.good.entries[i]));
}

using Entry = DiscoveryEntry;

// Every other entry is corrupted, the entries between are not.
void entriesAre(Play &p, bool (*spoilt)(const Entry &, const Entry &good))
{
	auto log = p.read();
	REQUIRE(log.status == st_ok);
	REQUIRE(log.entries.size() == 26);
	CHECK_FALSE(log.torn());
	for (std::size_t i = 0; i < 26; i++) {
		INFO(i);
		auto &good = p.good.entries[i];
		CHECK(same(log.entries[i], good) == (i % 2 == 1));
		if (i % 2 == 0)
			CHECK(spoilt(log.entries[i], good));
	}
}

void everyEntryIs(Play &p, SubsystemType type, const std::string &nqn)
{
	auto log = p.read();
	REQUIRE(log.entries.size() == 26);
	for (auto &e : log.entries)
		CHECK(same(e, makeEntry(type, nqn, "127.0.0.1", p.server.port())));
}

void refersToItself(Play &p, const std::string &nqn)
{
	auto log = p.read();
	REQUIRE(log.entries.size() == 26);
	auto wanted = makeEntry(sub_referral, nqn, "127.0.0.1", p.server.port());
	for (std::size_t i = 0; i < 26; i++)
		CHECK(same(log.entries[i], i % 2 ? p.good.entries[i] : wanted));
}

// Contains neither NUL nor blank
template <std::size_t room> bool endless(const char (&field)[room])
{
	return std::none_of(field, field + room, [](char c) { return c == 0 || c == ' '; });
}

template <std::size_t room> bool littered(const char (&field)[room], const char (&good)[room])
{
	auto end = strnlen(field, room);
	return text(field) == text(good) && end < room && std::string(field).find(' ') == std::string::npos &&
	       std::all_of(field + end + 1, field + room, [](char c) { return c == 'x'; });
}

template <class T> bool isOnes(const T &field)
{
	auto *at = reinterpret_cast<const std::uint8_t *>(&field);
	return std::all_of(at, at + sizeof(field), [](auto b) { return b == 0xff; });
}

// Each read succeeds, and each returns another log, at least another header.
void neverSettles(Play &p)
{
	for (int i = 0; i < 4; i++) {
		auto log = p.read();
		REQUIRE(log.status == st_ok);
		CHECK(log.torn());
	}
}

void settlesTo(Play &p, const std::vector<Entry> &entries)
{
	auto log = p.read();
	REQUIRE(log.status == st_ok);
	CHECK_FALSE(log.torn());
	CHECK((log.entries == entries));
}

std::vector<Entry> turned(std::vector<Entry> entries)
{
	std::rotate(entries.begin(), entries.begin() + 1, entries.end());
	return entries;
}

void readsFail(Play &p, int status)
{
	for (int i = 0; i < 2; i++)
		CHECK(p.read().status == status);
}

// Only the header can be read.
void piecesFail(Play &p, int status)
{
	auto log = p.read();
	CHECK(log.status == status);
	CHECK(log.header.numrec == 26);
	CHECK(log.entries.empty());
}

struct Check {
	const char *name;
	void (*run)(Play &);
};

using P = Play;

// clang-format off
const Check controller[] = {
	{"disc-connect-refused", [](P &p) {
		discover(p.server, 0, st_connect_host | st_dnr);
		Queue storage(p.server); }},
	{"disc-connect-busy", [](P &p) { discover(p.server, 0, st_connect_busy); Queue storage(p.server); }},
	{"disc-connect-never", [](P &p) { discover(p.server, 0, -1); Queue storage(p.server); }},
	{"disc-keep-alive-refused", [](P &p) {
		discover(p.server, 1000, badParam);
		auto q = discover(p.server);
		CHECK(readLog(q).entries.size() == 26); }},
	{"disc-type-io", [](P &p) { CHECK(p.identify()[at::cntrltype] == 1); }},
	{"disc-type-not-told", [](P &p) { CHECK(p.identify()[at::cntrltype] == 0); }},
	{"disc-type-unknown", [](P &p) { CHECK(p.identify()[at::cntrltype] == 0x7f); }},
	{"disc-namespaces", [](P &p) { CHECK(get<std::uint32_t>(p.identify(), at::nn) == 8); }},
	{"disc-no-offsets", [](P &p) { CHECK(p.identify()[at::lpa] == 0); }},
	{"disc-subnqn-of-another", [](P &p) {
		auto id = p.identify();
		CHECK(std::string(reinterpret_cast<char *>(&id[at::subnqn])) != wellKnownDiscoveryNqn);
		CHECK(id[at::cntrltype] == 2); }},
};

const Check reading[] = {
	{"disc-log-unsupported", [](P &p) { readsFail(p, st_invalid_log | st_dnr); }},
	{"disc-log-failed", [](P &p) { readsFail(p, st_internal | st_dnr); }},
	{"disc-log-never", [](P &p) { readsFail(p, -1); CHECK(p.q.open()); }},
	{"disc-log-restart", [](P &p) {
		CHECK(p.read().status == st_discover_restart);
		settlesTo(p, p.good.entries); }},
	{"disc-log-restart-always", [](P &p) { readsFail(p, st_discover_restart); }},
	{"disc-piece-failed", [](P &p) { piecesFail(p, st_internal | st_dnr); }},
	{"disc-piece-never", [](P &p) { piecesFail(p, -1); }},
	{"disc-piece-then-rst", [](P &p) {
		piecesFail(p, -1);
		CHECK_FALSE(p.q.open());
		auto q = discover(p.server);
		CHECK((readLog(q).entries == p.good.entries)); }},
	{"disc-log-short", [](P &p) {
		readsFail(p, shortData);
		CHECK(p.q.data().size() == 512); }},
	{"disc-piece-short", [](P &p) {
		DiscoveryHeader header;
		CHECK(readHeader(p.q, header) == st_ok);
		CHECK(piece(p.q, 1024, 4096) == shortData);
		CHECK(p.q.data().size() == 4092); }},
	{"disc-offset-ignored", [](P &p) {
		CHECK(piece(p.q, 4096, 3000) == st_ok);
		CHECK(std::memcmp(p.q.data().data(), &p.good.header, 1024) == 0);
		CHECK(std::memcmp(p.q.data().data() + 1024, &p.good.entries[0], 1024) == 0); }},
	{"disc-log-byte-by-byte", [](P &p) {
		CHECK(p.read().status == -1);
		CHECK(p.q.open()); }},
};

const Check changes[] = {
	{"disc-moves-once", [](P &p) {
		CHECK(p.read().torn());
		settlesTo(p, turned(p.good.entries)); }},
	{"disc-moves-always", [](P &p) {
		neverSettles(p);
		CHECK(p.read().content() != p.good.content()); }}, // an entry is duplicated or missing
	{"disc-moves-unseen", [](P &p) {
		auto log = p.read();
		CHECK_FALSE(log.torn());
		CHECK(log.header.genctr == p.good.header.genctr);
		CHECK(log.content() != p.good.content()); }},
	{"disc-grows", [](P &p) {
		neverSettles(p);
		auto log = p.read();
		CHECK(log.after.numrec > log.header.numrec);
		CHECK(log.entries.size() == 26); }},
	{"disc-shrinks", [](P &p) {
		auto log = p.read();
		CHECK(log.header.numrec == 26);
		CHECK(log.status == badField); // beyond its end
		settlesTo(p, {p.good.entries[0]}); }},
	{"disc-vanishes", [](P &p) {
		auto log = p.read();
		CHECK(log.header.numrec == 26);
		settlesTo(p, {}); }},
	{"disc-generation-moves", [](P &p) {
		neverSettles(p);
		CHECK((p.read().entries == p.good.entries)); }},
	{"disc-generation-falls", [](P &p) {
		auto log = p.read();
		CHECK(log.after.genctr < log.header.genctr);
		CHECK(log.content() != p.good.content()); }},
	{"disc-generation-wraps", [](P &p) {
		auto log = p.read();
		CHECK(log.header.genctr == ~0ull);
		CHECK(log.after.genctr == 0);
		settlesTo(p, turned(p.good.entries)); }},
};

const Check headers[] = {
	{"disc-numrec-larger", [](P &p) { headerIs(p, [](auto &h) { h.numrec = 26 + 7; }); }},
	{"disc-numrec-smaller", [](P &p) { headerIs(p, [](auto &h) { h.numrec = 1; }); }},
	{"disc-numrec-zero", [](P &p) { headerIs(p, [](auto &h) { h.numrec = 0; }); }},
	{"disc-numrec-2^22", [](P &p) { headerIs(p, [](auto &h) { h.numrec = 0x400000; }); }},
	{"disc-numrec-2^54", [](P &p) { headerIs(p, [](auto &h) { h.numrec = 0x40000000000000; }); }},
	{"disc-numrec-2^63", [](P &p) { headerIs(p, [](auto &h) { h.numrec = 0x8000000000000000; }); }},
	{"disc-numrec-ones", [](P &p) { headerIs(p, [](auto &h) { h.numrec = 0xffffffffffffffff; }); }},
	{"disc-format-unknown", [](P &p) { headerIs(p, [](auto &h) { h.recfmt = 0x7fff; }); }},
	{"disc-header-ones", [](P &p) { headerIs(p, [](auto &h) {
		std::memset(static_cast<void *>(&h), 0xff, sizeof(h)); }); }},
};

const Check fields[] = {
	{"disc-trtype-zero", [](P &p) { entriesAre(p, [](auto &e, auto &) { return e.trtype == 0; }); }},
	{"disc-trtype-unknown", [](P &p) { entriesAre(p, [](auto &e, auto &) { return e.trtype == 0x2a; }); }},
	{"disc-trtype-rdma", [](P &p) { entriesAre(p, [](auto &e, auto &) { return e.trtype == 1; }); }},
	{"disc-trtype-loop", [](P &p) { entriesAre(p, [](auto &e, auto &) { return e.trtype == 254; }); }},
	{"disc-adrfam-unknown", [](P &p) { entriesAre(p, [](auto &e, auto &) { return e.adrfam == 9; }); }},
	{"disc-adrfam-other", [](P &p) { entriesAre(p, [](auto &e, auto &good) {
		return e.adrfam == fam_ipv6 && text(e.traddr) == text(good.traddr); }); }},
	{"disc-subtype-zero", [](P &p) { entriesAre(p, [](auto &e, auto &) { return e.subtype == 0; }); }},
	{"disc-subtype-unknown", [](P &p) { entriesAre(p, [](auto &e, auto &) { return e.subtype == 77; }); }},
	{"disc-tls-required", [](P &p) { entriesAre(p, [](auto &e, auto &) {
		return e.treq == 1 && e.tsas[0] == 2; }); }},
	{"disc-treq-ones", [](P &p) { entriesAre(p, [](auto &e, auto &) { return e.treq == 0xff; }); }},
	{"disc-cntlid-reserved", [](P &p) { entriesAre(p, [](auto &e, auto &) { return e.cntlid == 0xfff5; }); }},
	{"disc-cntlid-fixed", [](P &p) { entriesAre(p, [](auto &e, auto &) { return e.cntlid == 1; }); }},
	{"disc-asqsz-zero", [](P &p) { entriesAre(p, [](auto &e, auto &) { return e.asqsz == 0; }); }},
	{"disc-eflags-ones", [](P &p) { entriesAre(p, [](auto &e, auto &) { return e.eflags == 0xffff; }); }},
	{"disc-reserved-ones", [](P &p) { entriesAre(p, [](auto &e, auto &good) {
		return isOnes(e.reserved) && isOnes(e.reserved2) && text(e.subnqn) == text(good.subnqn); }); }},
	{"disc-entry-zero", [](P &p) { entriesAre(p, [](auto &e, auto &) { return same(e, Entry{}); }); }},
	{"disc-entry-ones", [](P &p) { entriesAre(p, [](auto &e, auto &) { return isOnes(e); }); }},
};

const Check texts[] = {
	{"disc-traddr-unterminated", [](P &p) { entriesAre(p, [](auto &e, auto &) { return endless(e.traddr); }); }},
	{"disc-trsvcid-unterminated", [](P &p) { entriesAre(p, [](auto &e, auto &) { return endless(e.trsvcid); }); }},
	{"disc-subnqn-unterminated", [](P &p) { entriesAre(p, [](auto &e, auto &) { return endless(e.subnqn); }); }},
	{"disc-traddr-empty", [](P &p) { entriesAre(p, [](auto &e, auto &) { return text(e.traddr).empty(); }); }},
	{"disc-trsvcid-empty", [](P &p) { entriesAre(p, [](auto &e, auto &) { return text(e.trsvcid).empty(); }); }},
	{"disc-subnqn-empty", [](P &p) { entriesAre(p, [](auto &e, auto &) { return e.subnqn[0] == 0; }); }},
	{"disc-traddr-any", [](P &p) { entriesAre(p, [](auto &e, auto &) { return text(e.traddr) == "0.0.0.0"; }); }},
	{"disc-traddr-multicast", [](P &p) { entriesAre(p, [](auto &e, auto &) {
		return text(e.traddr) == "224.0.0.1"; }); }},
	{"disc-traddr-name", [](P &p) { entriesAre(p, [](auto &e, auto &) {
		return text(e.traddr) == "target.invalid"; }); }},
	{"disc-trsvcid-word", [](P &p) { entriesAre(p, [](auto &e, auto &) { return text(e.trsvcid) == "4420x"; }); }},
	{"disc-trsvcid-large", [](P &p) { entriesAre(p, [](auto &e, auto &) {
		return std::stoi(text(e.trsvcid)) == 65536 + 4420; }); }},
	{"disc-trsvcid-negative", [](P &p) { entriesAre(p, [](auto &e, auto &) { return text(e.trsvcid) == "-1"; }); }},
	{"disc-subnqn-shell", [](P &p) { entriesAre(p, [](auto &e, auto &) {
		return text(e.subnqn).find("$(reboot);/../'\"") != std::string::npos; }); }},
	{"disc-text-unprintable", [](P &p) { entriesAre(p, [](auto &e, auto &) {
		return e.traddr[0] == 0x1b && e.trsvcid[0] == 0x1b && text(e.subnqn).find("\n") != std::string::npos;
		}); }},
	{"disc-text-padded-with-nul", [](P &p) { entriesAre(p, [](auto &e, auto &good) {
		return e.traddr[255] == 0 && e.trsvcid[31] == 0 && std::string(e.traddr) == text(good.traddr) &&
		       std::string(e.trsvcid) == text(good.trsvcid); }); }},
	{"disc-text-behind-nul", [](P &p) { entriesAre(p, [](auto &e, auto &good) {
		return littered(e.traddr, good.traddr) && littered(e.trsvcid, good.trsvcid) &&
		       littered(e.subnqn, good.subnqn); }); }},
};

const Check loops[] = {
	{"disc-itself-repeated", [](P &p) { everyEntryIs(p, sub_current, wellKnownDiscoveryNqn); }},
	{"disc-port-repeated", [](P &p) { everyEntryIs(p, sub_nvm, p.server.config().nqn); }},
	{"disc-itself-as-storage", [](P &p) { everyEntryIs(p, sub_nvm, wellKnownDiscoveryNqn); }},
	{"disc-referral-to-itself", [](P &p) { refersToItself(p, wellKnownDiscoveryNqn); }},
	{"disc-referral-to-storage", [](P &p) { refersToItself(p, p.server.config().nqn); }},
};

const Check events[] = {
	{"disc-event-storm", [](P &p) {
		for (int i = 0; i < 100; i++) {
			p.q.send(command(op_async_event));
			REQUIRE(p.q.event() == changed);
		}
		CHECK(p.discovery.generation() == p.good.header.genctr); }}, // the event was unfounded
	{"disc-event-each-read", [](P &p) {
		for (int i = 0; i < 10; i++) {
			p.q.send(command(op_async_event));
			CHECK(piece(p.q, 0, 1024) == st_ok);
			CHECK(p.q.event() == changed);
		}
		CHECK(p.discovery.generation() == p.good.header.genctr); }},
	{"disc-event-flood", [](P &p) {
		CHECK(piece(p.q, 0, 1024, true) == st_ok);
		for (int i = 0; i < 64; i++) {
			p.q.send(command(op_async_event));
			REQUIRE(p.q.event() == changed);
		}
		p.q.send(command(op_async_event));
		CHECK(p.q.event() == 0); }},
	{"disc-event-of-namespaces", [](P &p) {
		p.q.send(command(op_async_event));
		CHECK(piece(p.q, 0, 1024) == st_ok);
		CHECK(p.q.event() == event_ns_changed.result()); }},
	{"disc-event-unknown", [](P &p) {
		p.q.send(command(op_async_event));
		CHECK(piece(p.q, 0, 1024) == st_ok);
		CHECK(p.q.event() == 0x777702); }},
	{"disc-event-lost", [](P &p) {
		p.q.send(command(op_async_event));
		p.discovery.clear();
		CHECK(p.q.event() == 0);
		CHECK(readLog(p.q).entries.size() == 2);
		p.q.send(command(op_async_event));
		p.discovery.add(made(1));
		CHECK(p.q.event() == changed); }},
};
// clang-format on

const std::span<const Check> allChecks[] = {controller, reading, changes, headers, fields, texts, loops, events};

// Null: not found
const Check *checkOf(std::string_view name)
{
	for (auto checks : allChecks)
		for (auto &c : checks)
			if (name == c.name)
				return &c;
	return nullptr;
}

} // namespace

TEST_CASE("each misbehaviour of the discovery service has exactly one check")
{
	std::size_t lines = 0, checks = 0;
	for (auto &m : misbehaviours()) {
		bool discovery = m.when == When::discovery || m.when == When::discoveryOnce;
		INFO(m.name);
		CHECK(discovery == (std::string_view(m.name).substr(0, 5) == "disc-"));
		CHECK((checkOf(m.name) != nullptr) == discovery);
		CHECK(findMisbehaviour(m.name) == &m); // names are unique
		lines += discovery;
	}
	for (auto list : allChecks)
		checks += list.size();
	CHECK(lines == checks);
	CHECK(lines == discoveryMisbehaviours().size());
}

TEST_CASE("misbehaviour of the discovery service does what it says")
{
	for (auto &m : discoveryMisbehaviours())
		DYNAMIC_SECTION(m.name)
		{
			auto *check = checkOf(m.name);
			REQUIRE(check);
			Play p(*findMisbehaviour(m.name));
			check->run(p);
			CHECK(p.server.script().strikes() >= 1);
			if (m.when == When::discoveryOnce)
				CHECK(p.server.script().strikes() == 1);
			CHECK(p.server.violations().empty());
			p.server.script().disarm();
			auto q = discover(p.server); // afterwards the service works
			CHECK(readLog(q).status == st_ok);
		}
}
