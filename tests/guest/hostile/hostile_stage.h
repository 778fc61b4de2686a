// SPDX-License-Identifier: LGPL-2.1-or-later
// A misbehaving target in this process, and the host connected to it.
#pragma once

#include "support/block.h"
#include "support/ports.h"
#include "target/acts.h"
#include "target/connection.h"
#include "target/identify.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>

namespace guest {

// A target and the host. The target is declared first, so that it outlives the connections to it.
struct Stage {
	target::Server server;
	Host host;
	std::uint32_t seed = 1;

	explicit Stage(target::Config config = {}) : server(reachable(std::move(config)))
	{
		server.stores().add(1, 8 << 20);
	}

	~Stage() { checkServer(); }

	void checkServer()
	{
		for (auto &text : server.violations())
			FAIL_CHECK("the host broke the protocol: " << text);
		CHECK(server.counters().digestErrors == 0);
	}

	nvmeof::ConnectOptions options(target::Needs needs = target::Needs::nothing)
	{
		auto o = Host::options(here(), std::to_string(server.port()), server.config().nqn);
		o.connectTimeout = o.keepAlive = scaled(1500ms);
		o.ctrlLoss = scaled(60s);
		o.reconnectDelay = 200ms;
		o.ioQueues = 2;
		o.hdrDigest = needs == target::Needs::headerDigest;
		o.dataDigest = needs == target::Needs::dataDigest;
		o.sqFlow = needs != target::Needs::noSqflow;
		return o;
	}

	std::string disk(Millis timeout = 10s) { return host.disk(1, timeout, server.config().nqn); }

	// In-capsule and R2T writes, reads of one and of several parts, a flush; each checked against the store as
	// well.
	int work(const Disk &disk)
	{
		for (std::size_t length : {4096u, 131072u}) {
			auto offset = std::uint64_t(seed % 8) * 131072;
			if (int err = disk.verified(offset, length, seed))
				return err;
			Buffer wanted(length);
			wanted.fill(seed++);
			auto stored = server.stores().find(1)->peek(offset, length);
			if (!std::equal(stored.begin(), stored.end(), wanted.data()))
				return -ESTALE;
		}
		return disk.flush();
	}

	// A reconnect is slow under TCG.
	bool live(const std::string &name) { return host.waitState(name, nvmeof::ControllerState::live, 15s); }
};

// Holds the active namespace list, and so the scan, until Server::releaseHeld().
inline target::Misbehaviour holdList(target::When when)
{
	return {"hold-list",
		22,
		target::Hook::command,
		when,
		target::Expect::harmless,
		target::Needs::nothing,
		[](target::Strike &s) {
			return target::acts::verdict(s.identify(target::cns_active), s, target::Verdict::hold);
		}};
}

inline bool byClock(const std::string &reason)
{
	return std::ranges::any_of(std::array{"no answer", "nothing answered", "no progress", "in time"},
				   [&](auto *words) { return reason.find(words) != std::string::npos; });
}

// A bad PDU is reported as such. A missing answer is found by a timer: the host's, or the keep-alive timer of the
// target, which then closes the connection.
inline void expectReason(const std::string &text, target::Expect expect)
{
	INFO("last error: " << text);
	CHECK_FALSE(text.empty());
	if (expect == target::Expect::silence)
		CHECK((byClock(text) || text.find("closed by the target") != std::string::npos));
	else
		CHECK_FALSE(byClock(text));
}

} // namespace guest
