// SPDX-License-Identifier: LGPL-2.1-or-later
#include "connect_plan.h"

#include <cerrno>

#include <fmt/format.h>
#include <nvmeof/identity.h>

using namespace nvmeof;

namespace {

constexpr std::uint32_t mostQueues = 65535; // queue identifiers have 16 bits
constexpr std::uint32_t mostEntries = 1024; // NVMEOF_A_QUEUE_SIZE
constexpr std::uint32_t mostTos = 255;

// Moves the value of @from to @to, or its error to @error; the first error stays.
template <typename From, typename To> void take(const Result<From> &from, To &to, std::optional<Error> &error)
{
	if (from)
		to = *from;
	else if (!error)
		error = from.error();
}

std::optional<Error> readQueues(const Args &args, ConnectOptions &options)
{
	std::optional<Error> error;
	take(args.number("nr-io-queues", mostQueues), options.ioQueues, error);
	take(args.number("nr-poll-queues", mostQueues), options.pollQueues, error);
	take(args.number("queue-size", mostEntries), options.queueSize, error);
	return error;
}

std::optional<Error> readTimes(const Args &args, ConnectOptions &options)
{
	std::optional<Error> error;
	take(args.seconds("keep-alive-tmo"), options.keepAlive, error);
	take(args.seconds("reconnect-delay"), options.reconnectDelay, error);
	take(args.secondsOrNever("ctrl-loss-tmo"), options.ctrlLoss, error);
	take(args.secondsOrNever("fast-io-fail-tmo"), options.fastIoFail, error);
	take(args.seconds("connect-tmo"), options.connectTimeout, error);
	take(args.seconds("stall-tmo"), options.stallTimeout, error);
	return error;
}

std::optional<Error> readHost(const Args &args, ConnectOptions &options)
{
	options.hostnqn = args.text("hostnqn");
	if (options.hostnqn)
		if (Result<void> good = checkNqn(*options.hostnqn); !good)
			return usageError("--hostnqn: " + good.error().message);
	if (std::optional<std::string> text = args.text("hostid")) {
		options.hostid = Uuid::parse(*text);
		if (!options.hostid || options.hostid->isNil())
			return usageError("--hostid: '" + *text + "' is not a UUID");
	}
	if (std::optional<std::string> text = args.text("host-traddr")) {
		Result<std::string> traddr = parseTraddr(*text);
		if (!traddr)
			return usageError("--host-traddr: " + traddr.error().message);
		options.hostTraddr = *traddr;
	}
	options.hostIface = args.textOr("host-iface", "");
	return std::nullopt;
}

std::optional<Error> readFlags(const Args &args, ConnectOptions &options)
{
	options.hdrDigest = args.has("hdr-digest");
	options.dataDigest = args.has("data-digest");
	options.sqFlow = args.has("sq-flow");
	options.duplicateConnect = args.has("duplicate-connect");
	options.idempotent = args.has("idempotent");
	Result<std::optional<std::uint32_t>> tos = args.number("tos", mostTos);
	if (!tos)
		return tos.error();
	if (*tos)
		options.tos = static_cast<std::uint8_t>(**tos);
	return std::nullopt;
}

std::optional<Error> readSubsystem(const Args &args, ConnectOptions &options)
{
	options.transport = args.textOr("transport", "tcp");
	options.subsysnqn = args.textOr("nqn", options.subsysnqn);
	if (Result<void> good = checkNqn(options.subsysnqn); !good)
		return usageError("--nqn: " + good.error().message);
	return std::nullopt;
}

WaitFor waitOf(const std::string &word)
{
	if (word == "none")
		return WaitFor::none;
	if (word == "ctrl")
		return WaitFor::controller;
	return word == "udev" ? WaitFor::udev : WaitFor::namespaces;
}

} // namespace

Result<ConnectPlan> planConnect(const Args &args, const PlanDefaults &defaults)
{
	ConnectOptions common;
	common.subsysnqn = defaults.nqn;
	for (auto read : {readSubsystem, readHost, readQueues, readTimes, readFlags})
		if (std::optional<Error> error = read(args, common))
			return *error;
	ConnectPlan plan;
	plan.wait = waitOf(args.textOr("wait", "ns"));
	Result<std::optional<std::chrono::milliseconds>> timeout = args.seconds("timeout");
	if (!timeout)
		return timeout.error();
	plan.timeout = timeout->value_or(defaultTimeout);
	for (const std::string &text : args.all("traddr")) {
		Result<Address> address = parseAddress(text, args.textOr("trsvcid", defaults.port));
		if (!address)
			return usageError("--traddr: " + address.error().message);
		plan.options.push_back(common);
		plan.options.back().address = *address;
	}
	return plan;
}

static bool ofTheNetwork(int sysErrno)
{
	switch (sysErrno) {
	case ECONNREFUSED:
	case ECONNRESET:
	case EHOSTUNREACH:
	case ENETUNREACH:
	case EHOSTDOWN:
	case ENETDOWN:
	case EPIPE:
		return true;
	default:
		return false;
	}
}

// About the files of the host's identity
static std::string fileStep(const Error &error)
{
	if (error.code == ErrorCode::invalid)
		return "correct or remove the file";
	return error.code == ErrorCode::failed ? "or give --hostnqn and --hostid" : "";
}

std::string connectNextStep(const Error &error, const ConnectOptions &options)
{
	if (error.object.starts_with('/'))
		return fileStep(error);
	if (error.message.starts_with("connected, but"))
		return fmt::format("'nvmeofctl show {}' tells what is there, and the last error", error.object);
	switch (error.code) {
	case ErrorCode::alreadyConnected:
		return "use --duplicate-connect for a second association";
	case ErrorCode::refused:
		if (error.nvmeStatus == 0x184) // Connect Invalid Host
			return "allow this host at the target: 'nvmeofctl show-hostnqn' prints its NQN";
		if (error.nvmeStatus == 0x182) // Connect Invalid Parameters
			return "check that the target exports " + options.subsysnqn + " at this address";
		return "the target's log may tell more";
	case ErrorCode::timedOut:
		if (!error.object.empty() && error.message.starts_with("not connected"))
			return fmt::format("it goes on trying; 'nvmeofctl disconnect -d {}' gives up", error.object);
		return "check address, port and firewall";
	case ErrorCode::failed:
		return ofTheNetwork(error.sysErrno) ? "check address, port and firewall" : "";
	default:
		return {};
	}
}
