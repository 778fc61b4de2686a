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

constexpr std::chrono::seconds lookInterval(1);
// How long handshakes are left to another agent. Each new one begins the time again, up to the second value in all.
constexpr std::chrono::milliseconds turn(200), longestTurn(1000);

/*
 * Whether there is another agent. Any user may listen for handshakes, but only root can take them. So this agent leaves
 * new ones to a listener for a while, and then does those that are left.
 */
class Others {
public:
	explicit Others(const HandshakeFamily &family) : family_(family) {}

	bool present()
	{
		const auto now = std::chrono::steady_clock::now();
		if (now < nextLook_) // it reads a table of all netlink sockets
			return present_;
		nextLook_ = now + lookInterval;
		const bool found = family_.otherAgent();
		if (found && !present_)
			runtime::say(logLimit_, LOG_NOTICE,
				     "another program listens for handshakes (tlshd?): this agent does those that it "
				     "has not taken after 0.2 to 1 s");
		return present_ = found;
	}

private:
	const HandshakeFamily &family_;
	runtime::LogLimit logLimit_;
	std::chrono::steady_clock::time_point nextLook_;
	bool present_ = false;
};

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
	Others others(family);
	runtime::Timer left(loop, [&] { agent.serve(); });
	auto turnBegan = std::chrono::steady_clock::now();
	auto serveInTurn = [&] {
		const auto now = std::chrono::steady_clock::now();
		if (!others.present())
			return agent.serve();
		if (!left.running())
			turnBegan = now;
		if (now - turnBegan < longestTurn - turn)
			left.start(turn);
	};
	runtime::Readable events(loop, family.fd(), [&] {
		family.drain();
		serveInTurn();
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
	serveInTurn(); // what has waited for an agent
	loop.run();
	return {};
}

} // namespace tlsd
