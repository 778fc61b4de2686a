// SPDX-License-Identifier: LGPL-2.1-or-later
// The target as a program: serves until it is told to end, misbehaving as told.
#include "misbehaviour.h"
#include "server.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <unistd.h>

using namespace target;

namespace {

int usage()
{
	std::fputs("usage: nvmeof-target [-a ADDR] [-p PORT] [-n NQN] [-s SIZE_MIB] [-b BLOCK_SHIFT] [-m MISBEHAVIOUR] "
		   "[-c TIMES]\n"
		   "       nvmeof-target -l    lists misbehaviours\n",
		   stderr);
	return 2;
}

int list()
{
	for (auto &m : misbehaviours())
		std::printf("%-26s trap %-3d %s\n", m.name, m.trap, toString(m.expect));
	return 0;
}

void waitForEnd()
{
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	int got = 0;
	sigwait(&set, &got);
}

void report(const Server &server, const Counters &c)
{
	std::printf(
		"connections %lu reads %lu writes %lu (in capsule %lu) r2ts %lu keep-alives %lu digest errors %lu\n",
		c.connections.load(), c.reads.load(), c.writes.load(), c.inCapsuleWrites.load(), c.r2ts.load(),
		c.keepAlives.load(), c.digestErrors.load());
	for (auto &text : server.violations())
		std::printf("violation: %s\n", text.c_str());
}

} // namespace

int main(int argc, char **argv)
{
	Config config;
	config.port = 4420;
	std::uint64_t mib = 64;
	unsigned shift = 9;
	int times = 1;
	const Misbehaviour *bad = nullptr;
	for (int o; (o = getopt(argc, argv, "a:p:n:s:b:m:c:l")) != -1;) {
		if (o == 'l')
			return list();
		if (o == 'a')
			config.address = optarg;
		else if (o == 'p')
			config.port = static_cast<std::uint16_t>(std::atoi(optarg));
		else if (o == 'n')
			config.nqn = optarg;
		else if (o == 's')
			mib = static_cast<std::uint64_t>(std::atoll(optarg));
		else if (o == 'b')
			shift = static_cast<unsigned>(std::atoi(optarg));
		else if (o == 'c')
			times = std::atoi(optarg);
		else if (o != 'm' || !(bad = findMisbehaviour(optarg)))
			return usage();
	}
	sigset_t set; // before any thread: all of them are to leave the signals to waitForEnd()
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, nullptr);

	Server server(config);
	server.stores().add(1, mib << 20, shift);
	if (bad)
		server.script().arm(*bad, times);
	std::printf("listening on %s:%u\n", config.address.c_str(), server.port());
	std::fflush(stdout);
	waitForEnd();
	server.stop();
	report(server, server.counters());
	return server.violations().empty() ? 0 : 1;
}
