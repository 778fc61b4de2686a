// SPDX-License-Identifier: LGPL-2.1-or-later
#include "connect_all.h"

#include <algorithm>
#include <csignal>
#include <poll.h>

#include <fmt/format.h>

#include <nvmeof/difference.h>

#include "signals.h"

using namespace nvmeof;
using namespace std::chrono_literals;

namespace {

constexpr std::chrono::milliseconds keepAliveOfService = 30s; // default of services that stay connected
constexpr std::chrono::milliseconds between = 1s;             // longest wait in poll()

Error asError(std::string message)
{
	Error error;
	error.message = std::move(message);
	return error;
}

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
		known->second = asError(*held);
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
				task.outcome.result = *std::move(now);
				connected_++;
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
