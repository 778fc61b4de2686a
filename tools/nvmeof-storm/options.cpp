// SPDX-License-Identifier: LGPL-2.1-or-later
#include "options.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <nvmeof/discovery.h>

#include "libctl/wire/discovery_log.h"

namespace storm {

namespace {

constexpr unsigned maxHosts = 1000000, maxThreads = 256;
constexpr double longest = 86400; // s

std::string uuidOf(unsigned number)
{
	return fmt::format("00000000-0000-4000-8000-{:012x}", number);
}

void replaceAll(std::string &text, std::string_view what, const std::string &by)
{
	for (auto at = text.find(what); at != text.npos; at = text.find(what, at + by.size()))
		text.replace(at, what.size(), by);
}

void describeHosts(CLI::App &app, Options &o)
{
	app.add_option("-a,--address", o.addresses,
		       "a discovery service; with several, each host tries them in its own order by rendezvous "
		       "hashing. Default port 8009")
		->required()
		->type_name("ADDR[:PORT]");
	app.add_option("-n,--hosts", o.hosts, "number of hosts")
		->check(CLI::Range(1u, maxHosts))
		->type_name("HOSTS")
		->capture_default_str();
	app.add_option("--first", o.first, "number of the first host, for several storms at once")
		->check(CLI::Range(0u, maxHosts))
		->type_name("NUMBER")
		->capture_default_str();
	app.add_option("--hostnqn", o.hostnqn, "NQNs of the hosts: {} is the number of the host, {uuid} its host ID")
		->type_name("PATTERN")
		->capture_default_str();
	app.add_option("--nqn", o.subsysnqn, "NQN of the discovery subsystem, if not the well-known one")
		->type_name("NQN");
	app.add_option("--threads", o.threads, "threads of this program")
		->check(CLI::Range(1u, maxThreads))
		->type_name("N")
		->capture_default_str();
}

void describeExchange(CLI::App &app, Options &o)
{
	app.add_flag("--start-together", o.startTogether,
		     "all hosts connect over TCP first; times count from when all of them send ICReq");
	app.add_option("--ramp", o.ramp, "spread the starts of the hosts over this time")
		->check(CLI::Range(0.0, longest))
		->type_name("S");
	app.add_flag(
		"--digests", [&o](std::int64_t) { o.headerDigest = o.dataDigest = true; },
		"use header and data digests");
	app.add_flag("--header-digest", o.headerDigest, "use header digests");
	app.add_flag("--data-digest", o.dataDigest, "use data digests");
	app.add_flag("--persistent", o.persistent,
		     "hosts keep their connections, with a keep-alive timer, until all are done");
	app.add_option("--kato", o.kato, "keep-alive timeout of persistent hosts")
		->check(CLI::Range(1000u, 3600000u))
		->type_name("MS")
		->capture_default_str();
	app.add_option("--hold", o.hold, "hosts stay connected for this time")
		->check(CLI::Range(0.0, longest))
		->type_name("S");
	app.add_option("--retry", o.retry,
		       "hosts that failed at every address keep retrying for this time, with back-off")
		->check(CLI::Range(0.0, longest))
		->type_name("S");
	app.add_option("--patience", o.patience, "how long a host waits for each response")
		->check(CLI::Range(0.01, longest))
		->type_name("S")
		->capture_default_str();
	app.add_option("--piece", o.piece, "maximum bytes of the log per read, if MDTS allows that much")
		->check(CLI::Range(std::uint32_t(nofctl::wire::discoveryBlock), 16u << 20))
		->type_name("BYTES")
		->capture_default_str();
}

void describeJudging(CLI::App &app, Options &o)
{
	app.add_flag("--same", o.same, "fail if hosts get different logs of the same generation");
	app.add_option("--expect", o.expect,
		       "the log that hosts must get, as written by --save; its generation is ignored")
		->check(CLI::ExistingFile)
		->type_name("FILE");
	app.add_option("--save", o.save, "write the log that most hosts got, with its header")->type_name("FILE");
	app.add_option(
		   "--pid", o.pid,
		   "a service on this machine: report its memory before and with all hosts, and its CPU time per host")
		->check(CLI::Range(1, 1 << 30))
		->type_name("PID");
	app.add_flag("--json", o.json, "print JSON: see \"JSON\" in the manual page");
}

void describePush(CLI::App &app, Options &o)
{
	app.add_option("--push-command", o.push.command,
		       "when all hosts wait for an event, run this command, and measure until the last host has the "
		       "event and has read the log again")
		->type_name("COMMAND");
	app.add_option("--push-socket", o.push.socket,
		       "like --push-command, but write a line to this unix socket, and wait for a line in response")
		->type_name("PATH");
	app.add_option("--push-line", o.push.line,
		       "the line to write; {} is the number of the round, as in the command")
		->type_name("TEXT");
	app.add_option("--push-times", o.push.times, "number of rounds")
		->check(CLI::Range(1u, 100000u))
		->type_name("N")
		->capture_default_str();
	app.add_option("--push-timeout", o.push.timeout, "time limit for the last host of a round")
		->check(CLI::Range(0.01, longest))
		->type_name("S")
		->capture_default_str();
}

void resolve(Options &o)
{
	if (o.subsysnqn.empty())
		o.subsysnqn = nvmeof::discoveryNqn;
	for (const std::string &text : o.addresses) {
		const auto address = nvmeof::parseAddress(text, nvmeof::discoveryPort);
		if (!address)
			throw CLI::ValidationError("-a", address.error().message);
		const auto endpoint = initiator::Endpoint::of(*address);
		if (!endpoint)
			throw CLI::ValidationError("-a", fmt::format("'{}' has no route from this host", text));
		o.endpoints.push_back(*endpoint);
		o.members.push_back("tcp " + address->toString()); // as nvmeofd names them
	}
}

void check(const Options &o)
{
	for (unsigned number : {o.first, o.first + o.hosts - 1})
		if (const auto good = nvmeof::checkNqn(hostnqnOf(o.hostnqn, number)); !good)
			throw CLI::ValidationError("--hostnqn", good.error().message);
	if (o.hosts > 1 && hostnqnOf(o.hostnqn, 0) == hostnqnOf(o.hostnqn, 1))
		throw CLI::ValidationError("--hostnqn", "it has neither {} nor {uuid}: all hosts would be the same");
	if (o.push.socket.empty() != o.push.line.empty())
		throw CLI::ValidationError("--push-socket", "--push-socket and --push-line require each other");
	if (o.ramp > 0 && o.startTogether)
		throw CLI::ValidationError("--ramp", "excludes --start-together");
}

} // namespace

std::array<std::uint8_t, 16> hostidOf(unsigned number)
{
	std::array<std::uint8_t, 16> id{};
	id[6] = 0x40;
	id[8] = 0x80;
	for (unsigned i = 0; i < sizeof(number); i++)
		id[15 - i] = static_cast<std::uint8_t>(number >> 8 * i);
	return id;
}

std::string hostnqnOf(const std::string &pattern, unsigned number)
{
	std::string nqn = pattern;
	replaceAll(nqn, "{uuid}", uuidOf(number));
	replaceAll(nqn, "{}", std::to_string(number));
	return nqn;
}

std::optional<int> parse(int argc, char **argv, Options &options)
{
	CLI::App app("Load generator: thousands of hosts that connect to a discovery service at once");
	describeHosts(app, options);
	describeExchange(app, options);
	describeJudging(app, options);
	describePush(app, options);
	app.set_version_flag("--version", NVMEOF_VERSION);
	try {
		app.parse(argc, argv);
		resolve(options);
		check(options);
	} catch (const CLI::ParseError &error) {
		return app.exit(error) ? static_cast<int>(ExitCode::usage) : static_cast<int>(ExitCode::good);
	}
	return {};
}

} // namespace storm
