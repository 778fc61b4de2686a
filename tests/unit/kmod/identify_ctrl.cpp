// SPDX-License-Identifier: LGPL-2.1-or-later
#include <catch2/catch.hpp>

#include <cstring>
#include <functional>
#include <string>

extern "C" {
#include "wire/identify.h"
}

namespace {

using Edit = std::function<void(nvme_id_ctrl &)>;

void text(char *to, size_t len, const char *what)
{
	memset(to, ' ', len);
	memcpy(to, what, std::min(len, strlen(what)));
}

// A valid I/O controller with typical values
nvme_id_ctrl sound()
{
	nvme_id_ctrl id = {};

	text(id.sn, sizeof(id.sn), "S123");
	text(id.mn, sizeof(id.mn), "JBOF 9000");
	text(id.fr, sizeof(id.fr), "1.2.3");
	id.cntrltype = 1;
	id.cntlid = htole16(7);
	id.sqes = 0x66;
	id.cqes = 0x44;
	id.ioccsz = htole32((64 + 8192) / 16);
	id.iorcsz = htole32(1);
	id.sgls = htole32(1 | 1 << 20);
	id.nn = htole32(1024);
	id.mnan = htole32(128);
	id.maxcmd = htole16(128);
	id.mdts = 5;
	id.oncs = htole16(0xc);
	id.kas = htole16(10);
	id.cmic = 1 << 3 | 2;
	id.anatt = 10;
	id.anacap = 0x1f;
	id.anagrpmax = htole32(128);
	id.nanagrpid = htole32(32);
	id.vwc = 1;
	id.acl = 3;
	id.aerl = 3;
	id.rtd3e = htole32(5000000);
	id.oaes = htole32(0x900);
	id.ctratt = htole32(0x40);
	return id;
}

std::string refusal(const Edit &edit, u8 mpsmin = 0)
{
	nvme_id_ctrl id = sound();
	nof_ctrl_id out;

	edit(id);
	const char *why = nof_identify_ctrl(&id, mpsmin, &out);
	return why ? why : "";
}

nof_ctrl_id accept(const Edit &edit, u8 mpsmin = 0)
{
	nvme_id_ctrl id = sound();
	nof_ctrl_id out;

	memset(&out, 0xa5, sizeof(out)); // every field has to be written
	edit(id);
	const char *why = nof_identify_ctrl(&id, mpsmin, &out);
	INFO(why);
	REQUIRE(why == nullptr);
	return out;
}

const Edit asIs = [](nvme_id_ctrl &) {};

} // namespace

TEST_CASE("Identify Controller: valid data are decoded")
{
	const nof_ctrl_id out = accept(asIs);

	CHECK(std::string(out.serial) == "S123");
	CHECK(std::string(out.model) == "JBOF 9000");
	CHECK(std::string(out.firmware) == "1.2.3");
	CHECK(out.cntlid == 7);
	CHECK(out.max_transfer == 128 * 1024);
	CHECK(out.ioccsz == 64 + 8192);
	CHECK(out.icdoff == 0);
	CHECK(out.nn == 1024);
	CHECK(out.mnan == 128);
	CHECK(out.maxcmd == 128);
	CHECK(out.kas == 10);
	CHECK(out.oncs == 0xc);
	CHECK(out.sgls == (1 | 1 << 20));
	CHECK(out.anagrpmax == 128);
	CHECK(out.nanagrpid == 32);
	CHECK(out.anatt == 10);
	CHECK(out.anacap == 0x1f);
	CHECK(out.rtd3e_us == 5000000);
	CHECK(out.oaes == 0x900);
	CHECK(out.ctratt == 0x40);
	CHECK(out.vwc == 1);
	CHECK(out.acl == 3);
	CHECK(out.aerl == 3);
	CHECK(out.cntrltype == 1);
}

// Fields that the kernel's structure does not have, at their offsets in the specification
TEST_CASE("Identify Controller: instance, quiesce time and Cross-Controller Reset limit are decoded")
{
	const nof_ctrl_id none = accept(asIs);
	CHECK(none.ciu == 0);
	CHECK(none.cirn == 0);
	CHECK(none.cqt_ms == 0);
	CHECK(none.ccrl == 0);

	const nof_ctrl_id all = accept([](nvme_id_ctrl &id) {
		u8 *bytes = reinterpret_cast<u8 *>(&id);
		bytes[135] = 0xfe;
		for (u8 i = 0; i < 8; ++i)
			bytes[136 + i] = 0x10 + i;
		bytes[386] = 0x34;
		bytes[387] = 0xf2;
		bytes[1807] = 3;
	});
	CHECK(all.ciu == 0xfe);
	CHECK(all.cirn == 0x1716151413121110ULL);
	CHECK(all.cqt_ms == 0xf234);
	CHECK(all.ccrl == 3);
	CHECK(all.kas == 10);
	CHECK(all.anagrpmax == 128);
}

TEST_CASE("Identify Controller: text fields are trimmed and made printable")
{
	const nof_ctrl_id full = accept([](nvme_id_ctrl &id) {
		memset(id.sn, 'x', sizeof(id.sn));
		memset(id.mn, 'y', sizeof(id.mn));
		memset(id.fr, 'z', sizeof(id.fr));
	});
	CHECK(std::string(full.serial) == std::string(20, 'x'));
	CHECK(std::string(full.model) == std::string(40, 'y'));
	CHECK(std::string(full.firmware) == std::string(8, 'z'));

	const nof_ctrl_id odd = accept([](nvme_id_ctrl &id) {
		memset(id.sn, 0, sizeof(id.sn));
		text(id.mn, sizeof(id.mn), "a\n\x1b[31m\xff b\0c");
		memcpy(id.fr, " 1\0\0 \0 \0", 8);
	});
	CHECK(std::string(odd.serial).empty());
	CHECK(std::string(odd.model) == "a__[31m_ b");
	CHECK(std::string(odd.firmware) == " 1");
}

TEST_CASE("Identify Controller: the largest transfer is computed from MDTS and MPSMIN")
{
	auto transfer = [](u8 mdts, u8 mpsmin) {
		return accept([&](nvme_id_ctrl &id) { id.mdts = mdts; }, mpsmin).max_transfer;
	};
	CHECK(transfer(0, 0) == U32_MAX);
	CHECK(transfer(1, 0) == 8192);
	CHECK(transfer(1, 4) == 128 * 1024);
	CHECK(transfer(19, 0) == 1u << 31);
	CHECK(transfer(20, 0) == U32_MAX);
	for (unsigned int mdts = 20; mdts < 256; ++mdts)
		CHECK(transfer(mdts, 15) == U32_MAX);
	CHECK(transfer(4, 15) == 1u << 31);
	CHECK(transfer(5, 15) == U32_MAX);
	for (int mpsmin = 16; mpsmin < 256; ++mpsmin)
		CHECK_THAT(refusal(asIs, mpsmin), Catch::Contains("MPSMIN"));
}

TEST_CASE("Identify Controller: unsuitable queue entry sizes are refused")
{
	for (unsigned int size = 0; size < 256; ++size) {
		CAPTURE(size);
		const bool sqes = (size & 0xf) <= 6 && (size >> 4) >= 6;
		const bool cqes = (size & 0xf) <= 4 && (size >> 4) >= 4;
		CHECK(refusal([&](nvme_id_ctrl &id) { id.sqes = size; }).empty() == sqes);
		CHECK(refusal([&](nvme_id_ctrl &id) { id.cqes = size; }).empty() == cqes);
	}
}

TEST_CASE("Identify Controller: unsuitable capsule sizes are refused")
{
	auto capsule = [](u32 ioccsz, u16 icdoff) {
		return refusal([&](nvme_id_ctrl &id) {
			id.ioccsz = htole32(ioccsz);
			id.icdoff = htole16(icdoff);
		});
	};
	CHECK(capsule(4, 0).empty());
	CHECK_THAT(capsule(3, 0), Catch::Contains("IOCCSZ"));
	CHECK_THAT(capsule(0, 0), Catch::Contains("IOCCSZ"));
	CHECK(capsule((16 << 20) / 16, 0).empty());
	// 0x10000004 * 16 is 64 in 32 bits
	for (u32 huge : {(16u << 20) / 16 + 1, 0x10000000u, 0x10000004u, 0x80000000u, 0xffffffffu}) {
		CAPTURE(huge);
		CHECK_THAT(capsule(huge, 0), Catch::Contains("IOCCSZ"));
	}
	CHECK(capsule(260, 256).empty());
	CHECK_THAT(capsule(260, 257), Catch::Contains("ICDOFF"));
	CHECK_THAT(capsule(260, 0xffff), Catch::Contains("ICDOFF"));
}

TEST_CASE("Identify Controller: a controller without SGLs is refused")
{
	CHECK_THAT(refusal([](nvme_id_ctrl &id) { id.sgls = htole32(1 << 20); }), Catch::Contains("SGLS"));
	CHECK(refusal([](nvme_id_ctrl &id) { id.sgls = htole32(2); }).empty());
}

TEST_CASE("Identify Controller: inconsistent numbers of namespaces are refused")
{
	auto numbers = [](u32 nn, u32 mnan) {
		return [=](nvme_id_ctrl &id) {
			id.nn = htole32(nn);
			id.mnan = htole32(mnan);
		};
	};
	CHECK_THAT(refusal(numbers(0, 0)), Catch::Contains("NN"));
	CHECK_THAT(refusal(numbers(10, 11)), Catch::Contains("NN"));
	CHECK_THAT(refusal(numbers(10, 0xffffffff)), Catch::Contains("NN"));
	CHECK(accept(numbers(10, 0)).mnan == 10);
	CHECK(accept(numbers(0xffffffff, 3)).mnan == 3);
}

TEST_CASE("Identify Controller: inconsistent ANA limits are refused")
{
	auto groups = [](u32 number, u32 highest) {
		return [=](nvme_id_ctrl &id) {
			id.nanagrpid = htole32(number);
			id.anagrpmax = htole32(highest);
		};
	};
	CHECK_THAT(refusal(groups(0, 0)), Catch::Contains("ANA"));
	CHECK_THAT(refusal(groups(0, 5)), Catch::Contains("ANA"));
	CHECK_THAT(refusal(groups(6, 5)), Catch::Contains("ANA"));
	CHECK_THAT(refusal(groups(0xffffffff, 5)), Catch::Contains("ANA"));
	CHECK(refusal(groups(5, 5)).empty());

	const nof_ctrl_id none = accept([&](nvme_id_ctrl &id) {
		id.cmic = 0;
		id.nanagrpid = htole32(0xffffffff);
		id.anagrpmax = 0;
	});
	CHECK(none.nanagrpid == 0);
	CHECK(none.anagrpmax == 0);
	CHECK(none.anatt == 0);
	CHECK(none.anacap == 0);
}

TEST_CASE("Identify Controller: each controller type has its own rules")
{
	for (unsigned int type = 4; type < 256; ++type)
		CHECK_THAT(refusal([&](nvme_id_ctrl &id) { id.cntrltype = type; }), Catch::Contains("CNTRLTYPE"));

	// A discovery controller has no I/O queues. Fields about them may be zero.
	const nof_ctrl_id discovery = accept([](nvme_id_ctrl &id) {
		id.cntrltype = 2;
		id.sqes = id.cqes = 0;
		id.ioccsz = 0;
		id.icdoff = htole16(0xffff);
		id.sgls = 0;
		id.nn = id.mnan = 0;
		id.cmic = 0;
	});
	CHECK(discovery.cntrltype == 2);
	CHECK(discovery.ioccsz == 64);
	CHECK(discovery.icdoff == 0);

	// 0, as reported before version 1.4: the rules of an I/O controller apply.
	CHECK_THAT(refusal([](nvme_id_ctrl &id) { id.cntrltype = 0, id.ioccsz = 0; }), Catch::Contains("IOCCSZ"));
}

TEST_CASE("Identify Controller: reserved identifiers, all ones and all zeros are refused")
{
	for (unsigned int cntlid = 0xfff0; cntlid <= 0xffff; ++cntlid)
		CHECK_THAT(refusal([&](nvme_id_ctrl &id) { id.cntlid = htole16(cntlid); }), Catch::Contains("CNTLID"));
	CHECK(accept([](nvme_id_ctrl &id) { id.cntlid = htole16(0xffef); }).cntlid == 0xffef);
	CHECK_FALSE(refusal([](nvme_id_ctrl &id) { memset(&id, 0, sizeof(id)); }).empty());
	CHECK_FALSE(refusal([](nvme_id_ctrl &id) { memset(&id, 0xff, sizeof(id)); }).empty());
}

TEST_CASE("limits of the NVM command set are decoded", "[identify]")
{
	nvme_id_ctrl_nvm id = {};
	nof_nvm_limits limits;
	nof_identify_nvm(&id, 0, &limits);
	CHECK(limits.range_blocks == UINT32_MAX);
	CHECK(limits.discard_blocks == UINT64_MAX);
	CHECK(limits.write_zeroes == UINT32_MAX);
	id.wzsl = 3;
	id.dmrsl = htole32(64);
	id.dmsl = htole64(1ull << 40);
	nof_identify_nvm(&id, 1, &limits);
	CHECK(limits.range_blocks == 64);
	CHECK(limits.discard_blocks == 1ull << 40);
	CHECK(limits.write_zeroes == 64 << 10);
	id.wzsl = 255; // every value is valid
	nof_identify_nvm(&id, 15, &limits);
	CHECK(limits.write_zeroes == UINT32_MAX);
}
