// SPDX-License-Identifier: LGPL-2.1-or-later
#include "options.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <nvmeof/client.h>
#include <nvmeof/discovery.h>

#include "exit_code.h"
#include "libctl/wire/discovery_log.h"

namespace storm {

namespace {

constexpr unsigned most_hosts = 1000000, most_threads = 256;
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
	app.add_option(
		   "-a,--address", o.addresses,
		   "a discovery service; with several, each host turns to one and falls over to the next in the order "
		   "that rendezvous hashing gives it. Port 8009 unless another is given")
		->required()
		->type_name("ADDR[:PORT]");
	app.add_option("-n,--hosts", o.hosts, "so many hosts")
		->check(CLI::Range(1u, most_hosts))
		->type_name("HOSTS")
		->capture_default_str();
	app.add_option("--first", o.first, "number of the first one, for several storms at once")
		->check(CLI::Range(0u, most_hosts))
		->type_name("NUMBER")
		->capture_default_str();
	app.add_option("--hostnqn", o.hostnqn, "their NQNs: {} is the number of the host, {uuid} its host ID")
		->type_name("PATTERN")
		->capture_default_str();
	app.add_option("--nqn", o.subsysnqn, "of the discovery subsystem, where it is not the well-known one")
		->type_name("NQN");
	app.add_option("--threads", o.threads, "of this program")
		->check(CLI::Range(1u, most_threads))
		->type_name("N")
		->capture_default_str();
}

void describeExchange(CLI::App &app, Options &o)
{
	app.add_flag("--start-together", o.startTogether,
		     "all connect over TCP first; the instant, from which times count, is when all of them send ICReq");
	app.add_option("--ramp", o.ramp, "spread the beginnings over so many seconds, instead of one instant")
		->check(CLI::Range(0.0, longest))
		->type_name("S");
	app.add_flag(
		"--digests", [&o](std::int64_t) { o.headerDigest = o.dataDigest = true; },
		"with header and data digests");
	app.add_flag("--header-digest", o.headerDigest, "with header digests");
	app.add_flag("--data-digest", o.dataDigest, "with data digests");
	app.add_flag("--persistent", o.persistent,
		     "hosts keep their connections, with a keep-alive timer, until all are done");
	app.add_option("--kato", o.kato, "keep-alive timeout of hosts that stay")
		->check(CLI::Range(1000u, 3600000u))
		->type_name("MS")
		->capture_default_str();
	app.add_option("--hold", o.hold, "hosts stay so many seconds more")
		->check(CLI::Range(0.0, longest))
		->type_name("S");
	app.add_option("--retry", o.retry,
		       "hosts that came to nothing at every address go on trying for so many seconds, with back-off")
		->check(CLI::Range(0.0, longest))
		->type_name("S");
	app.add_option("--patience", o.patience, "how long a host waits for each answer")
		->check(CLI::Range(0.01, longest))
		->type_name("S")
		->capture_default_str();
	app.add_option("--piece", o.piece, "most bytes of the log that a host reads at once, if MDTS allows that much")
		->check(CLI::Range(std::uint32_t(nofctl::wire::discovery_block), 16u << 20))
		->type_name("BYTES")
		->capture_default_str();
}

void describeJudging(CLI::App &app, Options &o)
{
	app.add_flag("--same", o.same, "all hosts have to be told the same log, as far as it is of one generation");
	app.add_option("--expect", o.expect,
		       "the log that hosts have to be told, as --save writes it; its generation counts for nothing")
		->check(CLI::ExistingFile)
		->type_name("FILE");
	app.add_option("--save", o.save, "write the log that most hosts were told, its header first")
		->type_name("FILE");
	app.add_option("--pid", o.pid,
		       "a service on this machine: what memory it has before, and when all hosts are there, and the "
		       "processor time that a host costs it")
		->check(CLI::Range(1, 1 << 30))
		->type_name("PID");
	app.add_flag("--json", o.json, "for programs: see \"JSON\" in the manual page");
}

void describePush(CLI::App &app, Options &o)
{
	app.add_option(
		   "--push-command", o.push.command,
		   "with all hosts waiting for an event: run that, which is done when it ends, and measure until the "
		   "last host has the event, and has read the log again")
		->type_name("COMMAND");
	app.add_option("--push-socket", o.push.socket,
		       "likewise: write a line to that unix socket, which is done when a line has come back")
		->type_name("PATH");
	app.add_option("--push-line", o.push.line, "that line; {} is the number of the round, as in the command")
		->type_name("TEXT");
	app.add_option("--push-times", o.push.times, "so many rounds")
		->check(CLI::Range(1u, 100000u))
		->type_name("N")
		->capture_default_str();
	app.add_option("--push-timeout", o.push.timeout, "for the last host of a round")
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
			throw CLI::ValidationError("-a", fmt::format("'{}' cannot be reached from here", text));
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
		throw CLI::ValidationError("--hostnqn", "neither {} nor {uuid} in it: all hosts would be the same");
	if (o.push.socket.empty() != o.push.line.empty())
		throw CLI::ValidationError("--push-socket", "a socket and a line go together");
	if (o.ramp > 0 && o.startTogether)
		throw CLI::ValidationError("--ramp", "not with --start-together");
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
	CLI::App app("Hosts by the thousand that ask a discovery service where their storage is, all in one instant");
	describeHosts(app, options);
	describeExchange(app, options);
	describeJudging(app, options);
	describePush(app, options);
	app.set_version_flag("--version", nvmeof::libraryVersion());
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
