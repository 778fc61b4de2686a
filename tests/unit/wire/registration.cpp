// SPDX-License-Identifier: LGPL-2.1-or-later
// The data of Discovery Information Management (TP8010)
#include <catch2/catch.hpp>

#include "libctl/wire/registration.h"
#include "literal.h"

using namespace nofctl::wire;
using namespace literal;

namespace {

Registration some()
{
	Registration host{dim_host, "nqn.2024-01.io.nvmeof:host", {}, "node7", "Linux 6.12", {}};
	for (std::uint8_t i = 0; i < 16; i++)
		host.hostid[i] = static_cast<std::uint8_t>(0x10 + i);
	host.interfaces.push_back(makeInterface(tr_tcp, host.nqn, "192.0.2.1"));
	return host;
}

} // namespace

TEST_CASE("the registration of a host is encoded and decoded", "[wire]")
{
	const Bytes header = laid(1024, {{0, x("1c 08 00 00")}, // 1024 + 1032 + 4 + 16
					 {8, x("01 00 00 00 00 00 00 00  02 00  01 00  00 00  5f 00")},
					 {24, "nqn.2024-01.io.nvmeof:host"},
					 {280, "node7"},
					 {536, "Linux 6.12"}});
	const Bytes entry = laid(1052, {{0, x("03 01")},
					{32, padded("", 32, ' ')},
					{256, "nqn.2024-01.io.nvmeof:host"},
					{512, padded("192.0.2.1", 256, ' ')},
					{1024, x("1c 04 00 00  01 00 00 00  01 00 10 00")},
					{1036, x("10 11 12 13 14 15 16 17 18 19 1a 1b 1c 1d 1e 1f")}});
	Bytes bytes = header;
	append(bytes, entry);
	CHECK(encodeRegistration(some()) == bytes);
	auto read = decodeRegistration(bytes);
	REQUIRE(read);
	CHECK(*read == some());
}

TEST_CASE("a registration may have basic entries and unknown attributes", "[wire]")
{
	Bytes bytes = encodeRegistration(some());
	put<std::uint16_t>(bytes, 16, dim_basic);
	auto basic = decodeRegistration(bytes);
	REQUIRE(basic);
	CHECK(basic->interfaces.size() == 1);
	CHECK(basic->hostid == std::array<std::uint8_t, 16>{});

	bytes = encodeRegistration(some());
	put<std::uint16_t>(bytes, 1024 + 1032, 77);
	REQUIRE(decodeRegistration(bytes));
	CHECK(decodeRegistration(bytes)->hostid == std::array<std::uint8_t, 16>{});
}

TEST_CASE("an invalid registration is refused", "[wire]")
{
	const Bytes good = encodeRegistration(some());
	for (std::size_t length : {0ul, 1023ul, 1024ul, good.size() - 1})
		CHECK_FALSE(decodeRegistration(std::span(good).first(length)));
	auto with = [&](std::size_t offset, std::uint32_t value) {
		Bytes bytes = good;
		put<std::uint32_t>(bytes, offset, value);
		return decodeRegistration(bytes);
	};
	CHECK_FALSE(with(0, 1023));                         // TDL
	CHECK_FALSE(with(0, 0xffffffff));                   //
	CHECK_FALSE(with(8, 2));                            // NUMENT
	CHECK_FALSE(with(16, 1 << 16 | 3));                 // ENTFMT
	CHECK(with(16, 2 << 16 | 2)->entity == dim_direct); // ETYPE
	CHECK_FALSE(with(16, 3 << 16 | 2));                 //
	CHECK_FALSE(with(1024 + 1024, 1031));               // TEL
	CHECK_FALSE(with(1024 + 1024, 0xffff));             //
	CHECK_FALSE(with(1024 + 1028, 2));                  // NUMEXAT
	CHECK_FALSE(with(1024 + 1032, 17 << 16 | 1));
}
