// SPDX-License-Identifier: LGPL-2.1-or-later
// The target as a program: serves until it is told to end, misbehaving as told.
#include "misbehaviour.h"
#include "mutator.h"
#include "server.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <getopt.h>
#include <memory>
#include <string>
#include <vector>
#include <unistd.h>

using namespace target;

namespace {

int usage()
{
	std::fputs(
		"usage: nvmeof-target [-a ADDR] [-p PORT] [-n NQN] [-s SIZE_MIB] [-b BLOCK_SHIFT] [-m MISBEHAVIOUR] "
		"[-c TIMES]\n"
		"                     [-P PORTS] [-A] [-C RESETS] [-q CQT_MS] [--mutate SEED[:SESSION]]\n"
		"                     [-R ADDR:PORT]... [-E ENTRIES]\n"
		"       -P: so many ports from PORT on, of one subsystem with one namespace; -A: with ANA;\n"
		"       -C: Cross-Controller Resets at once; the misbehaviour is the first port's\n"
		"       -R: the discovery log refers to this one; -E: and has so many made-up entries\n"
		"       --mutate: changes at random in what is sent, other ones in each session (until no connection\n"
		"       is left), or those of one session again and again; a line tells what was done\n"
		"       nvmeof-target -l    lists misbehaviours\n",
		stderr);
	return 2;
}

int list()
{
	for (auto &m : misbehaviours())
		std::printf("%-26s trap %-3d %s\n", m.name, m.trap, toString(m.expect));
	std::printf("%zu misbehaviours, %zu of them of the discovery service\n", misbehaviours().size(),
		    discoveryMisbehaviours().size());
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

void tell(const std::string &line)
{
	std::puts(line.c_str());
	std::fflush(stdout);
}

// IPv6 addresses without brackets: what follows the last colon is the port.
DiscoveryEntry referral(const std::string &to)
{
	auto colon = to.rfind(':');
	auto port = colon == std::string::npos ? 8009 : std::atoi(to.c_str() + colon + 1);
	return makeEntry(sub_referral, discovery_nqn, to.substr(0, colon), static_cast<std::uint16_t>(port));
}

std::vector<DiscoveryEntry> madeUp(int count, const Config &config)
{
	std::vector<DiscoveryEntry> list;
	for (int i = 0; i < count; i++)
		list.push_back(makeEntry(sub_nvm, config.nqn + "-" + std::to_string(i), config.address, config.port));
	return list;
}

constexpr int mutate_option = 256;
const option long_options[] = {{"mutate", required_argument, nullptr, mutate_option}, {}};

} // namespace

int main(int argc, char **argv)
{
	Config config;
	config.port = 4420;
	std::uint64_t mib = 64;
	unsigned shift = 9;
	int times = 1, ports = 1, entries = 0;
	std::vector<DiscoveryEntry> referrals;
	const Misbehaviour *bad = nullptr;
	std::optional<MutationSeed> mutate;
	for (int o; (o = getopt_long(argc, argv, "a:p:n:s:b:m:c:P:C:q:R:E:Al", long_options, nullptr)) != -1;) {
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
		else if (o == 'P')
			ports = std::atoi(optarg);
		else if (o == 'C')
			config.ccrLimit = static_cast<std::uint8_t>(std::atoi(optarg));
		else if (o == 'q')
			config.quiesce = static_cast<std::uint16_t>(std::atoi(optarg));
		else if (o == 'R')
			referrals.push_back(referral(optarg));
		else if (o == 'E')
			entries = std::atoi(optarg);
		else if (o == 'A')
			config.ana = true;
		else if (o == mutate_option && (mutate = parseMutationSeed(optarg)))
			continue;
		else if (o != 'm' || !(bad = findMisbehaviour(optarg)))
			return usage();
	}
	sigset_t set; // before any thread: all of them are to leave the signals to waitForEnd()
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, nullptr);

	auto subsystem = std::make_shared<Subsystem>();
	subsystem->stores().add(1, mib << 20, shift);
	subsystem->discovery().add(referrals);
	subsystem->discovery().add(madeUp(entries, config));
	std::optional<MutatedSessions> sessions;
	if (mutate)
		sessions.emplace(*mutate, tell);
	std::vector<std::unique_ptr<Server>> servers;
	for (int i = 0; i < std::max(ports, 1); i++, config.port++) {
		servers.push_back(std::make_unique<Server>(config, subsystem));
		if (sessions)
			servers.back()->mutate([&sessions](bool alone) { return sessions->stream(alone); });
		std::printf("listening on %s:%u\n", config.address.c_str(), servers.back()->port());
	}
	if (bad)
		servers[0]->script().arm(*bad, times);
	std::fflush(stdout);
	waitForEnd();
	bool good = true;
	for (auto &server : servers) {
		server->stop();
		report(*server, server->counters());
		good = good && server->violations().empty();
	}
	return good ? 0 : 1;
}
