// SPDX-License-Identifier: LGPL-2.1-or-later
// The initiator with a misbehaving target: every misbehaviour ends, and wrong data are never accepted.
#include "visitor.h"
#include "target/discovery_client.h"
#include "target/misbehaviour.h"
#include "target/mutator.h"

#include <thread>

using namespace visiting;
using target::Expect;
using target::Misbehaviour;
using target::Script;
using target::When;

namespace {

// Whether this host handles the misbehaviour as expected
bool behavesAsExpected(DiscoveryHost &host, Expect expect)
{
	const bool read = host.visit();
	switch (expect) {
	case Expect::refused:
		return !read;
	case Expect::reset: // the second visit succeeds
		return !read && host.visit();
	case Expect::entryRefused: // its user refuses it, or the log ends earlier than its header says
		return read || host.failure.reason == Reason::status;
	default:
		return read;
	}
}

} // namespace

TEST_CASE("the initiator handles each misbehaviour of a discovery service", "[initiator]")
{
	for (const Misbehaviour &m : target::discoveryMisbehaviours()) {
		INFO(m.name);
		target::Server server;
		server.subsystem().discovery().add(target::made(24));
		Runner runner;
		DiscoveryHost host(runner, server);
		host.options.patience = 300ms;
		host.options.kato = m.needs == target::Needs::persistent ? 5000 : 0;
		host.max = 8192;
		if (m.when == When::discoveryOnce || m.needs == target::Needs::persistent)
			REQUIRE(host.visit());
		host.torn = 0;
		server.script().arm(m, m.when == When::discoveryOnce ? 1 : Script::forever);
		if (m.needs == target::Needs::persistent && m.expect == Expect::refused)
			host.session.close();
		if (host.session.isLive())
			host.session.arm();
		CHECK(behavesAsExpected(host, m.expect));
		if (m.expect == Expect::retried)
			CHECK(host.torn >= 1);
		if (m.expect == Expect::harmless || m.expect == Expect::retried)
			CHECK(host.log().size() == host.reader.count());
	}
}

TEST_CASE("the initiator handles each misbehaviour during the connect", "[initiator]")
{
	for (const Misbehaviour &m : target::misbehaviours()) {
		if (m.when != When::connecting || !target::possible(m, target::Transport::tcp))
			continue;
		INFO(m.name);
		target::Config config;
		config.ana = m.needs == target::Needs::ana;
		target::Server server(config);
		Runner runner;
		DiscoveryHost host(runner, server);
		host.reads = false;
		host.options.subsysnqn = config.nqn;
		host.options.discovery = false;
		host.options.events = wantAnaChanges;
		host.options.patience = 300ms;
		host.options.readyTimeout = 300ms;
		host.options.digests = {m.needs == target::Needs::headerDigest, m.needs == target::Needs::dataDigest};
		server.script().arm(m, Script::forever);
		const bool live = host.visit();
		if (m.expect == Expect::harmless)
			CHECK(live);
		if (std::string_view(m.name).starts_with("icresp") || std::string_view(m.name).starts_with("connect"))
			CHECK_FALSE(live);
		CHECK(server.violations().empty());
	}
}

TEST_CASE("the initiator survives random changes of a target's PDUs in every step", "[initiator]")
{
	const target::MutationSeed seed{GENERATE(1u, 2u, 3u), {}};
	target::MutatedSessions sessions(seed, [](const std::string &) {});
	target::Server server;
	server.subsystem().discovery().add(target::made(24));
	server.mutate([&](bool alone) { return sessions.stream(alone); });
	Runner runner(60s);
	const target::Counters &count = server.counters();
	int read = 0;
	for (unsigned i = 0; i < 60; i++) {
		{
			DiscoveryHost host(runner, server);
			host.options.patience = 100ms;
			host.options.digests = {i % 2 == 1, i % 2 == 1};
			read += host.visit();
		}
		// The next connection begins a session of its own once the target has noticed the end of this one.
		for (int wait = 0; (count.connections <= i || count.open) && wait < 20000; wait++)
			std::this_thread::sleep_for(1ms);
		REQUIRE(count.open == 0);
	}
	CHECK(read > 0);
	CHECK(read < 60);
}
