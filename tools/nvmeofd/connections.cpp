// SPDX-License-Identifier: LGPL-2.1-or-later
#include "connections.h"

#include <algorithm>
#include <memory>
#include <set>
#include <syslog.h>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "libctl/base/security.h"
#include "libctl/runtime/journal.h"

using namespace nvmeof;
using namespace std::chrono_literals;

namespace nvmeofd {

using namespace runtime;

namespace {

// Connects requested at a time; the others follow in the next turn of the loop
constexpr std::size_t maxAtOnce = 64;
// Limits of remembered connections that are no longer wanted. The delay of a connection
// that was wanted for longer than @memory starts anew.
constexpr std::chrono::minutes memory{2};
constexpr std::size_t maxUnwanted = 4096;

Fields fieldsOf(const ConnectOptions &options, const std::string &controller)
{
	return {.nqn = options.subsysnqn, .controller = controller, .address = options.address.toString()};
}

} // namespace

Connections::Connections(Loop &loop, Client &client, KeyUpdates &keys, std::function<void()> again)
	: client_(client), keys_(keys), again_(again), retry_(loop, std::move(again))
{
}

std::map<std::string, std::string> insecureControllers(const std::vector<Change> &changes,
						       const std::vector<PlannedConnection> &wanted,
						       SecurityRules services, const std::vector<Controller> &present)
{
	SecurityRules rules = std::move(services);
	for (const Change &change : changes)
		if (change.kind == Change::Kind::keep && change.wanted)
			rules.emplace(change.controller, &wanted[*change.wanted].options.security);
	std::map<std::string, std::string> insecure;
	for (const Controller &one : present)
		if (auto rule = rules.find(one.name); rule != rules.end())
			if (Result<void> secure = nofctl::checkSecurity(*rule->second, one); !secure)
				insecure.emplace(one.name, secure.error().message);
	return insecure;
}

std::function<bool(const ConnectOptions &options)> presence(const std::vector<Controller> &present)
{
	auto keyOf = [](const std::string &nqn, const std::string &traddr, const std::string &trsvcid) {
		return nqn + " " + normalTraddr(traddr) + " " + trsvcid;
	};
	auto index = std::make_shared<std::unordered_multimap<std::string, const Controller *>>();
	for (const Controller &one : present)
		index->emplace(keyOf(one.subsysnqn, one.traddr, one.trsvcid), &one);
	return [index, keyOf](const ConnectOptions &options) {
		auto [at, end] =
			index->equal_range(keyOf(options.subsysnqn, options.address.traddr, options.address.trsvcid));
		return std::any_of(at, end, [&](const auto &one) { return isConnection(*one.second, options); });
	};
}

void Connections::apply(const std::vector<Change> &changes, const std::vector<PlannedConnection> &wanted,
			SecurityRules services, const std::vector<Controller> &present,
			std::chrono::steady_clock::time_point now)
{
	keep(changes);
	tellInsecure(insecureControllers(changes, wanted, std::move(services), present));
	std::optional<std::chrono::steady_clock::time_point> next;
	std::set<std::string> keys;
	std::size_t asked = 0;
	for (const Change &change : changes) {
		if (change.kind == Change::Kind::disconnect)
			disconnect(change);
		if (!change.wanted)
			continue;
		const ConnectOptions &options = wanted[*change.wanted].options;
		std::string key = connectionKey(options);
		auto attempt = attempts_.find(key);
		keys.insert(key);
		if (attempt != attempts_.end() && std::exchange(attempt->second.unwanted, {}))
			attempt->second.wanted = now;
		if (change.kind != Change::Kind::connect)
			continue;
		auto when = attempt == attempts_.end() ? now : attempt->second.notBefore;
		if (when <= now && asked++ < maxAtOnce)
			connect(options);
		else
			next = std::min(next.value_or(when), std::max(when, now));
	}
	unwant(keys, now);
	for (const auto &[key, attempt] : attempts_)
		if (!attempt.unwanted && !attempt.error.empty() && attempt.notBefore > now)
			next = std::min(next.value_or(attempt.notBefore), attempt.notBefore);
	if (next)
		retry_.start(std::chrono::ceil<std::chrono::milliseconds>(*next - now));
	else
		retry_.stop();
}

// A connection that is wanted again soon is delayed, more each time.
void Connections::unwant(const std::set<std::string> &wanted, std::chrono::steady_clock::time_point now)
{
	std::size_t unwanted = 0;
	for (auto &[key, attempt] : attempts_) {
		if (wanted.contains(key))
			continue;
		unwanted++;
		if (attempt.unwanted)
			continue;
		attempt.unwanted = now;
		if (now - attempt.wanted > memory)
			attempt.returns.reset();
		attempt.notBefore = std::max(attempt.notBefore, now + attempt.returns.next());
		attempt.error.clear();
	}
	std::erase_if(attempts_, [&](const auto &one) {
		return one.second.unwanted && (unwanted > maxUnwanted || now - *one.second.unwanted > memory);
	});
}

// Logs each unwanted controller once.
void Connections::keep(const std::vector<Change> &changes)
{
	std::map<std::string, std::string> before = std::exchange(kept_, {});
	for (const Change &change : changes) {
		if (change.kind != Change::Kind::keep || change.wanted)
			continue;
		kept_[change.controller] = change.reason;
		if (before[change.controller] != change.reason)
			say(LOG_INFO, fmt::format("{}: not disconnected: {}", change.controller, change.reason),
			    {.controller = change.controller});
	}
}

// Logs each of them once.
void Connections::tellInsecure(std::map<std::string, std::string> now)
{
	for (const auto &[controller, message] : now)
		if (auto before = insecure_.find(controller); before == insecure_.end() || before->second != message)
			say(LOG_WARNING, fmt::format("{}: not accepted as connected: {}", controller, message),
			    {.controller = controller});
	insecure_ = std::move(now);
}

void Connections::connect(const ConnectOptions &wanted)
{
	ConnectOptions options = wanted;
	options.owner = owner;
	if (!options.firstConnect)
		options.firstConnect = -1ms;
	if (!options.ctrlLoss)
		options.ctrlLoss = -1ms;
	Attempt &attempt = attempts_[connectionKey(options)];
	const std::string version = KeyUpdates::versionOf(options);
	Result<Controller> made = client_.start(options);
	if (made) {
		keys_.created(made->name, version);
		attempt.controller = made->name;
		say(limit_, LOG_INFO,
		    fmt::format("{}: connecting to {} at {}", made->name, options.subsysnqn,
				options.address.toString()),
		    fieldsOf(options, made->name));
		return;
	}
	// it was connected after the snapshot, or belongs to another host identity
	if (made.error().code == ErrorCode::alreadyConnected)
		attempt.controller = made.error().object.name;
	if (attempt.error != made.error().message)
		say(limit_, LOG_WARNING,
		    fmt::format("cannot connect to {} at {}: {}", options.subsysnqn, options.address.toString(),
				made.error().message),
		    fieldsOf(options, ""));
	failed(attempt, made.error().message);
}

void Connections::failed(Attempt &attempt, const std::string &why)
{
	attempt.error = why.empty() ? "failed" : why;
	attempt.notBefore = std::chrono::steady_clock::now() + attempt.backoff.next();
}

void Connections::disconnect(const Change &change)
{
	say(limit_, LOG_NOTICE, fmt::format("{}: disconnecting: {}", change.controller, change.reason),
	    {.controller = change.controller});
	client_.startDisconnect(change.controller);
	for (auto &[key, attempt] : attempts_)
		if (attempt.controller == change.controller)
			attempt.controller.clear(); // its removal is not a failure
}

void Connections::event(const Event &event)
{
	const Controller *controller = event.controller();
	if (!controller)
		return;
	for (auto &[key, attempt] : attempts_) {
		if (attempt.controller != controller->name)
			continue;
		if (event.type == EventType::connectFailed) {
			attempt.error = event.reason;
		} else if (event.type == EventType::removed) {
			attempt.controller.clear();
			failed(attempt, controller->lastError.empty() ? "disconnected by a user or another program"
								      : controller->lastError);
			again_();
		} else if (controller->state == ControllerState::live) {
			attempt.error.clear();
			attempt.backoff.reset();
		}
	}
}

const Connections::Attempt *Connections::attempt(const ConnectOptions &options) const
{
	auto found = attempts_.find(connectionKey(options));
	return found == attempts_.end() ? nullptr : &found->second;
}

} // namespace nvmeofd
