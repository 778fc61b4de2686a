// SPDX-License-Identifier: LGPL-2.1-or-later
#include <catch2/catch.hpp>

#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

extern "C" {
#include "wire/identify.h"
}

namespace {

using NsEdit = std::function<void(nvme_id_ns &)>;
using Bytes = std::vector<uint8_t>;

nvme_id_ns soundNs()
{
	nvme_id_ns id = {};

	id.nsze = id.ncap = htole64(1 << 20);
	id.nlbaf = 1;
	id.flbas = 1;
	id.lbaf[0].ds = 9;
	id.lbaf[1].ds = 12;
	id.nmic = 1;
	id.anagrpid = htole32(3);
	memset(id.nguid, 0x11, sizeof(id.nguid));
	memset(id.eui64, 0x22, sizeof(id.eui64));
	return id;
}

std::string nsRefusal(const NsEdit &edit)
{
	nvme_id_ns id = soundNs();
	nof_ns_format out;

	edit(id);
	const char *why = nof_identify_ns(&id, &out);
	return why ? why : "";
}

nof_ns_format acceptNs(const NsEdit &edit)
{
	nvme_id_ns id = soundNs();
	nof_ns_format out;

	memset(&out, 0xa5, sizeof(out));
	edit(id);
	const char *why = nof_identify_ns(&id, &out);
	INFO(why);
	REQUIRE(why == nullptr);
	return out;
}

Bytes desc(u8 type, const Bytes &value, int len = -1)
{
	Bytes d = {type, u8(len < 0 ? value.size() : len), 0, 0};
	d.insert(d.end(), value.begin(), value.end());
	return d;
}

Bytes operator+(Bytes a, const Bytes &b)
{
	a.insert(a.end(), b.begin(), b.end());
	return a;
}

std::string descs(const Bytes &list, nof_ns_ids &ids)
{
	std::unique_ptr<uint8_t[]> exact(new uint8_t[list.size()]); // a sanitizer detects a read past its end
	std::copy(list.begin(), list.end(), exact.get());
	const char *why = nof_identify_descs(exact.get(), list.size(), &ids);
	return why ? why : "";
}

const Bytes eui(8, 0xe1), nguid(16, 0xa2), uuid(16, 0xb3);

} // namespace

TEST_CASE("Identify Namespace: valid data are decoded")
{
	const nof_ns_format out = acceptNs([](nvme_id_ns &) {});

	CHECK(out.nlbas == 1 << 20);
	CHECK(out.lba_shift == 12);
	CHECK(out.pi_type == 0);
	CHECK(out.rescap == 0);
	CHECK(out.atomic_blocks == 0);
	CHECK_FALSE(out.atomic_never);
	CHECK(out.shared);
	CHECK_FALSE(out.read_only);
	CHECK(out.ana_group == 3);
	CHECK(out.ids.have == (NOF_ID_EUI64 | NOF_ID_NGUID));
	CHECK(out.ids.csi == 0);
	CHECK(out.ids.eui64[7] == 0x22);
	CHECK(out.ids.nguid[15] == 0x11);
	CHECK(out.phys_blocks == 0);
	CHECK(out.opt_io_blocks == 0);
	CHECK(out.discard_granularity == 0);
	CHECK_FALSE(out.discard_zeroes);
}

TEST_CASE("Identify Namespace: an inactive namespace is refused")
{
	CHECK_THAT(nsRefusal([](nvme_id_ns &id) { memset(&id, 0, sizeof(id)); }), Catch::Contains("not active"));
	CHECK_THAT(nsRefusal([](nvme_id_ns &id) { id.nsze = 0; }), Catch::Contains("not active"));
	CHECK_THAT(nsRefusal([](nvme_id_ns &id) { id.ncap = 0; }), Catch::Contains("not active"));
	CHECK_FALSE(nsRefusal([](nvme_id_ns &id) { memset(&id, 0xff, sizeof(id)); }).empty());
}

TEST_CASE("Identify Namespace: only block sizes from 512 to 4096 bytes are accepted")
{
	for (unsigned int ds = 0; ds < 256; ++ds) {
		CAPTURE(ds);
		CHECK(nsRefusal([&](nvme_id_ns &id) { id.lbaf[1].ds = ds; }).empty() == (ds >= 9 && ds <= 12));
	}
}

TEST_CASE("Identify Namespace: the format in use is found")
{
	auto format = [](u8 nlbaf, u8 flbas) {
		return [=](nvme_id_ns &id) {
			id.nlbaf = nlbaf;
			id.flbas = flbas;
			for (unsigned int i = 0; i < 64; ++i)
				id.lbaf[i].ds = i < 16 ? 9 : 12;
		};
	};
	CHECK(acceptNs(format(0, 0)).lba_shift == 9);
	CHECK_THAT(nsRefusal(format(0, 1)), Catch::Contains("FLBAS"));
	CHECK_THAT(nsRefusal(format(14, 15)), Catch::Contains("FLBAS"));
	CHECK(acceptNs(format(15, 15)).lba_shift == 9);
	// Bits 6:5 of FLBAS are valid only with more than 16 formats.
	CHECK(acceptNs(format(15, 0x20)).lba_shift == 9);
	CHECK(acceptNs(format(16, 0x20)).lba_shift == 12);
	CHECK_THAT(nsRefusal(format(16, 0x21)), Catch::Contains("FLBAS"));
	CHECK(acceptNs(format(63, 0x6f)).lba_shift == 12);
	for (unsigned int nlbaf = 64; nlbaf < 256; ++nlbaf)
		CHECK_THAT(nsRefusal(format(nlbaf, 0)), Catch::Contains("FLBAS"));
}

TEST_CASE("Identify Namespace: unsupported metadata and capacities are refused")
{
	CHECK_THAT(nsRefusal([](nvme_id_ns &id) { id.lbaf[1].ms = htole16(8); }), Catch::Contains("metadata"));
	CHECK(nsRefusal([](nvme_id_ns &id) { id.lbaf[0].ms = htole16(8); }).empty()); // not the format in use

	auto blocks = [](u64 n) { return [=](nvme_id_ns &id) { id.nsze = id.ncap = htole64(n); }; };
	const u64 most = u64(S64_MAX) >> 12;
	CHECK(acceptNs(blocks(most)).nlbas == most);
	for (u64 n : {most + 1, u64(1) << 52, u64(1) << 63, ~u64(0)}) {
		CAPTURE(n);
		CHECK_THAT(nsRefusal(blocks(n)), Catch::Contains("NSZE"));
	}
}

TEST_CASE("Identify Namespace: protection information is decoded")
{
	auto format = [](u8 type, u16 bytes, u8 extended = 0) {
		return [=](nvme_id_ns &id) {
			id.dps = type;
			id.lbaf[1].ms = htole16(bytes);
			id.flbas |= extended << 4;
		};
	};
	for (u8 type : {1, 2, 3})
		for (u8 extended : {0, 1}) {
			CHECK(acceptNs(format(type, 8, extended)).pi_type == type);
			CHECK(acceptNs(format(type, 8, extended)).pi_bytes == NOF_PI_BYTES_16B);
			CHECK(acceptNs(format(type, 8, extended)).pi_in_data == extended);
			CHECK(acceptNs(format(type, 16, extended)).pi_bytes == NOF_PI_BYTES_64B);
			// the metadata are the protection information only, so both positions are the same
			CHECK(acceptNs(format(type | 8, 8, extended)).pi_type == type);
		}
	CHECK(acceptNs(format(1, 0)).pi_type == 0); // the format in use has no metadata
	CHECK_THAT(nsRefusal(format(0, 8)), Catch::Contains("buffer of their own"));
	CHECK_THAT(nsRefusal(format(0, 8, 1)), Catch::Contains("end of each block"));
	CHECK(acceptNs(format(1, 0, 1)).pi_in_data == false);
	for (u16 bytes : {9, 15, 17, 64, 264, 0xffff})
		CHECK_THAT(nsRefusal(format(1, bytes, 1)), Catch::Contains("8 or 16"));
	CHECK_THAT(nsRefusal(format(1, 4)), Catch::Contains("too small"));
	for (u8 type : {4, 5, 6, 7})
		CHECK_THAT(nsRefusal(format(type, 8)), Catch::Contains("invalid protection information type"));
}

TEST_CASE("Identify Namespace of the NVM command set: unsupported guards are refused")
{
	nvme_id_ns_nvm id{};
	nof_ns_format ns{};
	ns.lbaf = 63;
	auto why = [&](u32 elbaf) {
		id.elbaf[63] = htole32(elbaf);
		const char *text = nof_identify_guard(&id, &ns);
		return std::string(text ? text : "");
	};
	CHECK(why(2 << 7).empty());
	CHECK_THAT(why(2 << 7 | 1), Catch::Contains("storage tags"));
	CHECK_THAT(why(1 << 7), Catch::Contains("32-bit"));
	CHECK_THAT(why(0), Catch::Contains("8 bytes"));
	CHECK_THAT(why(3 << 7), Catch::Contains("8 bytes"));
}

TEST_CASE("Identify Namespace: reservations and atomic writes are decoded")
{
	CHECK(acceptNs([](nvme_id_ns &id) { id.rescap = 0xff; }).rescap == 0x7f);
	CHECK(acceptNs([](nvme_id_ns &id) { id.rescap = 0x02; }).rescap == 0x02);

	auto atomics = [](u16 nawupf, u16 nabspf, u16 nabo = 0, u8 nsfeat = 2) {
		return [=](nvme_id_ns &id) {
			id.nsfeat = nsfeat;
			id.nawupf = htole16(nawupf);
			id.nabspf = htole16(nabspf);
			id.nabo = htole16(nabo);
		};
	};
	CHECK(acceptNs(atomics(15, 0)).atomic_blocks == 16);
	CHECK(acceptNs(atomics(0, 0)).atomic_blocks == 0); // 0: the value of the controller applies
	CHECK(acceptNs(atomics(0xffff, 0xffff)).atomic_blocks == 65536);
	CHECK(acceptNs(atomics(0xffff, 0xffff)).atomic_boundary == 65536);
	CHECK(acceptNs(atomics(15, 31)).atomic_boundary == 32);
	CHECK_FALSE(acceptNs(atomics(15, 31)).atomic_never);
	CHECK(acceptNs(atomics(15, 30)).atomic_never);
	CHECK(acceptNs(atomics(15, 31, 1)).atomic_never);
	const nof_ns_format none = acceptNs(atomics(15, 30, 1, 0)); // NSFEAT has no NSABP bit: the fields are not valid
	CHECK(none.atomic_blocks == 0);
	CHECK(none.atomic_boundary == 0);
	CHECK_FALSE(none.atomic_never);
}

TEST_CASE("Identify Namespace: write protection and sharing are decoded")
{
	const nof_ns_format out = acceptNs([](nvme_id_ns &id) { id.nsattr = 0xff, id.nmic = 0xfe; });
	CHECK(out.read_only);
	CHECK_FALSE(out.shared);
	CHECK_FALSE(acceptNs([](nvme_id_ns &id) { id.nsattr = 0xfe; }).read_only);
}

TEST_CASE("Identify Namespace: I/O hints are decoded")
{
	auto hints = [](u8 nsfeat, u16 npwg, u16 nawupf, u16 nows) {
		return [=](nvme_id_ns &id) {
			id.nsfeat = nsfeat;
			id.npwg = htole16(npwg);
			id.nawupf = htole16(nawupf);
			id.nows = htole16(nows);
			id.npdg = htole16(7);
			id.npda = htole16(3);
		};
	};
	// Each group of fields is valid only with its bit in NSFEAT.
	CHECK(acceptNs(hints(0, 3, 3, 31)).phys_blocks == 0);
	CHECK(acceptNs(hints(0, 3, 3, 31)).opt_io_blocks == 0);
	CHECK(acceptNs(hints(0, 3, 3, 31)).discard_granularity == 0);
	CHECK(acceptNs(hints(0x02, 3, 3, 31)).phys_blocks == 0);
	CHECK(acceptNs(hints(0x10, 3, 3, 31)).phys_blocks == 0);
	CHECK(acceptNs(hints(0x10, 3, 3, 31)).opt_io_blocks == 32);
	CHECK(acceptNs(hints(0x10, 3, 3, 31)).discard_granularity == 8);

	const nof_ns_format both = acceptNs(hints(0x12, 3, 7, 31));
	CHECK(both.phys_blocks == 4);
	CHECK(both.opt_io_blocks == 32);
	CHECK(acceptNs(hints(0x12, 7, 0, 31)).phys_blocks == 1);
	// Sizes are rounded down to a power of two. The optimal size is a multiple of it.
	CHECK(acceptNs(hints(0x12, 6, 6, 16)).phys_blocks == 4);
	CHECK(acceptNs(hints(0x12, 6, 6, 16)).opt_io_blocks == 16);
	CHECK(acceptNs(hints(0x12, 7, 7, 5)).opt_io_blocks == 0);
	CHECK(acceptNs(hints(0x12, 0, 0, 0)).opt_io_blocks == 0);
	// A physical block is at most 64 KiB. The 0-based value 65535 does not wrap.
	const nof_ns_format big = acceptNs(hints(0x12, 0xffff, 0xffff, 0xffff));
	CHECK(big.phys_blocks == 16);
	CHECK(big.opt_io_blocks == 65536);
}

TEST_CASE("Identify Namespace: deallocated blocks read zeros only if DLFEAT says so for both commands")
{
	for (unsigned int dlfeat = 0; dlfeat < 256; ++dlfeat) {
		CAPTURE(dlfeat);
		const bool zero = (dlfeat & 7) == 1 && (dlfeat & 8);
		CHECK(acceptNs([&](nvme_id_ns &id) { id.dlfeat = dlfeat; }).discard_zeroes == zero);
	}
}

namespace {

struct Independent {
	nvme_id_ns_cs_indep id{};
	nof_ns_format out;
	bool ready = false;

	Independent()
	{
		id.nmic = 1;
		id.nstat = 1;
		memset(&out, 0xa5, sizeof(out));
		out.ids = {};
		out.ids.csi = 1;
		out.ids.have = NOF_ID_UUID;
	}
	std::string decode(u32 anagrpmax = 0)
	{
		const char *why = nof_identify_indep(&id, anagrpmax, &out, &ready);
		return why ? why : "";
	}
};

} // namespace

TEST_CASE("command set independent Identify: valid data are decoded")
{
	Independent all;
	all.id.nsattr = 1;
	all.id.rescap = 0xff;
	all.id.anagrpid = htole32(3);
	REQUIRE(all.decode(4) == "");
	CHECK(nof_format_is_generic(&all.out));
	CHECK(all.ready);
	CHECK(all.out.ids.csi == 1);
	CHECK(all.out.ids.have == NOF_ID_UUID);
	CHECK(all.out.nlbas == 0);
	CHECK(all.out.lba_shift == NOF_MIN_LBA_SHIFT);
	CHECK(all.out.zone_blocks == 0);
	CHECK(all.out.pi_type == 0);
	CHECK(all.out.shared);
	CHECK(all.out.read_only);
	CHECK(all.out.rescap == 0x7f);
	CHECK(all.out.ana_group == 3);

	Independent least;
	least.id = {};
	REQUIRE(least.decode() == "");
	CHECK_FALSE(least.ready);
	CHECK_FALSE(least.out.shared);
	CHECK_FALSE(least.out.read_only);
	CHECK(least.out.ana_group == 0);
	nof_ns_ids nvm = {}, zoned = {};
	zoned.csi = NVME_CSI_ZNS;
	CHECK_FALSE(nof_ids_are_generic(&nvm));
	CHECK_FALSE(nof_ids_are_generic(&zoned));
}

TEST_CASE("command set independent Identify: invalid data are refused")
{
	for (int percent : {0, 100, 101, 127}) {
		CAPTURE(percent);
		Independent one;
		one.id.fpi = u8(0x80 | percent);
		CHECK((one.decode() == "") == (percent <= 100));
		one.id.fpi = u8(percent); // the indicator is not supported, so the value is ignored
		CHECK(one.decode() == "");
	}
	for (u32 group : {0u, 1u, 4u, 5u, ~0u}) {
		CAPTURE(group);
		Independent one;
		one.id.anagrpid = htole32(group);
		CHECK((one.decode(4) == "") == (group >= 1 && group <= 4));
	}
	Independent ones;
	memset(&ones.id, 0xff, sizeof(ones.id));
	CHECK(ones.decode().find("FPI") == 0);
}

TEST_CASE("identification descriptors: all types are decoded")
{
	nof_ns_ids ids = {};

	CHECK(descs(desc(1, eui) + desc(2, nguid) + desc(3, uuid) + desc(4, {2}) + Bytes(100, 0), ids).empty());
	CHECK(ids.have == (NOF_ID_EUI64 | NOF_ID_NGUID | NOF_ID_UUID));
	CHECK(ids.csi == 2);
	CHECK(memcmp(ids.eui64, eui.data(), 8) == 0);
	CHECK(memcmp(ids.nguid, nguid.data(), 16) == 0);
	CHECK(memcmp(&ids.uuid, uuid.data(), 16) == 0);
}

TEST_CASE("identification descriptors: the list ends at a length of zero")
{
	nof_ns_ids ids = {};

	CHECK(descs(desc(1, eui) + Bytes{0, 0, 0, 0} + desc(3, uuid), ids).empty());
	CHECK(ids.have == NOF_ID_EUI64);
	CHECK(descs({}, ids).empty());
	CHECK(descs({1}, ids).empty());
	CHECK(descs({1, 8, 0}, ids).empty());
}

TEST_CASE("identification descriptors: every truncation within a value is refused")
{
	const Bytes whole = desc(1, eui) + desc(2, nguid) + desc(3, uuid);
	const size_t starts[] = {0, 12, 32, 52};

	for (size_t len = 0; len < whole.size(); ++len) {
		CAPTURE(len);
		nof_ns_ids ids = {};
		// valid where only a part of a header is left over
		bool good = false;
		for (size_t start : starts)
			good |= len >= start && len < start + 4;
		CHECK(descs(Bytes(whole.begin(), whole.begin() + len), ids).empty() == good);
	}
}

TEST_CASE("identification descriptors: wrong lengths are refused")
{
	for (unsigned int len = 1; len < 256; ++len) {
		CAPTURE(len);
		const Bytes value(len, 0x77);
		nof_ns_ids ids = {};
		CHECK(descs(desc(1, value), ids).empty() == (len == 8));
		ids = {};
		CHECK(descs(desc(2, value), ids).empty() == (len == 16));
		ids = {};
		CHECK(descs(desc(3, value), ids).empty() == (len == 16));
		ids = {};
		CHECK(descs(desc(4, value), ids).empty() == (len == 1));
		// a descriptor of an unknown type is skipped
		ids = {};
		CHECK(descs(desc(9, value) + desc(3, uuid), ids).empty());
		CHECK(ids.have == NOF_ID_UUID);
	}
}

TEST_CASE("identification descriptors: contradictions are refused, and zeros ignored")
{
	nof_ns_ids ids = {};

	CHECK(descs(desc(1, Bytes(8, 0)) + desc(2, Bytes(16, 0)) + desc(3, Bytes(16, 0)), ids).empty());
	CHECK(ids.have == 0);
	CHECK(descs(desc(3, uuid) + desc(3, uuid), ids).empty());
	CHECK_THAT(descs(desc(3, uuid) + desc(3, Bytes(16, 1)), ids), Catch::Contains("two different"));

	// identifiers of Identify Namespace count, too
	nof_ns_format format = acceptNs([](nvme_id_ns &) {});
	CHECK_THAT(descs(desc(1, eui), format.ids), Catch::Contains("two different"));
	CHECK(descs(desc(1, Bytes(8, 0x22)), format.ids).empty());
}

TEST_CASE("namespace identifiers: match needs a common identifier and no different one")
{
	nof_ns_ids none = {}, e = {}, eu = {}, u = {}, other = {};

	descs(desc(1, eui), e);
	descs(desc(1, eui) + desc(3, uuid), eu);
	descs(desc(3, uuid), u);
	descs(desc(1, eui) + desc(3, Bytes(16, 1)), other);

	CHECK_FALSE(nof_ns_ids_match(&none, &none));
	CHECK_FALSE(nof_ns_ids_match(&none, &e));
	CHECK(nof_ns_ids_match(&e, &eu));
	CHECK(nof_ns_ids_match(&eu, &u));
	CHECK_FALSE(nof_ns_ids_match(&e, &u));      // no common identifier
	CHECK_FALSE(nof_ns_ids_match(&eu, &other)); // one equal, one different
	CHECK(nof_ns_ids_match(&e, &other));

	CHECK(nof_ns_ids_equal(&none, &none));
	CHECK(nof_ns_ids_equal(&eu, &eu));
	CHECK_FALSE(nof_ns_ids_equal(&e, &eu));
	CHECK_FALSE(nof_ns_ids_equal(&eu, &other));

	nof_ns_ids zoned = eu;
	zoned.csi = 2;
	CHECK_FALSE(nof_ns_ids_match(&eu, &zoned));
	CHECK_FALSE(nof_ns_ids_equal(&eu, &zoned));
}
