// SPDX-License-Identifier: LGPL-2.1-or-later
#include "last_known.h"

#include "tests/unit/scratch.h"

#include <catch2/catch.hpp>

#include <fstream>

using namespace nvmeof;
using namespace nvmeofd;

namespace {

LastKnown some()
{
	LastKnown known;
	DiscoveryEntry tcp, rdma;
	tcp.kind = EntryKind::subsystem;
	tcp.transport = "tcp";
	tcp.addressFamily = "ipv4";
	tcp.traddr = "10.0.0.1";
	tcp.trsvcid = "4420";
	tcp.subsysnqn = "nqn.2024-01.io.nvmeof:a";
	tcp.portId = 7;
	tcp.tcpSecurity = TcpSecurity::none;
	rdma = tcp;
	rdma.kind = EntryKind::referral;
	rdma.transport = "rdma";
	rdma.tcpSecurity.reset();
	rdma.rdma = RdmaAddress{RdmaQueuePair::connected, RdmaProvider::roceV2, RdmaConnectionManagement::rdmaCm, 3};
	rdma.defect = "\xff\x01 from a target";
	known.services["tcp 10.0.0.9:8009"] = {DiscoveryLog{42, {tcp, rdma}}, true};
	known.services["tcp 10.0.0.8:8009"] = {std::nullopt, true};
	known.addresses["target.example 8009"] = {{"10.0.0.9", "8009"}, {"fe80::1%eth0", "8009"}};
	MdnsService found;
	found.options.transport = "rdma";
	found.options.address = {"10.0.0.7", "4420"};
	found.options.subsysnqn = "nqn.2024-01.io.nvmeof:discovery";
	found.interface = "eth0";
	known.found.push_back(found);
	return known;
}

ErrorCode codeOf(const std::string &text)
{
	Result<LastKnown> known = parseLastKnown(text);
	return known ? ErrorCode::failed : known.error().code;
}

} // namespace

TEST_CASE("the stored discovery logs are read back", "[daemon]")
{
	std::string text = formatLastKnown(some());
	Result<LastKnown> known = parseLastKnown(text);
	REQUIRE(known.ok());
	REQUIRE(known->services.size() == 1); // only services that have been read
	const KnownService &service = known->services.at("tcp 10.0.0.9:8009");
	CHECK_FALSE(service.failed); // it will be read again
	REQUIRE(service.log->entries.size() == 2);
	CHECK(service.log->generation == 42);
	CHECK(service.log->entries[0].traddr == "10.0.0.1");
	CHECK(service.log->entries[0].tcpSecurity == TcpSecurity::none);
	CHECK(service.log->entries[1].kind == EntryKind::referral);
	REQUIRE(known->found.size() == 1);
	CHECK(known->found[0].options.address.traddr == "10.0.0.7");
	CHECK(known->found[0].options.transport == "rdma");
	CHECK(known->found[0].interface == "eth0");
	CHECK(service.log->entries[1].rdma->provider == RdmaProvider::roceV2);
	CHECK(service.log->entries[1].rdma->partitionKey == 3);
	CHECK(known->addresses.at("target.example 8009").size() == 2);
	CHECK(formatLastKnown(*known) == text);
}

TEST_CASE("a changed or truncated file is refused", "[daemon]")
{
	std::string text = formatLastKnown(some());
	CHECK(codeOf("") == ErrorCode::invalid);
	CHECK(codeOf("nvmeofd-last-known 2" + text.substr(20)) == ErrorCode::invalid);
	for (std::size_t i = 0; i < text.size(); i++) {
		std::string changed = text;
		changed[i] = static_cast<char>(changed[i] ^ 1);
		CHECK(codeOf(changed) == ErrorCode::invalid);
		CHECK(codeOf(text.substr(0, i)) == ErrorCode::invalid);
	}
	CHECK(codeOf(text + "\n") == ErrorCode::invalid);
}

TEST_CASE("the file is replaced atomically", "[daemon]")
{
	Scratch folder;
	auto file = folder.path() / "last-known";
	CHECK(readLastKnown(file).error().code == ErrorCode::noSuchObject);
	REQUIRE(writeLastKnown(file, formatLastKnown(some())).ok());
	REQUIRE(writeLastKnown(file, formatLastKnown({})).ok());
	Result<LastKnown> known = readLastKnown(file);
	REQUIRE(known.ok());
	CHECK(known->services.empty());
	CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);
	CHECK_FALSE(writeLastKnown(folder.path() / "none" / "last-known", "").ok());
}
