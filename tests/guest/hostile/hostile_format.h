// SPDX-License-Identifier: LGPL-2.1-or-later
// A namespace that its target misreports from the first Identify on.
#pragma once

#include "hostile_tally.h"
#include "support/ports.h"

namespace guest {

// Connects to the first port and checks the result that the table expects. The misbehaviour stays armed.
inline void expectConnectResult(Ports &ports, const target::Misbehaviour &m)
{
	Watch watch;
	ports[0].script().arm(m, target::Script::forever);
	auto result = ports.host.client().connect(ports.options(0), nvmeof::WaitFor::namespaces, scaled(3s));
	INFO((result ? "" : result.error().message));
	CHECK(ports[0].script().strikes() > 0);
	tellPlayed(m, ports[0].script().strikes());
	CHECK(result.ok() == (m.expect != target::Expect::scanFailed));
	CHECK(bool(ports.host.nameSpace(1, ports[0].config().nqn)) == (m.expect == target::Expect::harmless));
	if (m.expect != target::Expect::nsRefused)
		return;
	auto event = watch.find([](auto &e) { return e.type == nvmeof::EventType::refused; }, 3s);
	REQUIRE(event);
	CHECK_FALSE(event->reason.empty());
}

} // namespace guest
