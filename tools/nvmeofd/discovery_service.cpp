// SPDX-License-Identifier: LGPL-2.1-or-later
#include "discovery_service.h"

#include <cerrno>
#include <syslog.h>
#include <tuple>

#include <fmt/format.h>

#include <nvmeof/difference.h>

#include "connections.h"
#include "libctl/discovery/service_nqn.h"
#include "libctl/runtime/journal.h"

using namespace nvmeof;
using namespace std::chrono_literals;

namespace nvmeofd {

using namespace runtime;

namespace {

constexpr std::chrono::milliseconds readTimeout = 30s;
constexpr std::chrono::milliseconds keepAlive = 30s; // default
// Poll interval; interval of checks in case that an event was lost
constexpr std::chrono::milliseconds pollEvery = 60s, checkEvery = 15min;
// Delay from an event to the read, jittered down to half of it: events come in bursts, and to all hosts at once
constexpr std::chrono::milliseconds readDebounce = 20ms;
// Limit of reads per second for a service with a flood of events
constexpr std::size_t maxReads = 5;
constexpr std::uint8_t discoveryLogPage = 0x70; // NVMe Base 2.0, figure 202

// All options that a connect uses. Does not compile if ConnectOptions gets another one: add it here.
auto all(const ConnectOptions &options)
{
	const auto &[transport, address, subsysnqn, hostnqn, hostid, identity, hostTraddr, hostIface, ioQueues,
		     pollQueues, queueSize, tags, keepAlive, reconnectDelay, ctrlLoss, fastIoFail, connectTimeout,
		     firstConnect, dhchapKey, dhchapCtrlKey, tls, tlsKey, concat, security, owner, stallTimeout, tos,
		     ackTimeout, retryCount, hdrDigest, dataDigest, sqFlow, duplicateConnect, idempotent] = options;
	// the place of a rule in the configuration may change
	return std::tie(transport, address, subsysnqn, hostnqn, hostid, identity, hostTraddr, hostIface, ioQueues,
			pollQueues, queueSize, tags, keepAlive, reconnectDelay, ctrlLoss, fastIoFail, connectTimeout,
			firstConnect, dhchapKey, dhchapCtrlKey, tls, tlsKey, concat, owner, stallTimeout, tos,
			ackTimeout, retryCount, hdrDigest, dataDigest, sqFlow, duplicateConnect, idempotent,
			security.auth, security.tls);
}

} // namespace

const char *toString(DiscoveryService::State state)
{
	switch (state) {
	case DiscoveryService::State::waiting:
		return "waiting";
	case DiscoveryService::State::connecting:
		return "connecting";
	case DiscoveryService::State::reading:
		return "reading";
	case DiscoveryService::State::watching:
		return "watching";
	case DiscoveryService::State::polling:
		return "polling";
	}
	return "unknown";
}

void Restarts::stopped(const std::string &key, Clock::time_point now)
{
	auto old = [&](const auto &one) { return now - one.second.notBefore > memory; };
	if (services_.size() >= max && !services_.contains(key))
		if (std::erase_if(services_, old); services_.size() >= max)
			services_.clear();
	Service &service = services_[key];
	if (service.notBefore > now)
		return; // it was not connected since the last time
	if (now - service.notBefore > memory)
		service.backoff.reset();
	service.notBefore = now + service.backoff.next();
}

std::chrono::milliseconds Restarts::delay(const std::string &key, Clock::time_point now) const
{
	auto found = services_.find(key);
	if (found == services_.end() || found->second.notBefore <= now)
		return 0ms;
	return std::chrono::ceil<std::chrono::milliseconds>(found->second.notBefore - now);
}

DiscoveryService::DiscoveryService(Loop &loop, Client &client, PlannedService planned, std::optional<bool> hold,
				   Callbacks callbacks)
	: client_(client), planned_(std::move(planned)), callbacks_(std::move(callbacks)), hold_(hold),
	  persistent_(hold.value_or(true)), backoff_(1s, 60s), retry_(loop, [this] { connect(); }),
	  readTimer_(loop, [this] { readIfLive(); }), registration_(loop, planned_.key, [this] {
		  return client_.startRegister(controller_, options(), readTimeout);
	  })
{
}

bool DiscoveryService::serves(const PlannedService &planned, std::optional<bool> hold) const
{
	return all(planned_.options) == all(planned.options) && hold_ == hold;
}

void DiscoveryService::begin(std::chrono::milliseconds delay)
{
	if (delay > 0ms)
		retry_.start(delay);
	else
		connect();
}

ConnectOptions DiscoveryService::options() const
{
	ConnectOptions options = planned_.options;
	options.subsysnqn = nofctl::serviceNqn(options.subsysnqn);
	options.owner = owner;
	if (!persistent_)
		return options;
	if (!options.keepAlive)
		options.keepAlive = keepAlive;
	options.ctrlLoss = -1ms;
	options.firstConnect = -1ms;
	options.idempotent = true;
	return options;
}

void DiscoveryService::connect()
{
	if (!persistent_) {
		read();
		return;
	}
	state_ = State::connecting;
	Result<Controller> made = client_.start(options());
	if (made)
		return adopt(*made);
	fail(made.error());
	retryLater();
}

void DiscoveryService::adopt(const Controller &controller)
{
	controller_ = controller.name;
	if (controller.state == ControllerState::live)
		read();
}

// The controller as the kernel has it now. Names are reused: noSuchObject, if another controller has its name.
Result<Controller> DiscoveryService::present()
{
	Result<Controller> there = client_.controller(controller_);
	if (!there || isConnection(*there, options()))
		return there;
	Error other = errorFromErrno(ENODEV, controller_ + " is another controller now");
	other.code = ErrorCode::noSuchObject;
	return other;
}

void DiscoveryService::retryLater()
{
	state_ = State::waiting;
	retry_.start(backoff_.next());
}

// Logs only the first failure since the last successful read
void DiscoveryService::fail(const Error &error)
{
	if (lastError_.empty())
		say(LOG_WARNING, fmt::format("discovery service {}: {}", key(), error.message),
		    {.service = key(), .controller = controller_});
	lastError_ = error.message.empty() ? "failed" : error.message;
	callbacks_.failed();
}

void DiscoveryService::readSoon()
{
	if (state_ == State::reading)
		readAgain_ = true;
	else if (persistent_ ? state_ != State::connecting && state_ != State::waiting : true)
		readTimer_.start(untilNextRead());
	else if (state_ == State::waiting)
		retry_.start(0ms);
}

std::chrono::milliseconds DiscoveryService::untilNextRead()
{
	auto now = std::chrono::steady_clock::now();
	while (!recent_.empty() && now - recent_.front() > 1s)
		recent_.pop_front();
	if (recent_.size() < maxReads)
		return nofctl::jittered(readDebounce);
	return std::chrono::ceil<std::chrono::milliseconds>(recent_.front() + 1s - now);
}

// While the kernel is reconnecting, waits for its event instead.
void DiscoveryService::readIfLive()
{
	if (persistent_ && !controller_.empty()) {
		Result<Controller> there = present();
		if (!there && there.error().code == ErrorCode::noSuchObject)
			return missing();
		if (there && there->state != ControllerState::live) {
			state_ = State::connecting;
			return;
		}
	}
	read();
}

void DiscoveryService::read()
{
	if (state_ == State::reading)
		return;
	state_ = State::reading;
	readAgain_ = false;
	readTimer_.stop();
	retry_.stop();
	recent_.push_back(std::chrono::steady_clock::now());
	pending_ = persistent_ ? client_.startDiscover(controller_, readTimeout)
			       : client_.startDiscover(options(), readTimeout);
	pending_.then([this] { got(pending_.take()); });
}

void DiscoveryService::got(Result<DiscoveryLog> log)
{
	readFailed_ = !log;
	if (!log) {
		fail(log.error());
		if (controller_.empty())
			retryLater();
		else // the controller still exists: wait for its event, or read again after the back-off
			state_ = State::connecting, readTimer_.start(backoff_.next());
		return;
	}
	backoff_.reset();
	readAt_ = std::chrono::steady_clock::now();
	reads_++;
	state_ = persistent_ ? State::watching : State::polling;
	if (readAgain_)
		readTimer_.start(untilNextRead());
	else
		readTimer_.start(nofctl::jittered(persistent_ ? checkEvery : pollEvery));
	if (persistent_)
		registration_.begin();
	if (Result<void> used = callbacks_.told(*std::move(log)); !used)
		return fail(used.error());
	if (!lastError_.empty())
		say(LOG_INFO, fmt::format("discovery service {}: responds again", key()), {.service = key()});
	lastError_.clear();
}

void DiscoveryService::disconnected()
{
	pending_.cancel();
	registration_.end();
}

void DiscoveryService::event(const Event &event)
{
	if (controller_.empty())
		return;
	// events were lost before: that of the removal may be one of them
	if (event.type == EventType::synced)
		if (Result<Controller> there = present(); !there && there.error().code == ErrorCode::noSuchObject)
			return missing();
	if (event.name() != controller_)
		return;
	const Aen *aen = event.aen();
	if (event.type == EventType::aen && aen && aen->logPage == discoveryLogPage)
		readSoon();
	else if (event.controller())
		controllerEvent(event);
}

void DiscoveryService::controllerEvent(const Event &event)
{
	const Controller &controller = *event.controller();
	if (!isConnection(controller, options()))
		return missing();
	if (event.type == EventType::removed)
		return gone(controller);
	if (event.type == EventType::connectFailed)
		return fail(errorFromErrno(controller.lastErrno, event.reason));
	if (event.type != EventType::state && event.type != EventType::present)
		return;
	if (controller.state == ControllerState::live && state_ != State::reading) {
		// The log may have changed while there was no connection. A read that ended the connection would end
		// the next one, too: that service must not use one of the few threads for reads all the time.
		if (!readFailed_)
			read();
		else if (!readTimer_.running())
			readTimer_.start(backoff_.next());
	} else if (controller.state == ControllerState::recovering) {
		readFailed_ = readFailed_ || state_ == State::reading;
		disconnected();
		state_ = State::connecting;
		fail(errorFromErrno(controller.lastErrno, controller.lastError));
	}
}

// The controller was removed: by a user, or by the kernel after the service refused it with DNR.
void DiscoveryService::gone(const Controller &controller)
{
	disconnected();
	readTimer_.stop(); // there is no controller to read from
	controller_.clear();
	fail(errorFromErrno(controller.lastErrno, controller.lastError));
	if (controller.lastStatus && !readAt_ && !hold_) {
		persistent_ = false;
		say(LOG_NOTICE,
		    fmt::format(
			    "discovery service {}: refuses a persistent connection; its log is read every {} s", key(),
			    std::chrono::seconds(std::chrono::duration_cast<std::chrono::seconds>(pollEvery)).count()),
		    {.service = key()});
	}
	retryLater();
}

// The controller was removed, and the event of that was lost.
void DiscoveryService::missing()
{
	Controller controller;
	controller.lastErrno = ENODEV;
	controller.lastError = controller_ + " was removed";
	gone(controller);
}

void DiscoveryService::abandon()
{
	if (state_ == State::reading && !controller_.empty())
		(void)client_.reset(controller_);
}

void DiscoveryService::leave()
{
	disconnected();
	retry_.stop();
	readTimer_.stop();
	if (!controller_.empty())
		if (Result<Controller> there = present(); there && there->owner == owner)
			client_.startDisconnect(controller_);
	controller_.clear();
}

} // namespace nvmeofd
