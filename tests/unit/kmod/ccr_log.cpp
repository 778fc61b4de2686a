// SPDX-License-Identifier: LGPL-2.1-or-later
#include <catch2/catch.hpp>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

extern "C" {
#include "wire/ccr_log.h"
}

namespace {

struct Over {
	u16 cntlid;
	u8 ciu;
	bool done;
	bool operator==(const Over &) const = default;
};

void add(std::vector<u8> &log, u16 cntlid, u8 ciu, u8 status)
{
	const u8 entry[8] = {u8(cntlid), u8(cntlid >> 8), ciu, 0xee, 0xdd, 0xcc, status, 3};
	log.insert(log.end(), entry, entry + 8);
	const unsigned int nr = (log[0] | log[1] << 8) + 1;
	log[0] = u8(nr);
	log[1] = u8(nr >> 8);
}

std::string parse(const std::vector<u8> &log, std::vector<Over> &got)
{
	// exactly as long as the log, so that sanitizers detect a read past the end
	auto copy = std::make_unique<u8[]>(log.size());
	std::copy(log.begin(), log.end(), copy.get());
	const char *why = nof_ccr_parse(
		copy.get(), log.size(),
		[](void *arg, u16 cntlid, u8 ciu, bool done) {
			static_cast<std::vector<Over> *>(arg)->push_back({cntlid, ciu, done});
		},
		&got);
	return why ? why : "";
}

const std::vector<u8> empty(8, 0);

} // namespace

TEST_CASE("Cross-Controller Reset log: completed resets are reported")
{
	std::vector<Over> got;
	std::vector<u8> log = empty;

	CHECK(parse(log, got).empty());
	CHECK(got.empty());
	add(log, 0x0201, 7, 0); // in progress
	add(log, 0xffef, 255, 1);
	add(log, 3, 1, 2);
	add(log, 4, 1, 3); // unknown status: not known to be complete
	add(log, 5, 1, 0x81);
	CHECK(parse(log, got).empty());
	CHECK(got == std::vector<Over>{{0xffef, 255, true}, {3, 1, false}});
}

TEST_CASE("Cross-Controller Reset log: bytes after the entries are ignored")
{
	std::vector<Over> got;
	std::vector<u8> log = empty;

	add(log, 9, 2, 1);
	log.resize(NOF_LOG_CCR_BYTES, 1);
	CHECK(parse(log, got).empty());
	CHECK(got == std::vector<Over>{{9, 2, true}});
}

TEST_CASE("Cross-Controller Reset log: wrong sizes are refused")
{
	std::vector<Over> got;

	for (size_t len = 0; len < 8; ++len)
		CHECK_FALSE(parse(std::vector<u8>(len), got).empty());
	std::vector<u8> log = empty;
	add(log, 1, 1, 1);
	for (unsigned int nr : {2u, 255u, 512u, 0xffffu}) {
		log[0] = u8(nr);
		log[1] = u8(nr >> 8);
		CHECK_FALSE(parse(log, got).empty());
	}
	log[0] = 1;
	log[1] = 0;
	log.pop_back();
	CHECK_FALSE(parse(log, got).empty());
	CHECK(got.empty());

	// the largest number that fits into the page
	log = empty;
	for (u16 i = 0; i < 511; ++i)
		add(log, i, 1, 1);
	CHECK(log.size() == NOF_LOG_CCR_BYTES);
	CHECK(parse(log, got).empty());
	CHECK(got.size() == 511);
	log[0] = 0;
	log[1] = 2;
	CHECK_FALSE(parse(log, got).empty());
}

TEST_CASE("Cross-Controller Reset: statuses are classified")
{
	CHECK(nof_ccr_result(0, 1) == NOF_CCR_DONE);
	CHECK(nof_ccr_result(0, 0xffffffff) == NOF_CCR_DONE);
	CHECK(nof_ccr_result(0, 0) == NOF_CCR_RUNNING);
	CHECK(nof_ccr_result(0, 0xfffffffe) == NOF_CCR_RUNNING);
	CHECK(nof_ccr_result(0x4000, 1) == NOF_CCR_DONE); // CRD and More bits
	for (u32 dw0 : {0u, 1u}) {
		CHECK(nof_ccr_result(0x13f, dw0) == NOF_CCR_RUNNING);
		CHECK(nof_ccr_result(0x413f, dw0) == NOF_CCR_RUNNING);
		CHECK(nof_ccr_result(0x140, dw0) == NOF_CCR_BUSY);
		CHECK(nof_ccr_result(0x141, dw0) == NOF_CCR_BUSY);
		for (u16 status : {0x001, 0x002, 0x4001, 0x006, 0x371, 0x13e, 0x142})
			CHECK(nof_ccr_result(status, dw0) == NOF_CCR_REFUSED);
	}
}
