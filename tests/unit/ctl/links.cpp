// SPDX-License-Identifier: LGPL-2.1-or-later
// Links in /dev/disk of disks that are the same namespace
#include <catch2/catch.hpp>

#include <cstdio>

#include "links.h"

namespace {

constexpr std::uint64_t first = 10, second = 11, third = 12;

LinkClaim fresh(std::uint64_t sequence)
{
	return {std::nullopt, sequence};
}

LinkClaim handled(unsigned rank, std::uint64_t sequence)
{
	return {rank, sequence};
}

} // namespace

TEST_CASE("a single disk has the links", "[links]")
{
	CHECK(linkRank(fresh(first), {}) == 0);
	CHECK(linkRank(handled(1, first), {}) == 0);
}

TEST_CASE("a later disk has the next rank, and keeps it", "[links]")
{
	CHECK(linkRank(fresh(second), {handled(0, first)}) == 1);
	CHECK(linkRank(handled(1, second), {handled(0, first)}) == 1);
	CHECK(linkRank(handled(0, first), {handled(1, second)}) == 0);
	// udev processed the second disk first
	CHECK(linkRank(fresh(first), {handled(0, second)}) == 1);
	CHECK(linkRank(handled(0, second), {handled(1, first)}) == 0);
}

TEST_CASE("of disks that appear at once, the first created one has the links", "[links]")
{
	CHECK(linkRank(fresh(first), {fresh(second), fresh(third)}) == 0);
	CHECK(linkRank(fresh(second), {fresh(first), fresh(third)}) == 1);
	CHECK(linkRank(fresh(third), {fresh(first), fresh(second)}) == 2);
	// processed before the rule was installed
	CHECK(linkRank(handled(0, second), {handled(0, first)}) == 1);
	CHECK(linkRank(handled(0, first), {handled(0, second)}) == 0);
}

TEST_CASE("a disk that inherited the links keeps them when the first disk returns", "[links]")
{
	CHECK(linkRank(fresh(third), {handled(1, second)}) == 2);
	CHECK(linkRank(handled(1, second), {handled(2, third)}) == 0);
	CHECK(linkRank(fresh(third), {handled(lowestLinkRank, second)}) == lowestLinkRank);
}

TEST_CASE("the link that all disks of a subsystem share is left out", "[links]")
{
	const std::string serial = "Linux_0123456789abcdef_12";
	CHECK(linksOfNamespace("/dev/disk/by-id/nvme-Linux_0123456789abcdef /dev/disk/by-diskseq/7", serial, "12") ==
	      "disk/by-diskseq/7");
	CHECK(linksOfNamespace("/dev/disk/by-id/nvme-Linux_0123456789abcdef_12 "
			       "/dev/disk/by-id/nvme-uuid.12345678-9abc-4def-8123-456789abcdef",
			       serial, "12") == "disk/by-id/nvme-Linux_0123456789abcdef_12 "
						"disk/by-id/nvme-uuid.12345678-9abc-4def-8123-456789abcdef");
	CHECK(linksOfNamespace("/dev/disk/by-id/nvme-Linux_0123456789abcdef-part1 "
			       "/dev/disk/by-id/nvme-Linux_0123456789abcdef_12-part1",
			       serial, "12") == "disk/by-id/nvme-Linux_0123456789abcdef_12-part1");
	// a label, and a longer serial number
	CHECK(linksOfNamespace("/dev/disk/by-label/a\\x20b /dev/disk/by-id/nvme-Linux_0123456789abcdef-partial", serial,
			       "12") == "disk/by-label/a\\x20b disk/by-id/nvme-Linux_0123456789abcdef-partial");
}

TEST_CASE("other links stay unchanged", "[links]")
{
	CHECK(linksOfNamespace("", "x_1", "1").empty());
	CHECK(linksOfNamespace("/dev/a  /dev/b ", "", "") == "a b");
	CHECK(linksOfNamespace("/dev/disk/by-id/nvme-", "_1", "1") == "disk/by-id/nvme-");
	CHECK(linksOfNamespace("/dev/disk/by-id/nvme-a", "a_1", "2") == "disk/by-id/nvme-a");
}

TEST_CASE("names in the form of the in-tree driver's", "[links]")
{
	CHECK(inTreeName("nvmeof0n1") == "nvme100000000n1");
	CHECK(inTreeName("nvmeof12n3") == "nvme100120000n3");
	CHECK(inTreeName("ngnvmeof12n3") == "ng100120000n3");
	CHECK(inTreeName("nvmeof12c3") == "nvme100120003");
	CHECK(inTreeName("nvmeof200000c9999") == "nvme2100009999");
	for (auto other : {"", "nvmeof", "nvmeof0", "nvmeof0n", "nvmeof0n1p1", "nvmeof0c1n1", "ngnvmeof0c1", "nvme0n1",
			   "nvmeof200001n1", "nvmeof0c10000", "nvmeof99999999999n1", "nvmeofn1", "nvmeof-1n1"})
		CHECK(inTreeName(other).empty());
	// parsed as libnvme 3.0 does
	int number, nsid;
	CHECK(std::sscanf(inTreeName("nvmeof12n3").c_str(), "nvme%dn%d", &number, &nsid) == 2);
	CHECK(std::sscanf(inTreeName("nvmeof12c3").c_str(), "nvme%dn%d", &number, &nsid) == 1);
	CHECK(std::sscanf(inTreeName("ngnvmeof12n3").c_str(), "ng%dn%d", &number, &nsid) == 2);
}
