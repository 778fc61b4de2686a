// SPDX-License-Identifier: LGPL-2.1-or-later
#include "last_known.h"

#include "tests/unit/scratch.h"

#include <catch2/catch.hpp>

#include <atomic>
#include <fstream>
#include <mutex>
#include <thread>

using namespace nvmeof;
using namespace nvmeofd;
using namespace std::chrono_literals;

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
	rdma.subsysnqn = "\x01 from a target";
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
	CHECK_FALSE(known->displaced);
	CHECK(formatLastKnown(*known) == text);
	known->displaced = true;
	CHECK(parseLastKnown(formatLastKnown(*known))->displaced);
}

TEST_CASE("the logs that do not fit are left out of the file, the largest ones first", "[daemon]")
{
	LastKnown known = some();
	DiscoveryEntry entry = known.services.at("tcp 10.0.0.9:8009").log->entries[0];
	known.services["tcp 10.0.0.7:8009"] = {DiscoveryLog{1, std::vector(1000, entry)}, false};
	known.services["tcp 10.0.0.6:8009"] = {DiscoveryLog{1, std::vector(500, entry)}, false};
	const std::string all = formatLastKnown(known);
	CHECK(formatLastKnown(known, all.size() + 256) == all);
	auto kept = [&](std::size_t max) {
		const std::string text = formatLastKnown(known, max);
		CHECK(text.size() <= max);
		const Result<LastKnown> read = parseLastKnown(text);
		REQUIRE(read.ok());
		CHECK(read->found.size() == 1);
		CHECK(read->addresses.size() == 1);
		std::vector<std::string> keys;
		for (const auto &[key, service] : read->services)
			keys.push_back(key);
		return keys;
	};
	CHECK(kept(all.size() - 1) == std::vector<std::string>{"tcp 10.0.0.6:8009", "tcp 10.0.0.9:8009"});
	CHECK(kept(all.size() / 3) == std::vector<std::string>{"tcp 10.0.0.9:8009"});
	CHECK(kept(500).empty());
}

TEST_CASE("an unusable entry, whose strings may be anything, is not stored", "[daemon]")
{
	LastKnown known = some();
	DiscoveryEntry bad = known.services.at("tcp 10.0.0.9:8009").log->entries[0];
	bad.traddr = std::string(256, '\xff');
	bad.defect = "TRADDR is not a numeric address";
	known.services.at("tcp 10.0.0.9:8009").log->entries.push_back(bad);
	CHECK(formatLastKnown(known) == formatLastKnown(some()));
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

namespace {

// A disk whose writes wait until it is released, and that has what was written
struct SlowDisk {
	struct Shared {
		std::atomic<bool> stuck = true, broken = false;
		std::atomic<int> begun = 0;
		std::mutex mutex;
		std::vector<std::string> written;
	};
	std::shared_ptr<Shared> shared = std::make_shared<Shared>();

	LastKnownFile::Write write() const
	{
		return [shared = shared](const std::filesystem::path &, std::string_view text) -> Result<void> {
			shared->begun++;
			while (shared->stuck)
				std::this_thread::sleep_for(1ms);
			if (shared->broken)
				return errorFromErrno(EIO, "broken");
			std::lock_guard lock(shared->mutex);
			shared->written.emplace_back(text);
			return {};
		};
	}
	~SlowDisk() { shared->stuck = false; }
};

LastKnown withGeneration(std::uint64_t generation)
{
	LastKnown known = some();
	known.services["tcp 10.0.0.9:8009"].log->generation = generation;
	return known;
}

} // namespace

TEST_CASE("a disk that does not answer does not hold up the daemon, and gets the newest state", "[daemon]")
{
	SlowDisk disk;
	LastKnownFile file("last-known", disk.write());
	file.put(withGeneration(1));
	CHECK(file.write());
	while (!disk.shared->begun)
		std::this_thread::sleep_for(1ms);
	file.put(withGeneration(2));
	CHECK(file.write()); // returns, although the first write is still running
	file.put(withGeneration(3));
	CHECK(file.pending());
	const auto begun = std::chrono::steady_clock::now();
	CHECK(file.writeAndWait(20ms).error().sysErrno == ETIMEDOUT);
	CHECK(std::chrono::steady_clock::now() - begun < 10s);
	disk.shared->stuck = false;
	CHECK(file.writeAndWait(60s));
	CHECK_FALSE(file.pending());
	CHECK(disk.shared->written ==
	      std::vector<std::string>{formatLastKnown(withGeneration(1)), formatLastKnown(withGeneration(3))});
	file.put(withGeneration(3));
	CHECK(file.writeAndWait(60s));
	CHECK(disk.shared->begun == 2); // unchanged
}

TEST_CASE("a failed write of the last known state is tried again, less and less often", "[daemon]")
{
	SlowDisk disk;
	disk.shared->stuck = false;
	disk.shared->broken = true;
	LastKnownFile file("last-known", disk.write());
	file.put(withGeneration(1));
	CHECK_FALSE(file.writeAndWait(60s));
	CHECK_FALSE(file.writeAndWait(60s));
	CHECK(file.pending());
	CHECK(file.failedWrites() == 2);
	CHECK(file.delay() == 4s);
	disk.shared->broken = false;
	CHECK(file.writeAndWait(60s));
	CHECK_FALSE(file.pending());
	CHECK(disk.shared->written == std::vector<std::string>{formatLastKnown(withGeneration(1))});
}

TEST_CASE("an exception during a write is reported with the file", "[daemon]")
{
	LastKnownFile file("last-known", [](const auto &, auto) -> Result<void> { throw std::bad_alloc(); });
	file.put(some());
	const Result<void> written = file.writeAndWait(60s);
	REQUIRE_FALSE(written);
	CHECK(written.error().message.starts_with("last-known: "));
	CHECK(file.pending());
}
