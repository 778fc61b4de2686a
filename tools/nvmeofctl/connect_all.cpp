// SPDX-License-Identifier: LGPL-2.1-or-later
#include "connect_all.h"

#include <algorithm>
#include <csignal>
#include <ostream>
#include <poll.h>

#include <fmt/format.h>

#include <nvmeof/config.h>
#include <nvmeof/difference.h>

#include "configuration.h"
#include "connect_plan.h"
#include "context.h"
#include "documents.h"
#include "format.h"
#include "libctl/base/make_error.h"
#include "libctl/base/security.h"
#include "libctl/gpu/rails.h"
#include "policy.h"
#include "terminal.h"

using namespace nvmeof;
using namespace std::chrono_literals;

namespace {

constexpr std::chrono::milliseconds keepAliveOfService = 30s; // default of services that stay connected
constexpr std::chrono::milliseconds between = 1s;             // longest wait in poll()

} // namespace

ConnectAll::ConnectAll(Client &client, ConnectAllOptions order)
	: client_(client), order_(std::move(order)), present_(client)
{
}

std::chrono::milliseconds ConnectAll::left() const
{
	if (order_.wait.timeout < 0ms)
		return order_.wait.timeout;
	const auto passed = std::chrono::steady_clock::now() - begin_;
	return std::max(std::chrono::ceil<std::chrono::milliseconds>(order_.wait.timeout - passed), 1ms);
}

std::string ConnectAll::progress() const
{
	std::string text = fmt::format("{} of {} services read", read_.load(), services_.load());
	if (!order_.dryRun)
		text += fmt::format(", {} of {} paths connected", connected_.load(), wanted_.load());
	return text;
}

// Looked up once per subsystem.
std::optional<Error> ConnectAll::hasInTreeConflict(const std::string &nqn)
{
	auto [known, first] = held_.try_emplace(nqn);
	if (!first || order_.force)
		return known->second;
	if (std::optional<std::string> held = present_.inTreeConflict(nqn))
		known->second = nofctl::makeError(*held);
	return known->second;
}

void ConnectAll::startReading(const PlannedService &service)
{
	ConnectOptions options = service.options;
	Reading reading;
	if (order_.persistent && !order_.dryRun) {
		options.idempotent = true;
		options.keepAlive = options.keepAlive.value_or(keepAliveOfService);
		reading.connecting = client_.startConnect(options, {WaitFor::controller, left(), {}, {}});
	} else {
		reading.log = client_.startDiscover(options, left());
	}
	readings_.emplace(service.key, std::move(reading));
	services_++;
}

void ConnectAll::startConnecting(const PlannedConnection &connection)
{
	auto [task, fresh] = connections_.try_emplace(connectionKey(connection.options));
	if (!fresh)
		return;
	PathOutcome &outcome = task->second.outcome;
	outcome.options = connection.options;
	wanted_++;
	const Controller *there =
		connection.options.duplicateConnect ? nullptr : present_.find(connection.options, order_.rules.hostnqn);
	outcome.there = there != nullptr;
	if (there)
		if (Result<void> secure = nofctl::checkSecurity(connection.options.security, *there); !secure) {
			outcome.result = secure.error();
			return;
		}
	if (there && !order_.idempotent) {
		outcome.result = *there;
		connected_++;
		return;
	}
	if (std::optional<Error> held = hasInTreeConflict(connection.options.subsysnqn)) {
		outcome.result = *held;
		return;
	}
	WaitOptions wait = order_.wait;
	wait.timeout = left();
	if (there) {
		task->second.pending = client_.startWait(there->name, wait);
	} else {
		task->second.pending = client_.startConnect(connection.options, wait);
	}
	pending_++;
}

void ConnectAll::replan()
{
	plan_ = planDiscovery(order_.rules, order_.services, order_.fixed, known_);
	for (std::size_t i : plan_.unread())
		if (!readings_.contains(plan_.services[i].key))
			startReading(plan_.services[i]);
	if (order_.dryRun)
		return;
	for (const PlannedConnection &one : plan_.connections)
		startConnecting(one);
}

void ConnectAll::told(const std::string &key, Result<DiscoveryLog> log)
{
	KnownService &service = known_[key];
	read_++;
	if (log) {
		service.log = *std::move(log);
		return;
	}
	service.failed = true;
	failures_.emplace(key, log.error());
}

// Returns true if a log was read, or could not be read, so that a new plan is needed.
bool ConnectAll::collectLogs()
{
	bool news = false;
	for (auto at = readings_.begin(); at != readings_.end();) {
		auto &[key, reading] = *at;
		if (reading.connecting.ready()) {
			Result<Connection> kept = reading.connecting.take();
			if (kept)
				reading.log = client_.startDiscover(kept->name, left());
			else
				told(key, kept.error());
		}
		if (reading.log.ready())
			told(key, reading.log.take());
		const bool over = !reading.connecting.valid() && !reading.log.valid();
		news = news || over;
		at = over ? readings_.erase(at) : std::next(at);
	}
	return news;
}

void ConnectAll::collectConnections()
{
	for (auto &[key, task] : connections_) {
		if (!task.pending.ready())
			continue;
		Result<Connection> result = task.pending.take();
		pending_--;
		// Another process has connected after present_ was read.
		task.outcome.there |= !result && result.error().code == ErrorCode::alreadyConnected;
		if (task.outcome.there && !result && !result.error().object.none())
			if (Result<Controller> now = client_.controller(result.error().object.name)) {
				const SecurityRule &rule = task.outcome.options.security;
				if (Result<void> secure = nofctl::checkSecurity(rule, *now); !secure)
					now = secure.error();
				connected_ += now.ok();
				task.outcome.result = std::move(now);
				continue;
			}
		task.outcome.result = result ? Result<Controller>(*result) : Result<Controller>(result.error());
		connected_ += result.ok();
	}
}

int ConnectAll::run()
{
	Signals signals{SIGINT, SIGTERM, SIGHUP};
	for (replan(); !idle();) {
		client_.dispatch();
		collectConnections();
		if (collectLogs()) {
			replan();
			continue;
		}
		if (idle()) // no outstanding request would end poll()
			break;
		pollfd fds[] = {{client_.fd(), POLLIN, 0}, {signals.fd(), POLLIN, 0}};
		::poll(fds, 2, static_cast<int>(between.count()));
		if (int signal = signals.next()) {
			cancelAndWait();
			return signal;
		}
	}
	finish();
	return 0;
}

void ConnectAll::finish()
{
	for (const PlannedConnection &one : plan_.connections) {
		auto done = connections_.find(connectionKey(one.options));
		paths_.push_back(done != connections_.end() ? done->second.outcome : PathOutcome{one.options, {}, {}});
		if (order_.dryRun)
			paths_.back().there = present_.find(one.options, order_.rules.hostnqn) != nullptr;
	}
}

void ConnectAll::cancelAndWait()
{
	std::vector<ConnectOptions> unfinished;
	for (auto &[key, task] : connections_)
		if (task.pending.valid() && !task.outcome.there)
			unfinished.push_back(task.outcome.options);
	for (auto &[key, task] : connections_)
		task.pending.cancel();
	readings_.clear();
	present_.awaitRemoval([&](const Controller &now) {
		return std::ranges::any_of(unfinished,
					   [&](const ConnectOptions &options) { return isConnection(now, options); });
	});
}

// ---- the command: parameters and report

namespace {

// Collects the exit codes of failures, to choose that of the command.
class Tally {
public:
	void add(int code) { codes_.push_back(code); }
	// The common code if nothing succeeded, or if all failures are timeouts; otherwise "failed".
	int exitCode(bool anyGood) const
	{
		if (codes_.empty())
			return 0;
		const bool same = std::ranges::all_of(codes_, [&](int one) { return one == codes_.front(); });
		const bool late = codes_.front() == static_cast<int>(ExitCode::timedOut);
		return same && (late || !anyGood) ? codes_.front() : static_cast<int>(ExitCode::failed);
	}

private:
	std::vector<int> codes_;
};

// A host name that could not be resolved. Other names are not affected.
struct Unresolved {
	std::string what;
	Error error;
};

struct Order : ConnectAllOptions {
	Config config;
	std::vector<Unresolved> unresolved;
};

using Make = ConnectOptions (*)(const Config &, const ConfigTarget &, const Address &);

void resolve(Order &order, const std::vector<ConfigTarget> &targets, Make make, std::vector<ConnectOptions> &to)
{
	for (const ConfigTarget &target : targets)
		for (const std::string &text : target.addresses) {
			Result<std::vector<Address>> found = resolveAddress(text, target.port);
			if (!found) {
				order.unresolved.push_back({text, found.error()});
				continue;
			}
			for (const Address &address : *found)
				to.push_back(make(order.config, target, address));
		}
}

// Replaces the configured services and connections by the service of the command line.
void useCommandLineService(const Args &args, Config &config)
{
	ConfigTarget service;
	service.transport = args.textOr("transport", "tcp");
	service.addresses = args.all("traddr");
	service.port = args.textOr("trsvcid", discoveryPort);
	service.nqn = args.textOr("nqn", discoveryNqn);
	config.services = {service};
	config.connections.clear();
}

void takeHost(const Args &args, Config &config)
{
	if (std::optional<std::string> nqn = args.text("hostnqn")) {
		config.hostnqn = nqn;
		config.hostid.reset();
	}
	if (std::optional<std::string> id = args.text("hostid"))
		config.hostid = Uuid::parse(*id);
	for (auto *targets : {&config.services, &config.connections})
		for (ConfigTarget &target : *targets) {
			target.hostTraddr = args.textOr("host-traddr", target.hostTraddr);
			target.hostIface = args.textOr("host-iface", target.hostIface);
		}
}

// A command line with one kind of TLS replaces the other kind.
void applyLine(const ConnectSettings &line, ConnectOptions &options)
{
	if (line.concat.value_or(false)) {
		options.tls.reset();
		options.tlsKey.clear();
	} else if (line.tls || line.tlsKey) {
		options.concat = false;
	}
	line.apply(options);
}

Order orderOf(Context &context, Config config)
{
	const Args &args = context.args();
	Order order;
	order.config = std::move(config);
	if (args.has("traddr"))
		useCommandLineService(args, order.config);
	takeHost(args, order.config);
	for (const std::string &note : nofctl::gpu::spreadOverRails(order.config, nofctl::gpu::FolderTree()))
		context.note("rails", note);
	const ConnectSettings line = settingsOf(args);
	resolve(order, order.config.services, serviceOptions, order.services);
	resolve(order, order.config.connections, connectionOptions, order.fixed);
	for (ConnectOptions &options : order.services) {
		if (line.connectTimeout)
			options.connectTimeout = line.connectTimeout;
		if (!args.has("traddr"))
			continue;
		options.concat = line.concat.value_or(false);
		if (line.tls || options.concat) {
			options.tls = line.tls;
			options.tlsKey = line.tlsKey.value_or("");
		}
		options.dhchapKey = line.dhchapKey.value_or("");
		options.dhchapCtrlKey = line.dhchapCtrlKey.value_or("");
	}
	for (ConnectOptions &options : order.fixed)
		applyLine(line, options);
	order.rules = planRules(order.config);
	order.rules.settings = [line, config = order.config](const std::string &nqn) {
		ConnectSettings settings = line;
		settings.complete(config.connectSettingsFor(nqn));
		return settings;
	};
	if (order.rules.hostnqn.empty())
		if (Result<std::string> kept = readHostnqn())
			order.rules.hostnqn = *kept;
	order.rules.ownAddresses = ownAddresses();
	order.wait = {waitOf(args.textOr("wait", "ns")), args.seconds("timeout").value_or(defaultTimeout), {}, {}};
	order.dryRun = args.has("dry-run");
	order.persistent = args.has("persistent");
	order.idempotent = args.has("idempotent");
	order.force = args.has("force");
	return order;
}

std::string planned(const PathOutcome &path)
{
	return fmt::format("{} {} {} {}", path.there ? "keep" : "connect", path.options.transport,
			   path.options.address.toString(), path.options.subsysnqn);
}

class Report {
public:
	Report(Context &context, const ConnectAll &work, bool dryRun) : context_(context), work_(work), dryRun_(dryRun)
	{
	}

	void services();
	void paths();
	void refusals();
	void unresolved(const std::vector<Unresolved> &names);
	int finish(const Json &policies);

private:
	void fail(const std::string &subject, const Error &error, const std::string &step)
	{
		tally_.add(context_.complain(subject, error, step));
	}

	Context &context_;
	const ConnectAll &work_;
	const bool dryRun_;
	Tally tally_;
	bool anyGood_ = false;
	Json services_ = Json::array(), results_ = Json::array(), refused_ = Json::array();
};

void Report::unresolved(const std::vector<Unresolved> &names)
{
	for (const Unresolved &one : names) {
		fail(one.what, one.error, nameStep(one.error));
		services_.push_back({{"address", one.what}, {"state", "failed"}, {"error", toJson(one.error)}});
	}
}

// A failure is reported only if no equivalent service (service.same) was read.
void Report::services()
{
	const Plan &plan = work_.plan();
	auto told = [&](std::size_t i) { return plan.services[i].state == PlannedService::State::told; };
	for (const PlannedService &service : plan.services) {
		Json entry = serviceEntry(plan, service, work_.known());
		if (auto failed = work_.failures().find(service.key); failed != work_.failures().end()) {
			entry["error"] = toJson(failed->second);
			if (std::ranges::none_of(service.same, told))
				fail(service.options.address.toString(), failed->second,
				     connectNextStep(failed->second, service.options));
		} else if (dryRun_ && !context_.json()) {
			context_.out() << fmt::format("service {} {}\n", service.key, toString(service.state));
		}
		services_.push_back(entry);
	}
}

void Report::paths()
{
	for (const PathOutcome &path : work_.paths()) {
		const std::string address = path.options.address.toString();
		Json entry = pathEntry(path.options, path.there);
		if (path.result && *path.result) {
			const Controller &controller = **path.result;
			anyGood_ = true;
			entry["controller"] = toJson(controller);
			if (!context_.json())
				context_.out() << formatReached(controller, path.there);
		} else if (path.result) {
			const Error &error = path.result->error();
			entry["error"] = toJson(error);
			fail(address + " " + path.options.subsysnqn, error, connectNextStep(error, path.options));
		} else if (!context_.json()) {
			context_.out() << planned(path) << "\n";
		}
		results_.push_back(entry);
	}
}

void Report::refusals()
{
	const Plan &plan = work_.plan();
	for (const Refusal &one : plan.refusals) {
		refused_.push_back(refusalEntry(plan, one));
		context_.note(one.what, "not connected: " + one.reason);
	}
	if (plan.moreRefusals)
		context_.note(std::to_string(plan.moreRefusals) + " more entries", "not connected");
}

int Report::finish(const Json &policies)
{
	if (context_.json())
		context_.print(connectAllDocument(services_, results_, refused_, policies));
	return tally_.exitCode(anyGood_);
}

// The subsystems that are not in @before, without discovery services.
std::vector<Subsystem> newSubsystems(Client &client, const std::vector<Subsystem> &before)
{
	std::vector<Subsystem> now = subsystemsSince(client, before);
	std::erase_if(now, [](const Subsystem &one) { return one.nqn == discoveryNqn; });
	return now;
}

} // namespace

int runConnectAll(Context &context)
{
	for (const char *option : {"nqn", "transport", "trsvcid"})
		if (context.args().has(option) && !context.args().has("traddr"))
			return context.fail("",
					    usageError(fmt::format("--{} needs --traddr, the address of the discovery "
								   "service; without it, the configuration is used",
								   option)));
	Result<Config> config = configuration(context.args());
	if (!config)
		return context.fail("", config.error(), configStep(config.error()));
	Order order = orderOf(context, *std::move(config));
	if (order.services.empty() && order.fixed.empty() && order.unresolved.empty())
		return context.fail("", usageError(fmt::format(
						"no discovery service: give one with --traddr, or configure one in {}",
						defaultConfigFile)));
	// Loads one transport's module only. Entries of the other transport fail alone if its module is missing.
	Result<Client> client = Client::open({"nvmeof_" + context.args().textOr("transport", "tcp")});
	if (!client)
		return context.fail("", client.error());
	Result<std::vector<Subsystem>> before = client->subsystems();
	if (!before)
		return context.fail("", before.error());
	ConnectAll work(*client, order);
	int signal = 0;
	{
		Progress progress("connect-all", [&](Client &) { return work.progress(); });
		signal = work.run();
	}
	if (signal) {
		Client(*std::move(client)); // its destructor waits until connections to services are down
		exitBySignal(signal);
	}
	Report report(context, work, order.dryRun);
	report.unresolved(order.unresolved);
	report.services();
	report.paths();
	report.refusals();
	Json policies = order.dryRun ? Json::array()
				     : applyToNew(context, *client, newSubsystems(*client, *before), order.config);
	return report.finish(policies);
}
