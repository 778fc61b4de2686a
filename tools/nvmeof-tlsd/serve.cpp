// SPDX-License-Identifier: LGPL-2.1-or-later
#include "serve.h"

#include <chrono>
#include <csignal>
#include <syslog.h>

#include <systemd/sd-daemon.h>

#include "agent.h"
#include "libctl/runtime/journal.h"
#include "libctl/runtime/loop.h"
#include "psk_store.h"
#include "record_keys.h"

namespace tlsd {

using nvmeof::errorFromErrno;
using nvmeof::Result;

namespace {

constexpr std::chrono::seconds lookInterval(1); // for another agent

} // namespace

Result<void> serve(HandshakeFamily &family, HandshakeQueue &queue, bool debug)
{
	Result<TlsContexts> contexts = TlsContexts::create();
	if (!contexts)
		return contexts.error();
	Result<KeyringPskStore> store = KeyringPskStore::open();
	if (!store)
		return store.error();
	runtime::Loop loop;
	Agent agent(loop, *contexts, *store, queue, installKeys, debug);
	bool steppingAside = false;
	auto nextLook = std::chrono::steady_clock::now();
	auto otherAgent = [&] { // reads a table of all netlink sockets
		const auto now = std::chrono::steady_clock::now();
		if (steppingAside || now < nextLook)
			return false;
		nextLook = now + lookInterval;
		return family.otherAgent();
	};
	auto look = [&] {
		if (otherAgent()) {
			steppingAside = true;
			runtime::say(LOG_NOTICE, "another agent has started to do the handshakes of this machine; this "
						 "one ends");
			agent.stepAside([&] { loop.end(0); });
		}
		agent.serve();
	};
	runtime::Readable events(loop, family.fd(), [&] {
		family.drain();
		look();
	});
	auto end = [&] {
		sd_notify(0, "STOPPING=1");
		agent.end();
		loop.end(0);
	};
	runtime::OnSignal term(loop, SIGTERM, end), interrupted(loop, SIGINT, end);
	if (const Result<void> joined = family.join(); !joined)
		return joined.error();
	sd_notify(0, "READY=1");
	agent.serve(); // what has waited since another agent ended
	loop.run();
	return {};
}

} // namespace tlsd
