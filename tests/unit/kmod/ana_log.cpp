// SPDX-License-Identifier: LGPL-2.1-or-later
#include <catch2/catch.hpp>

#include <cstring>
#include <string>
#include <utility>
#include <vector>

extern "C" {
#include <linux/nvme.h>

#include "wire/ana_log.h"
}

namespace {

struct Group {
	uint32_t id;
	uint8_t state;
	std::vector<uint32_t> nsids = {};
	uint32_t told = ~0u; // NNSIDS in the log; ~0: the size of nsids
};

using Bytes = std::vector<uint8_t>;
using Seen = std::vector<std::pair<uint32_t, int>>;

template <typename T> void append(Bytes &to, const T &what)
{
	const auto *p = reinterpret_cast<const uint8_t *>(&what);
	to.insert(to.end(), p, p + sizeof(what));
}

Bytes makeLog(const std::vector<Group> &groups, int told = -1)
{
	Bytes log;
	nvme_ana_rsp_hdr header = {};
	header.chgcnt = htole64(7);
	header.ngrps = htole16(told < 0 ? groups.size() : told);
	append(log, header);
	for (const Group &g : groups) {
		uint8_t desc[sizeof(nvme_ana_group_desc)] = {};
		const uint32_t id = htole32(g.id), n = htole32(g.told != ~0u ? g.told : g.nsids.size());
		memcpy(desc, &id, 4);
		memcpy(desc + 4, &n, 4);
		desc[16] = g.state;
		append(log, desc);
		for (uint32_t nsid : g.nsids)
			append(log, htole32(nsid));
	}
	return log;
}

// Parses a copy that ends with its allocation, so that a sanitizer detects a read past the end.
std::pair<const char *, Seen> parse(const Bytes &log, uint32_t nanagrpid = 16, uint32_t anagrpmax = 64)
{
	Seen seen;
	auto note = [](void *arg, u32 group, u8 state) { static_cast<Seen *>(arg)->emplace_back(group, state); };
	std::unique_ptr<uint8_t[]> exact(new uint8_t[log.size()]);
	std::copy(log.begin(), log.end(), exact.get());
	const char *why = nof_ana_parse(exact.get(), log.size(), nanagrpid, anagrpmax, note, &seen);
	return {why, seen};
}

void refused(const Bytes &log, const std::string &what, uint32_t nanagrpid = 16, uint32_t anagrpmax = 64)
{
	auto [why, seen] = parse(log, nanagrpid, anagrpmax);
	REQUIRE(why);
	CHECK_THAT(std::string(why), Catch::Contains(what));
	CHECK(seen.empty()); // no group of an invalid log is applied
}

} // namespace

TEST_CASE("ANA log: groups are reported in the order of the log")
{
	auto [why, seen] = parse(makeLog({{3, 1, {1, 5, 2}}, {1, 2}, {64, 3, {9}}, {2, 4}, {5, 0xf}}));
	CHECK(why == nullptr);
	CHECK(seen == Seen{{3, 1}, {1, 2}, {64, 3}, {2, 4}, {5, 15}});
}

TEST_CASE("ANA log: a log without groups is valid")
{
	auto [why, seen] = parse(makeLog({}));
	CHECK(why == nullptr);
	CHECK(seen.empty());
}

TEST_CASE("ANA log: bytes after the last group and reserved bits of the state are ignored")
{
	Bytes log = makeLog({{1, 0xa2, {4}}});
	log.insert(log.end(), 100, 0xff);
	auto [why, seen] = parse(log);
	CHECK(why == nullptr);
	CHECK(seen == Seen{{1, 2}});
}

TEST_CASE("ANA log: every truncation is refused")
{
	const Bytes whole = makeLog({{1, 1, {1, 2, 3}}, {2, 2, {4}}});
	REQUIRE(parse(whole).first == nullptr);
	for (size_t len = 0; len < whole.size(); ++len) {
		CAPTURE(len);
		refused(Bytes(whole.begin(), whole.begin() + len), "cut off");
	}
}

TEST_CASE("ANA log: wrong counts are refused")
{
	refused(makeLog({{1, 1}}, 2), "cut off");
	refused(makeLog({{1, 1}}, 16), "cut off");
	refused(makeLog({{1, 1}}, 17), "more groups");
	refused(makeLog({{1, 1}}, 0xffff), "more groups");
	refused(makeLog({{1, 1}}, 0xffff), "cut off", 0xffffffff);
	for (uint32_t n :
	     {1u, 2u, 0x3fffffffu, 0x40000000u, 0x40000001u, 0x7fffffffu, 0x80000000u, 0xfffffff8u, 0xfffffffeu}) {
		CAPTURE(n);
		refused(makeLog({{1, 1, {}, n}}), "namespace list");
		refused(makeLog({{1, 1}, {2, 1, {}, n}}), "namespace list");
	}
}

TEST_CASE("ANA log: group identifiers have to be from 1 to ANAGRPMAX")
{
	refused(makeLog({{0, 1}}), "identifier");
	refused(makeLog({{65, 1}}), "identifier");
	refused(makeLog({{1, 1}, {0xffffffff, 1}}), "identifier");
	refused(makeLog({{1, 1}}), "identifier", 16, 0);
	CHECK(parse(makeLog({{64, 1}})).first == nullptr);
}

TEST_CASE("ANA log: only defined states are accepted")
{
	for (unsigned int state = 0; state < 16; ++state) {
		CAPTURE(state);
		const Bytes log = makeLog({{1, 1}, {2, uint8_t(state)}});
		if ((state >= 1 && state <= 4) || state == 15)
			CHECK(parse(log).second == Seen{{1, 1}, {2, int(state)}});
		else
			refused(log, "state");
	}
}
