// SPDX-License-Identifier: LGPL-2.1-or-later
#include <catch2/catch.hpp>
#include <iterator>
#include <nvmeof/identity.h>

#include "tests/unit/scratch.h"

using namespace nvmeof;

namespace {

const std::string uuidA = "12345678-9abc-4def-8123-456789abcdef";
const std::string uuidB = "87654321-9abc-4def-8123-456789abcdef";
const std::string prefix = "nqn.2014-08.org.nvmexpress:uuid:";

IdentityPlaces placesIn(const Scratch &scratch)
{
	return {scratch.path() / "nvme", scratch.path() / "product_uuid"};
}

} // namespace

TEST_CASE("a new machine gets the firmware's UUID, and keeps it", "[identity]")
{
	Scratch scratch;
	scratch.write("product_uuid", "12345678-9ABC-4DEF-8123-456789ABCDEF\n");
	Result<HostIdentity> first = loadOrCreateIdentity(placesIn(scratch));
	REQUIRE(first);
	CHECK(first->hostnqn == prefix + uuidA);
	CHECK(first->hostid.toString() == uuidA);
	CHECK(scratch.read("nvme/hostnqn") == prefix + uuidA + "\n");
	CHECK(scratch.read("nvme/hostid") == uuidA + "\n");
	scratch.write("product_uuid", uuidB);
	CHECK(loadOrCreateIdentity(placesIn(scratch))->hostid == first->hostid);
	auto files = std::filesystem::directory_iterator(scratch.path() / "nvme");
	CHECK(std::distance(begin(files), end(files)) == 2); // no temporary file is left
}

TEST_CASE("an unusable firmware UUID is ignored", "[identity]")
{
	Scratch scratch;
	const char *text = GENERATE("", "garbage", "00000000-0000-0000-0000-000000000000",
				    "FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF", "03000200-0400-0500-0006-000700080009");
	scratch.write("product_uuid", text);
	Uuid one = chooseHostUuid(placesIn(scratch)), two = chooseHostUuid(placesIn(scratch));
	CHECK_FALSE(one == two);
	CHECK(one.toString()[14] == '4');
}

TEST_CASE("a missing host NQN or host ID is derived from the other one", "[identity]")
{
	Scratch scratch;
	SECTION("the host NQN exists")
	{
		scratch.write("nvme/hostnqn", prefix + uuidB + "\n");
	}
	SECTION("the host ID exists")
	{
		scratch.write("nvme/hostid", uuidB);
	}
	Result<HostIdentity> identity = loadOrCreateIdentity(placesIn(scratch));
	REQUIRE(identity);
	CHECK(identity->hostnqn == prefix + uuidB);
	CHECK(identity->hostid.toString() == uuidB);
}

TEST_CASE("an invalid file is an error that names it, and is not changed", "[identity]")
{
	Scratch scratch;
	const char *file = GENERATE("nvme/hostnqn", "nvme/hostid");
	scratch.write(file, "nonsense here\n");
	Result<HostIdentity> identity = loadOrCreateIdentity(placesIn(scratch));
	REQUIRE_FALSE(identity);
	CHECK(identity.error().code == ErrorCode::invalid);
	CHECK(identity.error().message.find(file) != std::string::npos);
	CHECK(scratch.read(file) == "nonsense here\n");
}

TEST_CASE("a machine without an identity has no host NQN to show", "[identity]")
{
	Scratch scratch;
	CHECK(readHostnqn(placesIn(scratch)).error().code == ErrorCode::noSuchObject);
	CHECK(readHostid(placesIn(scratch)).error().code == ErrorCode::noSuchObject);
}

TEST_CASE("a given host NQN", "[identity]")
{
	Scratch scratch;
	IdentityPlaces places = placesIn(scratch);
	SECTION("has the host ID of its UUID, and no file is written")
	{
		CHECK(resolveIdentity(prefix + uuidB, {}, places)->hostid.toString() == uuidB);
		CHECK_FALSE(std::filesystem::exists(places.directory));
	}
	SECTION("equal to the stored one has the stored host ID")
	{
		scratch.write("nvme/hostnqn", prefix + uuidA);
		scratch.write("nvme/hostid", uuidB);
		CHECK(resolveIdentity(prefix + uuidA, {}, places)->hostid.toString() == uuidB);
	}
	SECTION("without a UUID has the stored host ID")
	{
		scratch.write("nvme/hostid", uuidB);
		Result<HostIdentity> identity = resolveIdentity("nqn.2020-01.org.example:host", {}, places);
		REQUIRE(identity);
		CHECK(identity->hostnqn == "nqn.2020-01.org.example:host");
		CHECK(identity->hostid.toString() == uuidB);
	}
	SECTION("is validated")
	{
		CHECK_FALSE(resolveIdentity("a host", {}, places));
	}
}

TEST_CASE("UUIDs are validated", "[identity]")
{
	CHECK(Uuid::parse(uuidA)->toString() == uuidA);
	for (const char *text : {"", "12345678-9abc-4def-8123-456789abcde", "12345678x9abc-4def-8123-456789abcdef",
				 "g2345678-9abc-4def-8123-456789abcdef", "12345678-9abc-4def-8123-456789abcdef0"})
		CHECK_FALSE(Uuid::parse(text));
}

TEST_CASE("a missing identity is created only on request", "[identity]")
{
	Scratch scratch;
	IdentityPlaces places = placesIn(scratch);
	Result<HostIdentity> none = resolveIdentity({}, {}, places, IdentityUse::kept);
	REQUIRE_FALSE(none);
	CHECK(none.error().code == ErrorCode::invalid);
	CHECK(none.error().object.kind == ErrorObject::Kind::file);
	CHECK_FALSE(std::filesystem::exists(places.directory / "hostnqn"));
	Result<HostIdentity> made = resolveIdentity({}, {}, places, IdentityUse::create);
	REQUIRE(made);
	CHECK(resolveIdentity({}, {}, places, IdentityUse::kept)->hostid == made->hostid);
}

TEST_CASE("a container is recognized by the files of its manager", "[identity]")
{
	Scratch scratch;
	CHECK_FALSE(inContainer(scratch.path()));
	scratch.write(GENERATE("run/systemd/container", "run/.containerenv", ".dockerenv"), "");
	CHECK(inContainer(scratch.path()));
}
