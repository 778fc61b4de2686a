// SPDX-License-Identifier: LGPL-2.1-or-later
// A host that reads a discovery log through the initiator library, for tests.
#pragma once

#include <optional>

#include <catch2/catch.hpp>

#include "libctl/initiator/discovery_reader.h"
#include "target/discovery.h"
#include "tests/unit/runtime/turns.h"
#include "target/server.h"

namespace visiting {

using namespace initiator;
using namespace nofctl::wire;
using namespace std::chrono_literals;

inline nvmeof::Address addressOf(const target::Server &server)
{
	return {server.config().address, std::to_string(server.port())};
}

// Runs a loop until stop(). The test fails after the time limit.
class Runner {
public:
	explicit Runner(std::chrono::milliseconds limit = 20s) : loop(runtime::Loop::Watchdog::none), shared(loop)
	{
		guard_.start(limit);
	}
	void run()
	{
		turns.run();
		REQUIRE_FALSE(late_);
	}
	void stop() { turns.stop(); }

	runtime::Loop loop;
	runtime::Turns turns{loop};
	Shared shared;

private:
	bool late_ = false;
	runtime::Timer guard_{loop, [this] {
				      late_ = true;
				      stop();
			      }};
};

class DiscoveryHost : public Session::User, public DiscoveryReader::User {
public:
	using Data = Session::Data;

	explicit DiscoveryHost(Runner &runner, const target::Server &server)
		: runner_(runner), endpoint_(*Endpoint::of(addressOf(server))), session(runner.shared, *this),
		  reader(session, *this)
	{
		options.subsysnqn = wellKnownDiscoveryNqn;
		options.events = wantDiscoveryChanges;
		options.patience = 2s;
		who.hostnqn = "nqn.2024-01.io.nvmeof:visitor";
		who.hostid[15] = 1;
	}

	virtual ~DiscoveryHost() = default;

	void open() { session.open(endpoint_, who, options); }
	// Connects and, with `reads`, reads the log.
	bool visit()
	{
		failure = {};
		outcome.reset();
		if (!session.isOpen())
			open();
		else
			readLog();
		runner_.run();
		return !failure && (!reads || outcome == DiscoveryReader::Outcome::whole);
	}
	void readLog()
	{
		bytes.clear();
		reader.start(max);
	}
	std::vector<DiscoveryEntry> log() const
	{
		std::vector<DiscoveryEntry> all(bytes.size() / sizeof(DiscoveryEntry));
		if (!all.empty())
			std::memcpy(static_cast<void *>(all.data()), bytes.data(), all.size() * sizeof(DiscoveryEntry));
		return all;
	}

	void passed(Step step) override { steps.push_back(step); }
	void live() override
	{
		if (!reads)
			return runner_.stop();
		readLog();
	}
	void data(std::uint32_t offset, Data data) override { reader.data(offset, data); }
	void done(const Completion &completion) override
	{
		if (!reads) {
			status = static_cast<std::uint16_t>(completion.status >> 1);
			return runner_.stop();
		}
		outcome = reader.done(completion);
		if (outcome == DiscoveryReader::Outcome::torn && ++torn < 10)
			return readLog();
		if (outcome == DiscoveryReader::Outcome::failed)
			failure = reader.failure();
		if (outcome != DiscoveryReader::Outcome::going)
			runner_.stop();
	}
	void event(const Completion &completion) override
	{
		events.push_back(static_cast<std::uint32_t>(completion.result));
		if (!session.busy())
			runner_.stop();
	}
	void failed(const Failure &why) override
	{
		failure = why;
		runner_.stop();
	}
	void onViolation(const char *what) override { violations.emplace_back(what); }
	void header(Data data) override { headers.push_back(*decode<DiscoveryHeader>(data)); }
	void entries(std::uint64_t offset, Data data) override
	{
		REQUIRE(offset == bytes.size());
		append(bytes, data);
	}

private:
	Runner &runner_;
	Endpoint endpoint_;

public:
	SessionOptions options;
	HostIdentity who;
	std::uint32_t max = 1 << 20;
	bool reads = true;
	Session session;
	DiscoveryReader reader;
	std::vector<Step> steps;
	std::vector<DiscoveryHeader> headers;
	Bytes bytes;
	std::vector<std::uint32_t> events;
	std::vector<std::string> violations;
	std::optional<DiscoveryReader::Outcome> outcome;
	std::uint16_t status = 0;
	Failure failure;
	int torn = 0;
};

} // namespace visiting
