// SPDX-License-Identifier: LGPL-2.1-or-later
#include "connect_plan.h"

#include <map>

#include <fmt/format.h>
#include <nvmeof/identity.h>

#include "libctl/gpu/route.h"

#include "context.h"

using namespace nvmeof;

namespace {

constexpr std::chrono::minutes defaultCtrlLoss{10}; // NVMEOF_A_CTRL_LOSS_TMO

void readHost(const Args &args, ConnectOptions &options)
{
	options.hostnqn = args.text("hostnqn");
	if (std::optional<std::string> text = args.text("hostid"))
		options.hostid = Uuid::parse(*text);
	options.hostTraddr = args.textOr("host-traddr", "");
	options.hostIface = args.textOr("host-iface", "");
}

void readFlags(const Args &args, ConnectOptions &options)
{
	options.duplicateConnect = args.has("duplicate-connect");
	options.idempotent = args.has("idempotent");
}

Error ofTraddr(Error error)
{
	error.message = "--traddr: " + error.message;
	return error;
}

std::optional<std::int64_t> valueOf(const Args &args, const ConnectSetting &setting)
{
	if (setting.kind == SettingKind::flag)
		return args.has(setting.name) ? std::optional<std::int64_t>(1) : std::nullopt;
	if (setting.kind == SettingKind::number || setting.kind == SettingKind::milliseconds)
		return args.number(setting.name);
	std::optional<std::chrono::milliseconds> time = args.seconds(setting.name);
	return time ? std::optional<std::int64_t>(time->count()) : std::nullopt;
}

} // namespace

WaitFor waitOf(const std::string &word)
{
	if (word == "none")
		return WaitFor::none;
	if (word == "ctrl")
		return WaitFor::controller;
	return word == "udev" ? WaitFor::udev : WaitFor::namespaces;
}

ConnectSettings settingsOf(const Args &args)
{
	ConnectSettings settings;
	for (const ConnectSetting &setting : connectSettings())
		if (std::optional<std::int64_t> value = valueOf(args, setting)) // the parser has checked the range
			static_cast<void>(putConnectSetting(settings, setting, *value));
	if (args.has("keep-trying") && !settings.firstConnect) // the same limit as for reconnects
		settings.firstConnect = settings.ctrlLoss.value_or(defaultCtrlLoss);
	return settings;
}

Result<ConnectPlan> planConnect(const Args &args, const PlanDefaults &defaults, const Resolve &resolve)
{
	ConnectOptions common;
	common.transport = args.textOr("transport", "tcp");
	common.subsysnqn = args.textOr("nqn", defaults.nqn);
	readHost(args, common);
	readFlags(args, common);
	settingsOf(args).apply(common);
	ConnectPlan plan;
	plan.wait = waitOf(args.textOr("wait", "ns"));
	plan.timeout = args.seconds("timeout").value_or(defaultTimeout);
	for (const std::string &text : args.all("traddr")) {
		Result<std::vector<Address>> found = resolve(text, args.textOr("trsvcid", defaults.port));
		if (!found)
			return ofTraddr(found.error());
		for (const Address &address : *found) {
			plan.options.push_back(common);
			plan.options.back().address = address;
			plan.typed.push_back(parseAddress(text, defaults.port) ? "" : text);
		}
	}
	return plan;
}

// Next step for an error of the host identity files.
static std::string fileStep(const Error &error)
{
	if (error.code == ErrorCode::invalid)
		return "correct or remove the file";
	return error.code == ErrorCode::failed ? "or give --hostnqn and --hostid" : "";
}

void noteNames(Context &context, const ConnectPlan &plan)
{
	for (const std::string &nqn : {plan.options.front().subsysnqn, plan.options.front().hostnqn.value_or("")})
		if (!nqn.empty() && !conformingNqn(nqn))
			context.note(nqn, "not a valid NQN: NQNs begin with 'nqn.'");
	std::map<std::string, std::string> addresses; // by name
	for (std::size_t i = 0; i < plan.typed.size(); i++) {
		std::string &list = addresses[plan.typed[i]];
		list += (list.empty() ? "" : ", ") + plan.options[i].address.toString();
	}
	for (const auto &[name, list] : addresses)
		if (!name.empty())
			context.note(name, list);
}

std::string nameStep(const Error &error)
{
	return error.code == ErrorCode::nameResolution ? "check the name with 'getent hosts NAME'" : "";
}

// The trouble with the interface to the target, and a next step; empty: none is known.
static std::string linkStep(const ConnectOptions &options, const nofctl::gpu::Tree &tree)
{
	const std::string trouble = interfaceTrouble(
		tree, interfaceOf(tree, options.hostIface, options.hostTraddr, options.address.traddr));
	return trouble.empty() ? "" : trouble + ": check its cable, the port of the switch, and 'ip link'";
}

std::string connectNextStep(const Error &error, const ConnectOptions &options, const nofctl::gpu::Tree &tree)
{
	if (error.object.kind == ErrorObject::Kind::file)
		return fileStep(error);
	if (error.left == ControllerState::live)
		return fmt::format("'nvmeofctl show {}' shows its namespaces and its last error", error.object.name);
	const bool silent = error.code == ErrorCode::timedOut || error.code == ErrorCode::unreachable;
	const std::string link = silent ? linkStep(options, tree) : "";
	if (error.left && !link.empty())
		return fmt::format("{}; it goes on trying, 'nvmeofctl disconnect {}' gives up", link,
				   error.object.name);
	if (!link.empty())
		return link;
	if (error.left)
		return fmt::format("it keeps retrying; 'nvmeofctl disconnect {}' ends that", error.object.name);
	switch (error.code) {
	case ErrorCode::alreadyConnected:
		return "use --duplicate-connect for a second association";
	case ErrorCode::refused:
		if (error.nvmeStatus == 0x184) // Connect Invalid Host
			return "allow this host at the target: 'nvmeofctl show-hostnqn' prints its NQN";
		if (error.nvmeStatus == 0x182) // Connect Invalid Parameters
			return "check that the target exports " + options.subsysnqn + " at this address";
		return "see the target's log";
	case ErrorCode::timedOut:
	case ErrorCode::connectionReset:
		return "check address, port and firewall";
	case ErrorCode::connectionRefused:
		return "check address and port, and that the target is running";
	case ErrorCode::unreachable:
		return "check the address, and the network to it";
	case ErrorCode::nameResolution:
		return "check the name";
	case ErrorCode::authentication:
		return "the target requires authentication or TLS, which this version does not support";
	default:
		return {};
	}
}
