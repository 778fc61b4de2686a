// SPDX-License-Identifier: LGPL-2.1-or-later
#include <nvmeof/client.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <system_error>
#include <thread>
#include <unistd.h>

#include <nvmeof/name.h>

#include "connect_wait.h"
#include "discovery.h"
#include "module.h"
#include "session.h"
#include "version.h"

namespace nvmeof {

using nofctl::ConnectWait;
using nofctl::Session;

struct Client::Impl {
	Session session;
};

namespace {

// A deletion waits for its controller's shutdown; many go on side by side.
constexpr std::size_t parallelDeletions = 16;
constexpr std::chrono::milliseconds makingTimeout{5000}, makingInterval{20};

Error noSuch(std::string_view name, const char *what)
{
	Error error;
	error.code = ErrorCode::noSuchObject;
	error.sysErrno = ENODEV;
	error.message = "'" + std::string(name) + "' is not the name of a " + what;
	error.object = ErrorObject::named(std::string(name));
	return error;
}

// @name without /dev/, when it is of that kind.
Result<ObjectName> checkName(std::string_view name, ObjectKind kind)
{
	std::optional<ObjectName> parsed = parseName(name);
	if (!parsed || parsed->kind() != kind)
		return noSuch(name, toString(kind));
	return *parsed;
}

// Calls @action with the plain name of a controller.
template <typename F> auto withController(std::string_view name, F action) -> decltype(action(std::string()))
{
	Result<ObjectName> parsed = checkName(name, ObjectKind::controller);
	if (!parsed)
		return parsed.error();
	return action(parsed->toString());
}

template <typename T> Result<AnyObject> asAny(Result<T> object)
{
	return object ? Result<AnyObject>(AnyObject(*std::move(object))) : Result<AnyObject>(object.error());
}

// One that is just being made is so for a moment. @subsysnqn: of what it has to be; may be left out
Result<void> deleteOne(Session &session, const std::string &name, const std::string &subsysnqn = "")
{
	for (auto end = nofctl::deadlineIn(makingTimeout);; std::this_thread::sleep_for(makingInterval)) {
		Result<void> done = session.remove(name, subsysnqn);
		if (done || done.error().sysErrno != EAGAIN || nofctl::Clock::now() > end)
			return done;
	}
}

// A controller that it names is gone; a file is not.
Error withoutController(Error error)
{
	if (error.object.kind != ErrorObject::Kind::file) {
		error.object = {};
		error.left.reset();
	}
	return error;
}

// Takes controllers off a shared list until it is empty. One that is gone by then is what was asked for, also if
// another one has its name. Who has no socket leaves the list to others.
void deleteFrom(Session &session, const std::vector<Controller> &controllers, std::atomic<std::size_t> &next,
		std::vector<Result<void>> &results)
{
	for (std::size_t i = next++; i < controllers.size(); i = next++) {
		Result<void> done = deleteOne(session, controllers[i].name, controllers[i].subsysnqn);
		if (!done && done.error().code != ErrorCode::noSuchObject)
			results[i] = done;
	}
}

// Whether there is one more: memory for a thread may be short, which is no reason not to disconnect.
bool helpDelete(std::vector<std::jthread> &helpers, const std::vector<Controller> &controllers,
		std::atomic<std::size_t> &next, std::vector<Result<void>> &results)
{
	try {
		helpers.emplace_back([&] {
			if (Result<Session> session = Session::open())
				deleteFrom(*session, controllers, next, results);
		});
		return true;
	} catch (const std::system_error &) {
		return false;
	}
}

Result<std::vector<std::string>> deleteAll(Session &session, const std::vector<Controller> &controllers)
{
	std::vector<Result<void>> results(controllers.size());
	std::atomic<std::size_t> next = 0;
	{
		std::vector<std::jthread> helpers;
		for (std::size_t i = 1; i < std::min(controllers.size(), parallelDeletions); i++)
			if (!helpDelete(helpers, controllers, next, results))
				break;
		deleteFrom(session, controllers, next, results);
	}
	std::vector<std::string> names;
	for (std::size_t i = 0; i < controllers.size(); i++) {
		names.push_back(controllers[i].name);
		if (results[i])
			continue;
		Error error = results[i].error();
		error.object = ErrorObject::named(names[i]);
		return error;
	}
	return names;
}

} // namespace

const char *libraryVersion()
{
	return nofctl::version;
}

Client::Client(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Client::Client(Client &&) noexcept = default;
Client &Client::operator=(Client &&) noexcept = default;
Client::~Client() = default;

Result<Client> Client::open(const OpenOptions &options)
{
	Result<Session> session = Session::open();
	bool missing = !session && session.error().code == ErrorCode::noModule && session.error().sysErrno == ENOENT;
	if (missing && !options.loadModule.empty() && ::geteuid() == 0) {
		if (nofctl::loadModule(options.loadModule)) {
			session = Session::open();
		} else {
			Error error = session.error();
			error.message += ", and modprobe failed: is it installed for this kernel?";
			return error;
		}
	}
	if (!session)
		return session.error();
	return Client(std::make_unique<Impl>(Impl{*std::move(session)}));
}

Result<ModuleVersion> Client::version()
{
	return impl_->session.version();
}

Result<std::vector<Subsystem>> Client::subsystems()
{
	return impl_->session.subsystems();
}

Result<std::vector<Controller>> Client::controllers(std::optional<std::uint32_t> subsystem)
{
	return impl_->session.controllers(subsystem);
}

Result<std::vector<Namespace>> Client::namespaces(std::optional<std::uint32_t> subsystem)
{
	return impl_->session.namespaces(subsystem);
}

Result<std::vector<Path>> Client::paths(const PathFilter &filter)
{
	return impl_->session.paths(filter);
}

Result<Subsystem> Client::subsystem(std::string_view name)
{
	Result<ObjectName> parsed = checkName(name, ObjectKind::subsystem);
	return parsed ? impl_->session.subsystem(parsed->subsystem) : Result<Subsystem>(parsed.error());
}

Result<Controller> Client::controller(std::string_view name)
{
	return withController(name, [&](const std::string &plain) { return impl_->session.controller(plain); });
}

Result<Namespace> Client::nameSpace(std::string_view name)
{
	Result<ObjectName> parsed = checkName(name, ObjectKind::nameSpace);
	return parsed ? impl_->session.nameSpace(parsed->toString()) : Result<Namespace>(parsed.error());
}

Result<Path> Client::path(std::string_view name)
{
	Result<ObjectName> parsed = checkName(name, ObjectKind::path);
	return parsed ? impl_->session.path(parsed->toString()) : Result<Path>(parsed.error());
}

Result<AnyObject> Client::find(std::string_view name)
{
	std::optional<ObjectName> parsed = parseName(name);
	if (!parsed)
		return noSuch(name, "subsystem, controller, namespace or path");
	switch (parsed->kind()) {
	case ObjectKind::subsystem:
		return asAny(subsystem(name));
	case ObjectKind::controller:
		return asAny(controller(name));
	case ObjectKind::nameSpace:
		return asAny(nameSpace(name));
	case ObjectKind::path:
		return asAny(path(name));
	}
	return noSuch(name, "object");
}

Result<Controller> Client::start(const ConnectOptions &options)
{
	return connect(options, WaitFor::none);
}

Result<Controller> Client::connect(const ConnectOptions &options, WaitFor wait, std::chrono::milliseconds timeout)
{
	return connectAll(std::span(&options, 1), wait, timeout).front();
}

std::vector<Result<Controller>> Client::connectAll(std::span<const ConnectOptions> options, WaitFor wait,
						   std::chrono::milliseconds timeout, std::stop_token stop)
{
	Result<ConnectWait> waiter = ConnectWait::begin(impl_->session, wait, timeout, std::move(stop));
	if (!waiter)
		return std::vector<Result<Controller>>(options.size(), waiter.error());
	for (const ConnectOptions &one : options)
		waiter->start(one);
	return waiter->finish();
}

Result<Controller> Client::waitFor(std::string_view controller, WaitFor wait, std::chrono::milliseconds timeout)
{
	return withController(controller, [&](const std::string &name) -> Result<Controller> {
		Result<ConnectWait> waiter = ConnectWait::begin(impl_->session, wait, timeout);
		if (!waiter)
			return waiter.error();
		waiter->join(name);
		return waiter->finish().front();
	});
}

Result<DiscoveryLog> Client::discover(const ConnectOptions &options, std::chrono::milliseconds timeout,
				      std::stop_token stop)
{
	ConnectOptions asked = options;
	if (asked.subsysnqn.empty())
		asked.subsysnqn = discoveryNqn;
	if (!asked.keepAlive)
		asked.keepAlive = std::chrono::milliseconds(0);
	asked.ioQueues = 1; // should it be no discovery controller
	asked.duplicateConnect = true;
	nofctl::DiscoveryVisit visit(impl_->session, timeout, std::move(stop));
	Result<DiscoveryLog> log = visit.read(asked);
	Result<void> removed;
	if (!visit.made().empty())
		removed = deleteOne(impl_->session, visit.made(), asked.subsysnqn);
	bool there = !removed && removed.error().code != ErrorCode::noSuchObject; // not given up by then
	if (!log)
		return there ? log.error() : withoutController(log.error());
	if (there)
		return removed.error();
	return log;
}

Result<DiscoveryLog> Client::discover(std::string_view controller, std::chrono::milliseconds timeout,
				      std::stop_token stop)
{
	return withController(controller, [&](const std::string &name) {
		return nofctl::DiscoveryVisit(impl_->session, timeout, std::move(stop)).read(name);
	});
}

Result<void> Client::disconnect(std::string_view controller)
{
	return withController(controller, [&](const std::string &name) { return deleteOne(impl_->session, name); });
}

Result<std::vector<std::string>> Client::disconnectNqn(std::string_view subsysnqn)
{
	Result<std::vector<Controller>> there = controllers();
	if (!there)
		return there.error();
	std::erase_if(*there, [&](const Controller &controller) { return controller.subsysnqn != subsysnqn; });
	if (!there->empty())
		return deleteAll(impl_->session, *there);
	Error error;
	error.code = ErrorCode::noSuchObject;
	error.message = "no controller of subsystem " + std::string(subsysnqn);
	return error;
}

Result<std::vector<std::string>> Client::disconnectAll()
{
	Result<std::vector<Controller>> there = controllers();
	if (!there)
		return there.error();
	return deleteAll(impl_->session, *there);
}

Result<void> Client::reset(std::string_view controller)
{
	return withController(controller, [&](const std::string &name) { return impl_->session.reset(name); });
}

Result<void> Client::rescan(std::string_view controller)
{
	return withController(controller, [&](const std::string &name) {
		return impl_->session.rescan(name, nofctl::Clock::time_point::max()); // the kernel bounds it
	});
}

Result<void> Client::set(std::string_view controller, const ControllerSettings &settings)
{
	return withController(controller, [&](const std::string &name) { return impl_->session.set(name, settings); });
}

Result<void> Client::set(std::string_view subsystem, const SubsystemSettings &settings)
{
	Result<ObjectName> parsed = checkName(subsystem, ObjectKind::subsystem);
	return parsed ? impl_->session.set(parsed->subsystem, settings) : Result<void>(parsed.error());
}

} // namespace nvmeof
