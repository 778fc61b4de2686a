// SPDX-License-Identifier: LGPL-2.1-or-later
// The target as a program: serves until SIGINT or SIGTERM, optionally misbehaving.
#include "misbehaviour.h"
#include "mutator.h"
#include "server.h"
#include "wire.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

using namespace target;

namespace {

int list()
{
	for (auto all : {misbehaviours(), zoneMisbehaviours(), authMisbehaviours(), channelMisbehaviours()})
		for (auto &m : all)
			std::printf("%-26s trap %-3d %s\n", m.name, m.trap, toString(m.expect));
	std::printf("%zu misbehaviours, %zu of them of the discovery service; %zu more of zones, %zu of "
		    "authentication\n",
		    misbehaviours().size(), discoveryMisbehaviours().size(), zoneMisbehaviours().size(),
		    authMisbehaviours().size() + channelMisbehaviours().size());
	return 0;
}

// SIGUSR1 changes the discovery log, which sends an event to hosts.
sigset_t signals()
{
	sigset_t set;
	sigemptyset(&set);
	for (int signal : {SIGINT, SIGTERM, SIGUSR1})
		sigaddset(&set, signal);
	return set;
}

void waitForEnd(Discovery &discovery)
{
	const sigset_t set = signals();
	int got = SIGUSR1;
	for (sigwait(&set, &got); got == SIGUSR1; sigwait(&set, &got))
		discovery.rotate();
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

// The port follows the last colon; IPv6 addresses have no brackets.
DiscoveryEntry entryAt(SubsystemType type, const std::string &nqn, const std::string &to, std::uint16_t port)
{
	auto colon = to.rfind(':');
	if (colon != std::string::npos && !CLI::detail::lexical_cast(to.substr(colon + 1), port))
		throw CLI::ValidationError("'" + to + "' ends with no port");
	return makeEntry(type, nqn, to.substr(0, colon), port);
}

// NQN@ADDR:PORT
DiscoveryEntry elsewhere(const std::string &what)
{
	auto at = what.rfind('@');
	if (at == std::string::npos)
		throw CLI::ValidationError("'" + what + "' has no '@'");
	return entryAt(sub_nvm, what.substr(0, at), what.substr(at + 1), 4420);
}

std::vector<DiscoveryEntry> madeUp(int count, const Config &config)
{
	std::vector<DiscoveryEntry> list;
	list.reserve(static_cast<std::size_t>(count));
	for (int i = 0; i < count; i++)
		list.push_back(makeEntry(sub_nvm, config.nqn + "-" + std::to_string(i), config.address, config.port));
	return list;
}

struct Options {
	Config config;
	std::uint64_t mib = 64;
	std::string image;
	unsigned shift = 9;
	std::uint64_t zoneMib = 0; // size of a zone; 0: not zoned
	int times = 1;
	int ports = 1;
	int entries = 0;
	bool list = false;
	const Misbehaviour *bad = nullptr;
	std::vector<DiscoveryEntry> told; // in the discovery log, in addition to the target's own
	std::optional<MutationSeed> mutate;
	Authentication auth; // if it has a secret

	Options() { config.port = 4420; }
};

void chooseMisbehaviour(Options &options, const std::string &name)
{
	options.bad = findMisbehaviour(name);
	if (!options.bad)
		throw CLI::ValidationError("-m", "there is no misbehaviour '" + name + "', -l lists them");
}

void chooseMutation(Options &options, const std::string &text)
{
	options.mutate = parseMutationSeed(text);
	if (!options.mutate)
		throw CLI::ValidationError("--mutate", "'" + text + "' is no SEED[:SESSION]");
}

void describe(CLI::App &app, Options &options)
{
	Config &config = options.config;
	app.add_option("-a", config.address, "address")->type_name("ADDR");
	app.add_option("--transport", config.transport, "transport")
		->transform(CLI::CheckedTransformer(
			std::map<std::string, Transport>{{"tcp", Transport::tcp}, {"rdma", Transport::rdma}}))
		->type_name("tcp|rdma");
	app.add_option("-p", config.port, "port, the first one; 0: any free one")->type_name("PORT");
	app.add_option("-P", options.ports, "so many ports, of one subsystem with one namespace")
		->check(CLI::Range(1, 1000))
		->type_name("PORTS");
	app.add_option("-n", config.nqn, "NQN of the subsystem")->type_name("NQN");
	app.add_option("-s", options.mib, "size of the namespace, MiB")
		->check(CLI::Range(1, 1 << 20))
		->type_name("MIB");
	app.add_option("-f", options.image, "the namespace begins with what that file holds, which is not written to")
		->check(CLI::ExistingFile)
		->type_name("FILE");
	app.add_option("-b", options.shift, "size of a block, as a power of two")
		->check(CLI::Range(9, 16))
		->type_name("SHIFT");
	app.add_option("-z", options.zoneMib, "zones of so many MiB, a power of two")
		->check(CLI::Range(1, 1 << 20))
		->type_name("MIB");
	app.add_flag("-A", config.ana, "with ANA");
	app.add_option("-C", config.ccrLimit, "Cross-Controller Resets at once")->type_name("RESETS");
	app.add_option("-q", config.quiesce, "CQT")->type_name("MS");
	app.add_option_function<std::string>(
		   "-m", [&options](const std::string &name) { chooseMisbehaviour(options, name); },
		   "the first port misbehaves")
		->type_name("MISBEHAVIOUR");
	app.add_option("-c", options.times, "so many times; -1: always")
		->check(CLI::Range(-1, 1000000))
		->type_name("TIMES");
	app.add_option_function<std::string>(
		   "--mutate", [&options](const std::string &text) { chooseMutation(options, text); },
		   "changes at random in what is sent, other ones in each session (until no connection is left), or "
		   "those of one session again and again; a line tells what was done")
		->type_name("SEED[:SESSION]");
	app.add_option_function<std::vector<std::string>>(
		   "-R",
		   [&options](const std::vector<std::string> &to) {
			   for (const std::string &one : to)
				   options.told.push_back(entryAt(sub_referral, wellKnownDiscoveryNqn, one, 8009));
		   },
		   "the discovery log refers to this one; may be repeated")
		->type_name("ADDR:PORT");
	app.add_option_function<std::vector<std::string>>(
		   "-T",
		   [&options](const std::vector<std::string> &all) {
			   for (const std::string &one : all)
				   options.told.push_back(elsewhere(one));
		   },
		   "also list that subsystem in the discovery log; may be repeated")
		->type_name("NQN@ADDR:PORT");
	app.add_option("--advertise", config.advertised, "the discovery log names this address instead of its own")
		->type_name("ADDR");
	app.add_option("-E", options.entries, "so many made-up entries in the discovery log")
		->check(CLI::Range(0, 1000000))
		->type_name("ENTRIES");
	auto *key = app.add_option("--dhchap-key", options.auth.hostSecret, "authenticate hosts by this secret")
			    ->type_name("SECRET");
	app.add_option("--dhchap-ctrl-key", options.auth.ctrlSecret, "secret of the controller")
		->needs(key)
		->type_name("SECRET");
	app.add_option("--dhchap-hash", options.auth.hash, "hash function: 1 SHA-256, 2 SHA-384, 3 SHA-512")
		->needs(key)
		->check(CLI::Range(1, int(dhchapHashes)));
	app.add_option("--dhchap-group", options.auth.group, "DH group: 0 NULL, 1 ffdhe2048, ..., 5 ffdhe8192")
		->needs(key)
		->check(CLI::Range(0, dhchapGroups - 1));
	app.add_flag("--concat", options.auth.channel,
		     "hosts have to connect again with a TLS key that their authentication generates")
		->needs(key);
	app.add_flag("-l", options.list, "list misbehaviours, do not serve");
}

// Throws if the image is larger than the namespace.
void load(Store &store, const std::string &image)
{
	constexpr std::size_t piece = 1 << 20; // divides the size of every namespace
	std::ifstream file(image, std::ios::binary);
	Bytes bytes(piece);
	for (std::uint64_t slba = 0; file.read(reinterpret_cast<char *>(bytes.data()), piece), file.gcount() > 0;
	     slba += piece >> store.shift()) {
		std::fill(bytes.begin() + file.gcount(), bytes.end(), 0);
		if (!store.write(slba, bytes, 0))
			throw CLI::ValidationError("-f", image + " is larger than the namespace, see -s");
	}
}

int serve(const Options &options)
{
	Config config = options.config;
	config.zoned = options.zoneMib;
	if (!options.auth.hostSecret.empty())
		config.authentication = options.auth;
	const sigset_t set = signals(); // before any thread starts: only waitForEnd() may receive them
	sigprocmask(SIG_BLOCK, &set, nullptr);

	auto subsystem = std::make_shared<Subsystem>();
	auto store = subsystem->stores().add(1, options.mib << 20, options.shift);
	if (!options.image.empty())
		load(*store, options.image);
	if (auto blocks = options.zoneMib << 20 >> options.shift)
		store->makeZoned({.blocks = blocks, .capacity = blocks});
	subsystem->discovery().add(options.told);
	subsystem->discovery().add(madeUp(options.entries, config));
	std::optional<MutatedSessions> sessions;
	if (options.mutate)
		sessions.emplace(*options.mutate, tell);
	std::vector<std::unique_ptr<Server>> servers;
	for (int i = 0; i < options.ports; i++) {
		servers.push_back(std::make_unique<Server>(config, subsystem));
		if (sessions)
			servers.back()->mutate([&sessions](bool alone) { return sessions->stream(alone); });
		std::printf("listening on %s:%u\n", config.address.c_str(), servers.back()->port());
		if (config.port) // 0: any free port for each
			config.port++;
	}
	if (options.bad)
		servers[0]->script().arm(*options.bad, options.times);
	std::fflush(stdout);
	waitForEnd(subsystem->discovery());
	bool good = true;
	for (auto &server : servers) {
		server->stop();
		report(*server, server->counters());
		good = good && server->violations().empty();
	}
	return good ? 0 : 1;
}

} // namespace

int main(int argc, char **argv)
try {
	CLI::App app("An NVMe/TCP or NVMe/RDMA target that serves until SIGTERM, with the given misbehaviours. SIGUSR1 "
		     "changes its discovery log.");
	Options options;
	describe(app, options);
	CLI11_PARSE(app, argc, argv);
	return options.list ? list() : serve(options);
} catch (const std::exception &error) { // e.g. a port in use or an invalid address
	std::fprintf(stderr, "nvmeof-target: %s\n", error.what());
	return 1;
}
