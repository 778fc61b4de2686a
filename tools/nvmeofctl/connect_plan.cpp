// SPDX-License-Identifier: LGPL-2.1-or-later
#include "connect_plan.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <map>
#include <poll.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nvmeof/difference.h>
#include <nvmeof/discovery.h>
#include <nvmeof/identity.h>

#include "configuration.h"
#include "context.h"
#include "libctl/base/make_error.h"
#include "libctl/gpu/tree.h"

using namespace nvmeof;
using namespace std::chrono_literals;

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
	if (setting.kind == SettingKind::tlsUse)
		return args.has(setting.name) ? std::optional(static_cast<std::int64_t>(TlsUse::required))
					      : std::nullopt;
	if (setting.kind == SettingKind::number || setting.kind == SettingKind::milliseconds)
		return args.number(setting.name);
	std::optional<std::chrono::milliseconds> time = args.seconds(setting.name);
	return time ? std::optional<std::int64_t>(time->count()) : std::nullopt;
}

// A path on the command line may be relative; settings have absolute ones only.
std::string absoluteSource(const std::string &text)
{
	if (!text.starts_with('.'))
		return text;
	std::error_code error;
	const std::filesystem::path path = std::filesystem::absolute(text, error);
	return error ? text : path.string();
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
	for (const ConnectSetting &setting : connectSettings()) { // the parser has checked the values
		if (setting.kind == SettingKind::keySource) {
			if (std::optional<std::string> text = args.text(setting.name))
				static_cast<void>(putConnectText(settings, setting, absoluteSource(*text)));
		} else if (std::optional<std::int64_t> value = valueOf(args, setting)) {
			static_cast<void>(putConnectSetting(settings, setting, *value));
		}
	}
	if (settings.tlsKey) // whatever [[defaults]] say
		settings.tls = TlsUse::required;
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
		return error.sysErrno == ENOENT ? "create the file, or give --hostnqn and --hostid"
						: "correct or remove the file";
	return error.code == ErrorCode::failed ? "give --hostnqn and --hostid instead" : "";
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
			context.note(name, "resolves to " + list);
}

std::string nameStep(const Error &error)
{
	return error.code == ErrorCode::nameResolution ? "check the name with 'getent hosts NAME'" : "";
}

// The problem with the interface to the target, and a next step; empty: none is known.
static std::string linkStep(const ConnectOptions &options, const nofctl::gpu::Tree &tree)
{
	const std::string trouble = interfaceTrouble(
		tree, interfaceOf(tree, options.hostIface, options.hostTraddr, options.address.traddr));
	return trouble.empty() ? "" : trouble + ": check its cable, the port of the switch, and 'ip link'";
}

static std::string authenticationStep(const Error &error, const ConnectOptions &options)
{
	const bool tls = options.tls || !options.tlsKey.empty();
	if (options.concat && error.message.find("TLS") != std::string::npos)
		return "does the target support secure channel concatenation, on a port that does not require TLS? See "
		       "its log, and Documentation/tls.md";
	if (error.message.starts_with("tls") || error.message.starts_with("dhchap") ||
	    (error.sysErrno == ENOKEY && !options.dhchapKey.empty()))
		return ""; // the message says which key is missing
	if (options.dhchapKey.empty() && tls && error.sysErrno != ENOKEY)
		return "compare the TLS keys of this host and of the target: 'nvmeofctl key list', and "
		       "Documentation/tls.md";
	if (options.dhchapKey.empty())
		return fmt::format("give the key of this host: --dhchap-key FILE{}",
				   tls ? "" : ", or --tls if the target requires TLS");
	if (error.sysErrno == EKEYREVOKED || error.sysErrno == EKEYEXPIRED)
		return "give another key: --dhchap-key FILE";
	return options.dhchapCtrlKey.empty() ? "compare the key with the one that the target has for this host"
					     : "compare both keys with those that the target has for this host, if any";
}

NetworkInterface networkInterfaceOf(const Controller &controller)
{
	const nofctl::gpu::FolderTree tree;
	const std::string interface = interfaceOf(tree, controller.hostIface, controller.hostTraddr, controller.traddr);
	return {interface, interfaceTrouble(tree, interface)};
}

std::string connectNextStep(const Error &error, const ConnectOptions &options, const nofctl::gpu::Tree &tree)
{
	const std::string &file = error.object.kind == ErrorObject::Kind::file ? error.object.name : "";
	if (!file.empty() && (file == options.dhchapKey || file == options.dhchapCtrlKey || file == options.tlsKey))
		return error.code == ErrorCode::notPermitted ? ""
							     : fmt::format("'nvmeofctl key check {}' checks it", file);
	if (error.object.kind == ErrorObject::Kind::file)
		return fileStep(error);
	if (error.left == ControllerState::live)
		return fmt::format("'nvmeofctl show {}' shows its namespaces and its last error", error.object.name);
	const bool silent = error.code == ErrorCode::timedOut || error.code == ErrorCode::unreachable;
	const std::string link = silent ? linkStep(options, tree) : "";
	if (error.left && !link.empty())
		return fmt::format("{}; it keeps retrying, 'nvmeofctl disconnect {}' ends that", link,
				   error.object.name);
	if (!link.empty())
		return link;
	if (error.left)
		return fmt::format("it keeps retrying; 'nvmeofctl disconnect {}' ends that", error.object.name);
	switch (error.code) {
	case ErrorCode::alreadyConnected:
		return "--idempotent accepts the existing connection, --duplicate-connect makes a second association";
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
	case ErrorCode::noSuchObject: // as the kernel reports it
		return options.hostIface.empty() ? "" : "'ip link' lists the network interfaces";
	case ErrorCode::authentication:
		return authenticationStep(error, options);
	default:
		return error.sysErrno == EPROTO ? "see the target's log" : "";
	}
}

namespace {

// For a command that goes on without the configuration if that is wrong
Result<ConnectSettings> configured(Context &context, const ConnectPlan &plan)
{
	const ConfigReading reading = inspectConfig();
	Result<ConnectSettings> settings = reading.connectSettingsFor(plan.options.front().subsysnqn);
	if (Result<Config> config = reading.outcome(); !config && settings)
		context.warn("", config.error(), configStep(config.error()));
	return settings;
}

} // namespace

Result<void> takeDefaults(Context &context, ConnectPlan &plan)
{
	const Result<ConnectSettings> defaults = configured(context, plan);
	if (!defaults)
		return defaults.error();
	ConnectSettings settings = settingsOf(context.args());
	settings.complete(*defaults);
	for (ConnectOptions &options : plan.options)
		settings.apply(options);
	return {};
}

Result<void> takeSecurity(Context &context, ConnectPlan &plan)
{
	const Result<ConnectSettings> defaults = configured(context, plan);
	if (!defaults)
		return defaults.error();
	for (ConnectOptions &options : plan.options)
		options.security = defaults->security.value_or(SecurityRule());
	return {};
}

// ---- controllers that exist

namespace {

constexpr std::chrono::milliseconds forRemoval = 10s;
constexpr int pollInterval = 50; // ms

} // namespace

Present::Present(Client &client) : client_(client)
{
	if (Result<std::vector<Controller>> all = client.controllers())
		controllers_ = *std::move(all);
}

const Controller *Present::find(const ConnectOptions &options, const std::string &hostnqn) const
{
	for (const Controller &one : controllers_)
		if (!isEnding(one.state) && isConnection(one, options, hostnqn))
			return &one;
	return nullptr;
}

std::optional<std::string> Present::inTreeConflict(const std::string &nqn) const
{
	if (std::ranges::any_of(controllers_, [&](const Controller &one) { return one.subsysnqn == nqn; }))
		return std::nullopt;
	return ::inTreeConflict(nqn, foreignControllers(nqn));
}

bool Present::has(const std::string &name) const
{
	return std::ranges::any_of(controllers_, [&](const Controller &one) { return one.name == name; });
}

void Present::awaitRemoval(const std::function<bool(const Controller &)> &ours) const
{
	auto isLeft = [&](const Controller &now) { return !has(now.name) && ours(now); };
	const auto end = std::chrono::steady_clock::now() + forRemoval;
	while (std::chrono::steady_clock::now() < end) {
		client_.dispatch();
		Result<std::vector<Controller>> all = client_.controllers();
		if (!all || std::ranges::none_of(*all, isLeft))
			return;
		pollfd fd{client_.fd(), POLLIN, 0};
		::poll(&fd, 1, pollInterval);
	}
}

// ---- namespaces that appear as two disks

std::optional<std::string> inTreeConflict(const std::string &subsysnqn,
					  const std::vector<ForeignController> &controllers)
{
	if (controllers.empty() || subsysnqn == discoveryNqn)
		return std::nullopt;
	return fmt::format("the in-tree NVMe driver is connected to {}: {}", subsysnqn,
			   fmt::join(connectionTexts(controllers), ", "));
}

std::vector<std::string> connectionTexts(const std::vector<ForeignController> &controllers)
{
	std::vector<std::string> texts;
	for (const ForeignController &one : controllers)
		texts.push_back(fmt::format("{} ({}, {})", one.name, one.transport, one.state));
	return texts;
}

std::string inTreeStep(const std::string &subsysnqn)
{
	return fmt::format("unmount its disks, then 'nvme disconnect -n {}'", subsysnqn);
}

static std::string nextStep(const std::string &subsysnqn)
{
	return inTreeStep(subsysnqn) +
	       "; with --force each disk appears twice, and mounting both destroys the file system";
}

int reportInTreeConflict(Context &context, const std::string &subsysnqn, const std::string &held)
{
	Json error = toJson(nofctl::makeError(held));
	error["code"] = "other_driver"; // no code of the library, which would connect
	if (context.json())
		context.print(Json{{"error", error}});
	context.complain("", nofctl::makeError(held), nextStep(subsysnqn));
	return static_cast<int>(ExitCode::otherDriver);
}

void warnInTreeConflict(Context &context, const std::string &subsysnqn, const std::string &held)
{
	context.warn("", nofctl::makeError(held), nextStep(subsysnqn));
}

std::vector<std::string> twinsOf(const Namespace &ns, const std::vector<NvmeDisk> &disks)
{
	std::vector<std::string> nodes;
	for (const NvmeDisk &twin : foreignTwins(ns.name, disks))
		nodes.push_back("/dev/" + twin.name);
	return nodes;
}

std::vector<std::string> sameIdentifiers(const Namespace &ns, const std::vector<Namespace> &namespaces)
{
	std::vector<std::string> names;
	for (const Namespace &other : namespaces)
		if (other.subsystem != ns.subsystem && !ns.wwid.empty() && other.wwid == ns.wwid)
			names.push_back(other.name);
	return names;
}

Json warnDuplicateIdentifiers(Context &context, const std::vector<Namespace> &namespaces)
{
	Json all = Json::object();
	for (const Namespace &ns : namespaces) {
		std::vector<std::string> nodes = sameIdentifiers(ns, namespaces);
		for (std::string &node : nodes)
			node.insert(0, "/dev/");
		if (nodes.empty())
			continue;
		all[ns.name] = nodes;
		context.warn("/dev/" + ns.name,
			     nofctl::makeError(fmt::format("{} in another subsystem has the same identifiers",
							   fmt::join(nodes, ", "))),
			     "links in /dev/disk/by-id point to only one of them");
	}
	return all;
}

Json warnInTreeDuplicates(Context &context, const std::vector<Namespace> &namespaces,
			  const std::vector<NvmeDisk> &disks)
{
	Json all = Json::object();
	for (const Namespace &ns : namespaces) {
		const std::vector<std::string> nodes = twinsOf(ns, disks);
		if (nodes.empty())
			continue;
		all[ns.name] = nodes;
		std::string words =
			fmt::format("the in-tree NVMe driver has the same namespace as {}", fmt::join(nodes, ", "));
		context.warn("/dev/" + ns.name, nofctl::makeError(words),
			     "mount only one of them; links in /dev/disk point to the disk that appeared first");
	}
	return all;
}

// ---- undo

namespace {

// The controller that this process created; empty if it created none, or if it is gone.
std::string madeHere(const Result<Connection> &result)
{
	if (result)
		return result->made ? result->name : "";
	return result.error().made ? result.error().object.name : "";
}

} // namespace

bool isFor(const Controller &controller, const ConnectOptions &options)
{
	return controller.subsysnqn == options.subsysnqn && controller.traddr == options.address.traddr &&
	       controller.trsvcid == options.address.trsvcid;
}

void undo(Context &context, Client &client, const std::vector<ConnectOptions> &wanted,
	  const std::vector<Result<Connection>> &results)
{
	for (std::size_t i = 0; i < results.size(); i++) {
		const std::string name = madeHere(results[i]);
		if (name.empty())
			continue;
		Result<Controller> now = client.controller(name);
		if (!now || !isFor(*now, wanted[i])) // removed, and the name may be in use again
			continue;
		Error note;
		note.message = "connected before the interruption; kept";
		if (now->state != ControllerState::live) {
			Result<void> gone = client.disconnect(name);
			note.message = gone ? "was connecting; removed" : gone.error().message;
		}
		context.warn(name, note, "");
	}
}
