// SPDX-License-Identifier: LGPL-2.1-or-later
// connect-nbft: connects to the subsystems that the firmware was connected to.
#include <algorithm>
#include <csignal>
#include <ostream>
#include <poll.h>

#include <fmt/format.h>

#include <nvmeof/difference.h>

#include "configuration.h"
#include "connect_plan.h"
#include "context.h"
#include "documents.h"
#include "format.h"
#include "nbft.h"
#include "policy.h"
#include "terminal.h"

using namespace nvmeof;
using namespace std::chrono_literals;

namespace {

constexpr std::chrono::milliseconds noLimit = -1ms;
constexpr std::chrono::milliseconds bootPollInterval = 1s;

// The paths to one subsystem. One connected path is enough.
struct BootSubsystem {
	std::string nqn;
	std::vector<ConnectOptions> options;
	Pending<std::vector<Result<Connection>>> pending;
	std::vector<Result<Connection>> results; // one for each of options; empty: not tried
};

// Host identity of the command line instead of the table's; settings of command line and configuration.
void complete(ConnectOptions &options, const Args &args, const ConnectSettings &defaults)
{
	if (std::optional<std::string> nqn = args.text("hostnqn")) {
		options.hostnqn = nqn;
		options.hostid.reset();
	}
	if (std::optional<std::string> id = args.text("hostid"))
		options.hostid = Uuid::parse(*id);
	ConnectSettings settings = settingsOf(args);
	settings.complete(defaults);
	// the root file system may be on it: never give a path up
	settings.firstConnect = settings.firstConnect.value_or(noLimit);
	settings.ctrlLoss = settings.ctrlLoss.value_or(noLimit);
	settings.apply(options);
}

// Errors: the [[security]] rules of the configuration are not known.
Result<std::vector<BootSubsystem>> bySubsystem(const nofctl::nbft::Paths &paths, const Args &args,
					       const ConfigReading &reading)
{
	std::vector<BootSubsystem> all;
	for (const nofctl::nbft::Path &path : paths.paths) {
		ConnectOptions options = path.options;
		const Result<ConnectSettings> defaults = reading.connectSettingsFor(options.subsysnqn);
		if (!defaults)
			return defaults.error();
		complete(options, args, *defaults);
		auto same = [&](const BootSubsystem &one) { return one.nqn == options.subsysnqn; };
		auto found = std::ranges::find_if(all, same);
		if (found == all.end())
			found = all.insert(all.end(), {options.subsysnqn, {}, {}, {}});
		found->options.push_back(std::move(options));
	}
	return all;
}

bool isOf(const Controller &controller, const BootSubsystem &subsystem)
{
	return std::ranges::any_of(subsystem.options,
				   [&](const ConnectOptions &options) { return isFor(controller, options); });
}

class BootConnect {
public:
	BootConnect(Context &context, Client &client, std::vector<BootSubsystem> subsystems)
		: context_(context), client_(client), subsystems_(std::move(subsystems)), before_(client)
	{
	}

	void plan(std::span<const nofctl::nbft::Skipped> skipped);
	int run();                 // 0, or the signal that ended it
	int report(Json &results); // exit code
	std::vector<Subsystem> made(const std::vector<Subsystem> &before);

private:
	void start(BootSubsystem &subsystem);
	bool collect();
	void cancelAndWait();
	std::string progress(Client &own) const;
	void tell(const ConnectOptions &options, const Result<Connection> &result, bool enough, Json &results);

	Context &context_;
	Client &client_;
	std::vector<BootSubsystem> subsystems_;
	const Present before_;
	int code_ = 0; // of the first that failed
};

void BootConnect::plan(std::span<const nofctl::nbft::Skipped> skipped)
{
	Json results = Json::array();
	for (const BootSubsystem &subsystem : subsystems_)
		for (const ConnectOptions &options : subsystem.options) {
			const bool there = before_.find(options);
			std::string from = options.hostTraddr.empty() ? "" : " from " + options.hostTraddr;
			from += options.hostIface.empty() ? "" : " through " + options.hostIface;
			results.push_back(pathEntry(options, there));
			if (!context_.json())
				context_.out()
					<< fmt::format("{} {} {} {}{}\n", there ? "keep" : "connect", options.transport,
						       options.address.toString(), options.subsysnqn, from);
		}
	if (context_.json())
		context_.print(connectNbftDocument(results, skipped, Json::array()));
}

// Refuses a subsystem that the in-tree driver is connected to: its disks would appear twice.
void BootConnect::start(BootSubsystem &subsystem)
{
	const Args &args = context_.args();
	std::optional<std::string> held = before_.inTreeConflict(subsystem.nqn);
	if (held && !args.has("force")) {
		const int code = reportInTreeConflict(context_, subsystem.nqn, *held);
		code_ = code_ ? code_ : code;
		return;
	}
	subsystem.pending =
		client_.startConnectAll(subsystem.options, {waitOf(args.textOr("wait", "ns")),
							    args.seconds("timeout").value_or(defaultTimeout),
							    {},
							    {},
							    Require::any});
}

// Returns true if no connect is outstanding.
bool BootConnect::collect()
{
	bool over = true;
	for (BootSubsystem &subsystem : subsystems_) {
		if (subsystem.pending.ready())
			subsystem.results = subsystem.pending.take();
		over = over && !subsystem.pending.valid();
	}
	return over;
}

std::string BootConnect::progress(Client &own) const
{
	const Present now(own);
	auto live = std::ranges::count_if(subsystems_, [&](const BootSubsystem &subsystem) {
		return std::ranges::any_of(now.controllers(), [&](const Controller &one) {
			return one.state == ControllerState::live && isOf(one, subsystem);
		});
	});
	return fmt::format("{} of {} subsystems connected", live, subsystems_.size());
}

int BootConnect::run()
{
	Signals signals{SIGINT, SIGTERM, SIGHUP};
	Progress progress("connect-nbft", [this](Client &own) { return this->progress(own); });
	for (BootSubsystem &subsystem : subsystems_)
		start(subsystem);
	while (!collect()) {
		pollfd fds[] = {{client_.fd(), POLLIN, 0}, {signals.fd(), POLLIN, 0}};
		::poll(fds, 2, static_cast<int>(bootPollInterval.count()));
		client_.dispatch();
		if (int signal = signals.next()) {
			cancelAndWait();
			return signal;
		}
	}
	return 0;
}

void BootConnect::cancelAndWait()
{
	for (BootSubsystem &subsystem : subsystems_)
		subsystem.pending.cancel();
	before_.awaitRemoval([&](const Controller &now) {
		return std::ranges::any_of(
			subsystems_, [&](const BootSubsystem &one) { return one.results.empty() && isOf(now, one); });
	});
}

void BootConnect::tell(const ConnectOptions &options, const Result<Connection> &result, bool enough, Json &results)
{
	const bool there = result && !result->made;
	Json entry = pathEntry(options, there);
	if (result) {
		entry["controller"] = toJson(static_cast<const Controller &>(*result));
		if (!context_.json())
			context_.out() << formatReached(*result, there);
	} else {
		const std::string subject = options.address.toString() + " " + options.subsysnqn;
		const std::string step = connectNextStep(result.error(), options);
		entry["error"] = toJson(result.error());
		if (enough) {
			context_.warn(subject, result.error(), step);
		} else {
			const int code = context_.complain(subject, result.error(), step);
			code_ = code_ ? code_ : code;
		}
	}
	results.push_back(entry);
}

int BootConnect::report(Json &results)
{
	for (const BootSubsystem &subsystem : subsystems_) {
		const bool enough = std::ranges::any_of(subsystem.results, [](const auto &one) { return one.ok(); });
		for (std::size_t i = 0; i < subsystem.results.size(); i++)
			tell(subsystem.options[i], subsystem.results[i], enough, results);
	}
	return code_;
}

// The subsystems of the tables that are not in @before.
std::vector<Subsystem> BootConnect::made(const std::vector<Subsystem> &before)
{
	std::vector<Subsystem> now = subsystemsSince(client_, before);
	std::erase_if(now, [&](const Subsystem &one) {
		return std::ranges::none_of(subsystems_,
					    [&](const BootSubsystem &other) { return other.nqn == one.nqn; });
	});
	return now;
}

} // namespace

int runConnectNbft(Context &context)
{
	const NbftTables found = readNbft(context);
	if (found.tables.empty())
		return found.code;
	const nofctl::nbft::Paths paths =
		nofctl::nbft::pathsOf(found.tables, nofctl::nbft::linksOfMachine(), context.args().has("all"));
	for (const std::string &note : paths.notes)
		context.note("NBFT", note);
	for (const nofctl::nbft::Skipped &one : paths.skipped)
		context.note(one.subsysnqn, "not connected: " + one.reason);
	const ConfigReading reading = inspectConfig();
	const Result<Config> config = reading.outcome();
	Result<std::vector<BootSubsystem>> subsystems = bySubsystem(paths, context.args(), reading);
	if (!subsystems)
		return context.fail("", subsystems.error(), configStep(subsystems.error()));
	if (!config)
		context.warn("", config.error(), configStep(config.error()));
	Result<Client> client = Client::open({"nvmeof_tcp"});
	if (!client)
		return context.fail("", client.error());
	Result<std::vector<Subsystem>> before = client->subsystems();
	if (!before)
		return context.fail("", before.error());
	BootConnect work(context, *client, *std::move(subsystems));
	if (context.args().has("dry-run")) {
		work.plan(paths.skipped);
		return found.code;
	}
	if (int signal = work.run())
		exitBySignal(signal);
	Json results = Json::array();
	const int code = work.report(results);
	Json policies = applyToNew(context, *client, work.made(*before), config);
	if (context.json())
		context.print(connectNbftDocument(results, paths.skipped, policies));
	return code ? code : found.code;
}
