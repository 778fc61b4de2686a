// SPDX-License-Identifier: LGPL-2.1-or-later
#include <catch2/catch.hpp>
#include <nvmeof/address.h>
#include <nvmeof/name.h>

using namespace nvmeof;

TEST_CASE("valid addresses are parsed", "[address]")
{
	struct Row {
		const char *text, *traddr, *trsvcid;
	};
	const Row row = GENERATE(values<Row>({
		{"10.0.0.1", "10.0.0.1", "4420"},
		{"10.0.0.1:8009", "10.0.0.1", "8009"},
		{"::1", "::1", "4420"},
		{"[::1]", "::1", "4420"},
		{"[::1]:1", "::1", "1"},
		{"fe80::1%eth0", "fe80::1%eth0", "4420"},
		{"[fe80::1%2]:65535", "fe80::1%2", "65535"},
		{"fd00::4420", "fd00::4420", "4420"},
	}));
	CAPTURE(row.text);
	Result<Address> address = parseAddress(row.text);
	REQUIRE(address);
	CHECK(address->traddr == row.traddr);
	CHECK(address->trsvcid == row.trsvcid);
	CHECK(*parseAddress(address->toString()) == *address);
}

TEST_CASE("invalid addresses are refused", "[address]")
{
	const char *text = GENERATE("", "host", "10.0.0", "10.0.0.256", "10.0.0.1:", "10.0.0.1:0", "10.0.0.1:65536",
				    "10.0.0.1:44x", ":4420", "[::1", "[::1]4420", "[::1]:", "[10.0.0.1]:4420", "[]:1",
				    "::1%", "::1%a/b", "::1%far-too-long-a-name", "10.0.0.1 ", "1:2:3", "10.0.0.1:-1",
				    "10.0.0.1:+1", "fe80::1%a]b", "fe80::1%eth0:4420", "fe80::1%a\n");
	CAPTURE(text);
	Result<Address> address = parseAddress(text);
	REQUIRE_FALSE(address);
	CHECK(address.error().code == ErrorCode::invalid);
	CHECK_FALSE(address.error().message.empty());
}

TEST_CASE("an address with a NUL is refused", "[address]")
{
	using namespace std::string_literals;
	for (const std::string &text : {"10.0.0.1\0x"s, "::1\0x"s, "::1\0x%lo"s, "::1%lo\0x"s, "[::1\0]:1"s}) {
		CAPTURE(text);
		CHECK_FALSE(parseAddress(text));
		CHECK_FALSE(parseTraddr(text));
	}
}

TEST_CASE("the caller's default port is used, and validated", "[address]")
{
	CHECK(parseAddress("10.0.0.1", "8009")->trsvcid == "8009");
	CHECK(parseAddress("10.0.0.1:1", "8009")->trsvcid == "1");
	CHECK_FALSE(parseAddress("10.0.0.1", "http"));
}

TEST_CASE("NQNs are validated", "[address]")
{
	CHECK(checkNqn("nqn.2024-01.org.example:a"));
	CHECK(checkNqn("nqn." + std::string(219, 'x')));
	CHECK_FALSE(checkNqn("nqn." + std::string(220, 'x')));
	for (const char *text : {"", "nqn.a b", "nqn.a\n"})
		CHECK_FALSE(checkNqn(text));
	for (const char *text : {"nqn", "nqn.", "iqn.2024", "testnqn"}) {
		CHECK(checkNqn(text));
		CHECK_FALSE(conformingNqn(text));
	}
	CHECK(conformingNqn("nqn.a"));
}

TEST_CASE("a name is resolved to all its addresses", "[resolve]")
{
	Result<std::vector<Address>> local = resolveAddress("localhost:4421");
	REQUIRE(local);
	REQUIRE_FALSE(local->empty());
	for (const Address &address : *local) {
		CHECK((address.traddr == "127.0.0.1" || address.traddr == "::1"));
		CHECK(address.trsvcid == "4421");
	}
	CHECK(*resolveAddress("10.0.0.1", "8009") == std::vector<Address>{{"10.0.0.1", "8009"}});
	CHECK(*resolveAddress("[fe80::1%eth0]:1") == std::vector<Address>{{"fe80::1%eth0", "1"}});
}

TEST_CASE("an invalid name is not resolved", "[resolve]")
{
	for (const char *text : {"", "10.0.0.256", "1.2", "a b", "-x", "host..4", "host/x", "localhost:0",
				 "localhost:", "localhost:x", "a:b:c"})
		CHECK(resolveAddress(text).error().code == ErrorCode::invalid);
	CHECK(resolveAddress(std::string(254, 'a')).error().code == ErrorCode::invalid);
}

TEST_CASE("a name without an address has an error of its own with the name", "[resolve]")
{
	Result<std::vector<Address>> nowhere = resolveAddress("no-such-host.invalid"); // a reserved name (RFC 2606)
	REQUIRE_FALSE(nowhere);
	CHECK(nowhere.error().code == ErrorCode::nameResolution);
	CHECK(nowhere.error().object == ErrorObject{ErrorObject::Kind::host, "no-such-host.invalid"});
	CHECK(nowhere.error().message.starts_with("no-such-host.invalid: "));
}

TEST_CASE("object names are parsed", "[name]")
{
	CHECK(parseName("nvmeof0")->kind() == ObjectKind::subsystem);
	CHECK(parseName("nvmeof10c2")->kind() == ObjectKind::controller);
	CHECK(parseName("/dev/nvmeof0n1")->kind() == ObjectKind::nameSpace);
	CHECK(parseName("nvmeof3c2n1") == ObjectName{3, 2, 1});
	CHECK(parseName("nvmeof3c2n1")->toString() == "nvmeof3c2n1");
	for (const char *text : {"", "nvmeof", "nvme0", "nvmeof0c", "nvmeof0n", "nvmeof0n1c1", "nvmeof0x", "nvmeof00",
				 "nvmeof-1", "nvmeof99999999999", "nvmeof0n1p1"})
		CHECK_FALSE(parseName(text));
	CHECK(plainName("/dev/nvmeof0n1") == "nvmeof0n1");
	CHECK(plainName("nvmeof3c2n1") == "nvmeof3c2n1");
	CHECK(plainName("/dev/sda") == "/dev/sda");
}
