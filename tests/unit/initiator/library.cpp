// SPDX-License-Identifier: LGPL-2.1-or-later
// The library reads discovery logs whose header or entries are wrong: each misbehaviour of this kind, over the
// initiator's connection. The guest test hostile_discovery.cpp plays those that reach the kernel.
#include <catch2/catch.hpp>

#include "libctl/discovery/discovery_log.h"
#include "target/discovery_client.h"
#include "target/misbehaviour.h"

using LibraryEntry = nvmeof::DiscoveryEntry;
using nvmeof::DiscoveryLog;
using target::Expect;

namespace {

class Connection : public nofctl::LogSource {
public:
	explicit Connection(const target::Server &server) : queue_(target::discover(server)) {}

	nvmeof::Result<void> read(std::uint64_t offset, std::span<std::byte> to, bool retain) override
	{
		int status = target::piece(queue_, offset, static_cast<std::uint32_t>(to.size()), retain);
		if (status) {
			nvmeof::Error error;
			error.code = nvmeof::ErrorCode::refused;
			error.nvmeStatus = static_cast<std::uint16_t>(status);
			error.message = "refused";
			return error;
		}
		std::ranges::copy(std::as_bytes(std::span(queue_.data())), to.begin());
		return {};
	}
	std::size_t max() const override { return 16 << 10; } // two reads; the second one ends the log
	bool offsets() const override { return true; }
	bool again(int) override { return true; }

private:
	target::Queue queue_;
};

// The fields of an entry that a host uses
std::string told(const LibraryEntry &e)
{
	return std::string(toString(e.kind)) + " " + e.transport + " " + e.addressFamily + " " + e.traddr + " " +
	       e.trsvcid + " " + e.subsysnqn + " " + std::to_string(e.portId) + " " + std::to_string(e.cntlid);
}

bool usable(const LibraryEntry &e)
{
	return e.defect.empty();
}

} // namespace

TEST_CASE("the library handles each misbehaviour in the content of a discovery log", "[discovery]")
{
	unsigned played = 0;
	for (const target::Misbehaviour &m : target::discoveryMisbehaviours()) {
		if (m.hook != target::Hook::discovery)
			continue;
		INFO(m.name);
		target::Server server;
		server.subsystem().discovery().add(target::made(22));
		Connection connection(server);
		auto good = nofctl::readDiscoveryLog(connection);
		REQUIRE(good.ok());
		REQUIRE(good->entries.size() == 24);
		REQUIRE(std::ranges::all_of(good->entries, usable));
		std::multiset<std::string> known;
		for (auto &e : good->entries)
			known.insert(told(e));

		server.script().arm(m, target::Script::forever);
		auto log = nofctl::readDiscoveryLog(connection);
		CHECK(server.script().strikes() > 0);
		played++;
		CHECK(log.ok() == (m.expect != Expect::refused));
		if (log) {
			CHECK(std::ranges::all_of(log->entries, usable) == (m.expect != Expect::entryRefused));
			if (m.expect == Expect::entryRefused)
				for (auto &e : log->entries)
					CHECK((!usable(e) || known.contains(told(e))));
		} else {
			CHECK_FALSE(log.error().message.empty());
		}

		server.script().disarm(); // the target behaves again
		auto after = nofctl::readDiscoveryLog(connection);
		REQUIRE(after.ok());
		CHECK(after->entries.size() == 24);
		CHECK(std::ranges::all_of(after->entries, usable));
	}
	CHECK(played > 40);
}
