// SPDX-License-Identifier: LGPL-2.1-or-later
#include <nvmeof/client.h>

#include <cerrno>
#include <unistd.h>

#include <nvmeof/name.h>

#include "libctl/discovery/service_nqn.h"
#include "libctl/keys/tls_keyring.h"
#include "libctl/netlink/admin_node.h"
#include "libctl/netlink/discovery_reader.h"
#include "libctl/netlink/module.h"
#include "libctl/netlink/operations.h"
#include "version.h"

namespace nvmeof {

using nofctl::Engine;

// The engine is allocated separately: operations hold its address, which must not change when a Client is moved.
struct [[gnu::visibility("hidden")]] Client::Impl
{
	std::unique_ptr<Engine> engine;

	nofctl::Session &session()
	{
		return engine->session();
	}
	// Waits for the result and takes it.
	template <typename T> T result(Pending<T> pending)
	{
		engine->wait(pending);
		return pending.take();
	}
};

namespace {

Error noSuch(std::string_view name, const char *what)
{
	Error error;
	error.code = ErrorCode::noSuchObject;
	error.sysErrno = ENODEV;
	error.message = "'" + std::string(name) + "' is not the name of a " + what;
	error.object = ErrorObject::named(std::string(name));
	return error;
}

// Checks that @name is the name of an object of that kind.
Result<ObjectName> checkName(std::string_view name, ObjectKind kind)
{
	std::optional<ObjectName> parsed = parseName(name);
	if (!parsed || parsed->kind() != kind)
		return noSuch(name, toString(kind));
	return *parsed;
}

// Calls @action with the controller's name without /dev/.
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

Error noneOf(std::string_view subsysnqn)
{
	Error error;
	error.code = ErrorCode::noSuchObject;
	error.message = "no controller of subsystem " + std::string(subsysnqn);
	return error;
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
	Result<std::unique_ptr<Engine>> engine = Engine::open(options.answer);
	bool missing = !engine && engine.error().code == ErrorCode::noModule && engine.error().sysErrno == ENOENT;
	if (missing && !options.loadModule.empty() && ::geteuid() == 0) {
		if (Result<void> loaded = nofctl::loadModule(options.loadModule); !loaded)
			return loaded.error();
		engine = Engine::open(options.answer);
	}
	if (!engine)
		return engine.error();
	return Client(std::make_unique<Impl>(Impl{*std::move(engine)}));
}

int Client::fd() const
{
	return impl_->engine->fd();
}

void Client::dispatch()
{
	impl_->engine->dispatch();
}

Result<ModuleVersion> Client::version()
{
	return impl_->session().version();
}

Result<std::vector<Subsystem>> Client::subsystems()
{
	return impl_->session().subsystems();
}

Result<std::vector<Controller>> Client::controllers(std::optional<std::uint32_t> subsystem)
{
	return impl_->session().controllers(subsystem);
}

Result<std::vector<Namespace>> Client::namespaces(std::optional<std::uint32_t> subsystem)
{
	return impl_->session().namespaces(subsystem);
}

Result<std::vector<Path>> Client::paths(const PathFilter &filter)
{
	return impl_->session().paths(filter);
}

Result<Subsystem> Client::subsystem(std::string_view name)
{
	Result<ObjectName> parsed = checkName(name, ObjectKind::subsystem);
	return parsed ? impl_->session().subsystem(parsed->subsystem) : Result<Subsystem>(parsed.error());
}

Result<Controller> Client::controller(std::string_view name)
{
	return withController(name, [&](const std::string &plain) { return impl_->session().controller(plain); });
}

Result<Namespace> Client::nameSpace(std::string_view name)
{
	Result<ObjectName> parsed = checkName(name, ObjectKind::nameSpace);
	return parsed ? impl_->session().nameSpace(parsed->toString()) : Result<Namespace>(parsed.error());
}

Result<Path> Client::path(std::string_view name)
{
	Result<ObjectName> parsed = checkName(name, ObjectKind::path);
	return parsed ? impl_->session().path(parsed->toString()) : Result<Path>(parsed.error());
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
	Result<Connection> started = connect(options, WaitFor::none);
	return started ? Result<Controller>(*started) : Result<Controller>(started.error());
}

Pending<Result<Connection>> Client::startConnect(const ConnectOptions &options, const WaitOptions &wait)
{
	return nofctl::startConnect(*impl_->engine, options, wait);
}

Result<Connection> Client::connect(const ConnectOptions &options, const WaitOptions &wait)
{
	return impl_->result(startConnect(options, wait));
}

Result<Connection> Client::connect(const ConnectOptions &options, WaitFor wait, std::chrono::milliseconds timeout)
{
	return connect(options, WaitOptions{wait, timeout, {}, {}});
}

Pending<std::vector<Result<Connection>>> Client::startConnectAll(std::span<const ConnectOptions> options,
								 const WaitOptions &wait)
{
	return nofctl::startConnects(*impl_->engine, options, wait);
}

std::vector<Result<Connection>> Client::connectAll(std::span<const ConnectOptions> options, WaitFor wait,
						   std::chrono::milliseconds timeout, std::stop_token stop)
{
	return connectAll(options, WaitOptions{wait, timeout, {}, {}}, std::move(stop));
}

std::vector<Result<Connection>> Client::connectAll(std::span<const ConnectOptions> options, const WaitOptions &wait,
						   std::stop_token stop)
{
	auto pending = nofctl::startConnects(*impl_->engine, options, wait, stop);
	impl_->engine->wait(pending, stop);
	return impl_->result(std::move(pending)); // completes soon if @stop was requested
}

Pending<Result<Connection>> Client::startWait(std::string_view controller, const WaitOptions &wait)
{
	Result<ObjectName> name = checkName(controller, ObjectKind::controller);
	if (!name)
		return nofctl::started(*impl_->engine, Result<Connection>(name.error()));
	return nofctl::startWait(*impl_->engine, name->toString(), wait);
}

Result<Connection> Client::waitFor(std::string_view controller, WaitFor wait, std::chrono::milliseconds timeout)
{
	return impl_->result(startWait(controller, WaitOptions{wait, timeout, {}, {}}));
}

Pending<Result<DiscoveryLog>> Client::startDiscover(const ConnectOptions &options, std::chrono::milliseconds timeout)
{
	ConnectOptions asked = options;
	asked.subsysnqn = nofctl::serviceNqn(asked.subsysnqn);
	if (!asked.keepAlive)
		asked.keepAlive = std::chrono::milliseconds(0);
	asked.ioQueues = 1; // in case the target is not a discovery controller
	asked.duplicateConnect = true;
	return nofctl::startJob<Result<DiscoveryLog>>(
		*impl_->engine,
		[asked, timeout](const std::stop_token &stop) { return nofctl::discover(asked, timeout, stop); },
		nofctl::AtEnd::waited);
}

Pending<Result<DiscoveryLog>> Client::startDiscover(std::string_view controller, std::chrono::milliseconds timeout)
{
	Result<ObjectName> name = checkName(controller, ObjectKind::controller);
	if (!name)
		return nofctl::started(*impl_->engine, Result<DiscoveryLog>(name.error()));
	return nofctl::startJob<Result<DiscoveryLog>>(
		*impl_->engine,
		[name = name->toString(), timeout](const std::stop_token &stop) {
			return nofctl::discoverThrough(name, timeout, stop);
		},
		nofctl::AtEnd::left);
}

Result<DiscoveryLog> Client::discover(const ConnectOptions &options, std::chrono::milliseconds timeout,
				      std::stop_token stop)
{
	return nofctl::waitOrStop(*impl_->engine, startDiscover(options, timeout), stop);
}

Result<DiscoveryLog> Client::discover(std::string_view controller, std::chrono::milliseconds timeout,
				      std::stop_token stop)
{
	return nofctl::waitOrStop(*impl_->engine, startDiscover(controller, timeout), stop);
}

Pending<Result<bool>> Client::startRegister(std::string_view controller, const ConnectOptions &options,
					    std::chrono::milliseconds timeout)
{
	Result<ObjectName> name = checkName(controller, ObjectKind::controller);
	if (!name)
		return nofctl::started(*impl_->engine, Result<bool>(name.error()));
	return nofctl::startJob<Result<bool>>(
		*impl_->engine,
		[name = name->toString(), options, timeout](const std::stop_token &) {
			return nofctl::registerHost(name, options, timeout);
		},
		nofctl::AtEnd::left);
}

Pending<Result<std::vector<Address>>> Client::startResolve(std::string_view text, std::string_view port)
{
	return nofctl::startJob<Result<std::vector<Address>>>(
		*impl_->engine,
		[text = std::string(text), port = std::string(port)](const std::stop_token &) {
			return resolveAddress(text, port);
		},
		nofctl::AtEnd::left);
}

Pending<Result<void>> Client::startDisconnect(std::string_view controller)
{
	Result<ObjectName> name = checkName(controller, ObjectKind::controller);
	if (!name)
		return nofctl::started(*impl_->engine, Result<void>(name.error()));
	return nofctl::startRemoval(*impl_->engine, name->toString());
}

Result<void> Client::disconnect(std::string_view controller)
{
	return impl_->result(startDisconnect(controller));
}

Pending<Result<Removal>> Client::startDisconnectNqn(std::string_view subsysnqn)
{
	Result<std::vector<Controller>> there = controllers();
	if (!there)
		return nofctl::started(*impl_->engine, Result<Removal>(there.error()));
	std::erase_if(*there, [&](const Controller &controller) { return controller.subsysnqn != subsysnqn; });
	if (there->empty())
		return nofctl::started(*impl_->engine, Result<Removal>(noneOf(subsysnqn)));
	return nofctl::startRemovals(*impl_->engine, *there);
}

Result<Removal> Client::disconnectNqn(std::string_view subsysnqn)
{
	return impl_->result(startDisconnectNqn(subsysnqn));
}

Pending<Result<Removal>> Client::startDisconnectAll()
{
	Result<std::vector<Controller>> there = controllers();
	if (!there)
		return nofctl::started(*impl_->engine, Result<Removal>(there.error()));
	return nofctl::startRemovals(*impl_->engine, *there);
}

Result<Removal> Client::disconnectAll()
{
	return impl_->result(startDisconnectAll());
}

Pending<Result<void>> Client::startRescan(std::string_view controller)
{
	Result<ObjectName> name = checkName(controller, ObjectKind::controller);
	if (!name)
		return nofctl::started(*impl_->engine, Result<void>(name.error()));
	return nofctl::startRescan(*impl_->engine, name->toString());
}

Result<void> Client::rescan(std::string_view controller)
{
	return impl_->result(startRescan(controller));
}

// The kernel answers the reset after the controller has left state live, so the wait cannot see the old state.
Pending<Result<Connection>> Client::startReset(std::string_view controller, const WaitOptions &wait)
{
	if (Result<void> begun = impl_->engine->listen(); !begun)
		return nofctl::started(*impl_->engine, Result<Connection>(begun.error()));
	if (Result<void> begun = reset(controller); !begun)
		return nofctl::started(*impl_->engine, Result<Connection>(begun.error()));
	return startWait(controller, wait);
}

Result<void> Client::keepTransport(const std::string &name)
{
	return impl_->session().keepTransport(name);
}

Result<void> Client::reset(std::string_view controller)
{
	return withController(controller, [&](const std::string &name) { return impl_->session().reset(name); });
}

Pending<Result<void>> Client::startSet(std::string_view controller, const ControllerSettings &settings)
{
	Result<ObjectName> name = checkName(controller, ObjectKind::controller);
	if (!name)
		return nofctl::started(*impl_->engine, Result<void>(name.error()));
	return nofctl::startSet(*impl_->engine, name->toString(), settings);
}

Result<void> Client::set(std::string_view controller, const ControllerSettings &settings)
{
	return withController(controller,
			      [&](const std::string &name) { return impl_->session().set(name, settings); });
}

Result<void> Client::set(std::string_view subsystem, const SubsystemSettings &settings)
{
	Result<ObjectName> parsed = checkName(subsystem, ObjectKind::subsystem);
	return parsed ? impl_->session().set(parsed->subsystem, settings) : Result<void>(parsed.error());
}

void readKeyNames(Controller &controller)
{
	if (controller.authKey && controller.authKey->description.empty())
		controller.authKey->description = nofctl::dhchapDescriptionOf(controller.authKey->serial);
	if (controller.tls && controller.tls->identity.empty())
		controller.tls->identity =
			nofctl::tlsIdentityOf(controller.tls->keyUsed ? controller.tls->keyUsed : controller.tls->key);
}

} // namespace nvmeof
