// SPDX-License-Identifier: LGPL-2.1-or-later
#include <catch2/catch.hpp>

#include <fmt/format.h>

#include "libctl/stripe/mapper.h"
#include "libctl/stripe/plan.h"

using namespace nofctl::stripe;
using nvmeof::ErrorCode;

namespace {

constexpr std::uint64_t gibibyte = 1 << 30;

// 16 namespaces of four subsystems, each with an owner among the subsystem's controllers
std::vector<Member> sixteen()
{
	std::vector<Member> members;
	for (unsigned i = 0; i < 16; i++) {
		Member one;
		one.disk = fmt::format("nvmeof{}n{}", i / 4, i % 4 + 1);
		one.wwid = fmt::format("uuid.{}", i);
		one.bytes = gibibyte;
		one.subsystem = fmt::format("nqn.jbof{}", i / 4);
		one.owner = fmt::format("nvmeof{}c{}", i / 4, i % 2 + 1);
		one.usable = 2;
		members.push_back(one);
	}
	return members;
}

std::string refusal(std::vector<Member> members, const Wish &wish = {})
{
	nvmeof::Result<Layout> layout = planStripe(std::move(members), wish);
	return layout ? "" : layout.error().message;
}

} // namespace

TEST_CASE("neighbours in a stripe share neither subsystem nor owner", "[stripe]")
{
	nvmeof::Result<Layout> layout = planStripe(sixteen(), {});
	REQUIRE(layout);
	REQUIRE(layout->members.size() == 16);
	for (std::size_t i = 0; i < 16; i++)
		CHECK(layout->members[i].subsystem == fmt::format("nqn.jbof{}", i % 4));
	for (std::size_t i = 0; i + 4 < 16; i++)
		CHECK(layout->members[i].owner != layout->members[i + 4].owner);
	CHECK(layout->chunk == defaultChunk);
	CHECK(layout->fullStripe() == 2 << 20);
	CHECK(layout->bytes == 16 * gibibyte);
	CHECK(layout->notes.size() == 1); // about the pages of peers
	Wish wish;
	wish.keepOrder = true;
	CHECK(planStripe(sixteen(), wish)->members[1].disk == "nvmeof0n2");
	wish = {};
	wish.width = 4;
	layout = planStripe(sixteen(), wish);
	CHECK(layout->members.size() == 4);
	CHECK(layout->members[3].subsystem == "nqn.jbof3");
}

TEST_CASE("the chunk size is the members' optimal size, or the requested one", "[stripe]")
{
	std::vector<Member> members = sixteen();
	members[3].optimal = 96 << 10;
	CHECK(planStripe(members, {})->chunk == 128 << 10);
	CHECK(planStripe(members, {})->notes.size() == 2);
	members[3].optimal = 1 << 20;
	CHECK(planStripe(members, {})->chunk == 1 << 20);
	Wish wish;
	wish.chunk = 64 << 10;
	CHECK(planStripe(members, wish)->chunk == 64 << 10);
	wish.chunk = 96 << 10;
	CHECK(refusal(members, wish).find("power of two") != std::string::npos);
	wish.chunk = 1 << 30;
	CHECK_FALSE(refusal(members, wish).empty());
	members[5].bytes = gibibyte / 2 + 1;
	nvmeof::Result<Layout> layout = planStripe(members, {});
	CHECK(layout->bytes == 8 * gibibyte);
	CHECK(layout->unused == 15 * gibibyte / 2 + 1);
}

TEST_CASE("unsuitable members are refused", "[stripe]")
{
	std::vector<Member> members = sixteen();
	CHECK(refusal({}).find("from 2 to 256") != std::string::npos);
	CHECK_FALSE(refusal({members[0]}).empty());
	CHECK(refusal({members[0], members[1], members[0]}).find("twice") != std::string::npos);
	members[1].zoned = true;
	CHECK(refusal(members).find("zoned") != std::string::npos);
	members = sixteen();
	members[1].wwid = "";
	CHECK(refusal(members).find("identifier") != std::string::npos);
	members = sixteen();
	members[1].bytes = 1024;
	CHECK(refusal(members).find("smaller than a chunk") != std::string::npos);
	Wish wish;
	wish.width = 17;
	CHECK_FALSE(refusal(sixteen(), wish).empty());
}

TEST_CASE("device-mapper tables and mkfs options have the stripe's geometry", "[stripe]")
{
	CHECK(stripedParameters({"/dev/a", "/dev/b"}, 128 << 10) == "2 256 /dev/a 0 /dev/b 0");
	const Target target = stripedTarget({"nvmeof0n1", "nvmeof1n1"}, 64 << 10, 2 * gibibyte);
	CHECK(target.length == 2 * gibibyte / 512);
	CHECK(target.type == "striped");
	CHECK(target.parameters == "2 128 /dev/nvmeof0n1 0 /dev/nvmeof1n1 0");
	CHECK(*mkfsOptions("xfs", 128 << 10, 16) == std::vector<std::string>{"-d", "su=131072,sw=16"});
	CHECK(*mkfsOptions("ext4", 128 << 10, 16) ==
	      std::vector<std::string>{"-b", "4096", "-E", "stride=32,stripe_width=512"});
	CHECK_FALSE(mkfsOptions("vfat", 128 << 10, 16));
}

TEST_CASE("sizes are printed and parsed", "[stripe]")
{
	CHECK(sizeText(131072) == "128KiB");
	CHECK(sizeText(0) == "0");
	CHECK(sizeText(1000) == "1000");
	CHECK(parseSize("128KiB") == 131072u);
	CHECK(parseSize("1M") == 1048576u);
	CHECK(parseSize("512") == 512u);
	for (const char *wrong : {"", "K", "1KB", "1Kib", "-1", "1.5K", "99999999999999T", "1234567890123456"})
		CHECK_FALSE(parseSize(wrong));
}

TEST_CASE("a configured stripe is whole when all of its members exist and are usable", "[stripe]")
{
	nvmeof::ConfigStripe stripe{"s", 128 << 10, {"uuid.b", "uuid.a"}, {}};
	nvmeof::Snapshot all;
	nvmeof::Namespace a, b;
	a.name = "nvmeof0n1", a.wwid = "uuid.a", a.size = gibibyte, a.usablePaths = 1;
	b.name = "nvmeof1n1", b.wwid = "uuid.b", b.size = 2 * gibibyte, b.usablePaths = 1;
	all.namespaces = {a};
	CHECK_FALSE(membersOfStripe(stripe, all).whole());
	CHECK(membersOfStripe(stripe, all).missing == std::vector<std::string>{"uuid.b"});
	all.namespaces = {a, b};
	const Parts parts = membersOfStripe(stripe, all);
	CHECK(parts.whole());
	CHECK(parts.disks == std::vector<std::string>{"nvmeof1n1", "nvmeof0n1"});
	CHECK(parts.bytes == 2 * gibibyte);
	all.namespaces[1].usablePaths = 0;
	CHECK_FALSE(membersOfStripe(stripe, all).whole());
}

TEST_CASE("the state of a copy is parsed", "[stripe]")
{
	const std::optional<CopyState> state = parseCopy("2 253:1 253:2 12/40 1 AA 1 core");
	REQUIRE(state);
	CHECK(state->done == 12);
	CHECK(state->of == 40);
	CHECK_FALSE(state->broken);
	CHECK(parseCopy("2 253:1 253:2 40/40 1 AD 1 core")->broken);
	for (const char *wrong :
	     {"", "2", "2 a b c", "x y z 1/2 1 AA", "2 253:1 253:2 41/40 1 AA 1 core", "9 a b c d e f g h i 1/2 1 A"})
		CHECK_FALSE(parseCopy(wrong));
}
