// SPDX-License-Identifier: LGPL-2.1-or-later
// The control interface of the module. Covers all of it; callers need no knowledge of netlink.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <nvmeof/connect.h>
#include <nvmeof/controller.h>
#include <nvmeof/discovery.h>
#include <nvmeof/event_stream.h>
#include <nvmeof/namespace.h>
#include <nvmeof/path.h>
#include <nvmeof/pending.h>
#include <nvmeof/result.h>
#include <nvmeof/settings.h>
#include <nvmeof/subsystem.h>

namespace nvmeof {

struct ModuleVersion {
	std::uint32_t api = 0;
	std::string module;
	std::vector<std::string> transports;
	std::vector<std::string> selectors;
};

const char *libraryVersion();

struct OpenOptions {
	std::string loadModule; // module to load if the netlink family is missing and the caller is root; empty: none
	std::chrono::milliseconds answer{60000}; // longest wait for the kernel's answer to one request, then timedOut
};

// Filter for paths(). If both members are empty, all paths are listed.
struct PathFilter {
	std::string nameSpace;
	std::string controller;
};

using AnyObject = std::variant<Subsystem, Controller, Namespace, Path>;

// Result of deleting several controllers.
struct Removal {
	std::vector<std::string> removed; // names; includes controllers that were already gone
	std::vector<Error> failures;      // Error::object names the controller

	// The first failure, if any.
	Result<void> outcome() const { return failures.empty() ? Result<void>() : Result<void>(failures.front()); }
};

/*
 * A connection to the kernel module. Errors of every call: notPermitted, noModule (the module was unloaded), timedOut,
 * failed; noSuchObject if the call takes a name.
 *
 * Operations that may take long come in two forms: start...() returns a Pending at once, the other form blocks until
 * the operation completes. A caller of start...() polls fd() and calls dispatch() when it is readable. A blocking call
 * also advances all started operations. All other calls only query the kernel, which answers at once.
 *
 * A Client must not be used by two threads at the same time. Any number of Clients may exist.
 */
class Client {
public:
	static Result<Client> open(const OpenOptions &options = {});

	Client(Client &&) noexcept;
	Client &operator=(Client &&) noexcept;
	~Client();

	// For poll(2). Readable when dispatch() can advance an operation that start...() started.
	int fd() const;
	// Advances started operations and calls the functions passed to Pending::then(). Does not block.
	void dispatch();

	Result<ModuleVersion> version();
	// If the module of this transport is unloaded within 10 s, its controllers are kept. They reconnect when the
	// module is loaded again; their timeouts apply in the meantime. noSuchObject: no such transport.
	Result<void> keepTransport(const std::string &name);

	// An object that exists during the whole call is listed exactly once. Objects added or removed meanwhile may be
	// listed.
	Result<std::vector<Subsystem>> subsystems();
	Result<std::vector<Controller>> controllers(std::optional<std::uint32_t> subsystem = {});
	Result<std::vector<Namespace>> namespaces(std::optional<std::uint32_t> subsystem = {});
	Result<std::vector<Path>> paths(const PathFilter &filter = {});

	Result<Subsystem> subsystem(std::string_view name);
	Result<Controller> controller(std::string_view name);
	Result<Namespace> nameSpace(std::string_view name);
	Result<Path> path(std::string_view name);
	Result<AnyObject> find(std::string_view name); // of any kind

	// Creates a controller and returns at once; the controller is in state connecting.
	Result<Controller> start(const ConnectOptions &options);

	// start(), then wait. After timedOut, or any other error with Error::left set, the controller exists and keeps
	// trying to connect. Cancelling removes the controller that this call created, not one that existed before.
	Pending<Result<Connection>> startConnect(const ConnectOptions &options, const WaitOptions &wait = {});
	Result<Connection> connect(const ConnectOptions &options, const WaitOptions &wait);
	Result<Connection> connect(const ConnectOptions &options, WaitFor wait = WaitFor::namespaces,
				   std::chrono::milliseconds timeout = defaultTimeout);
	// Starts all connects at once. Returns one result for each of @options, in that order. @stop ends the wait like
	// @timeout; controllers that are not connected then keep trying.
	Pending<std::vector<Result<Connection>>> startConnectAll(std::span<const ConnectOptions> options,
								 const WaitOptions &wait = {});
	std::vector<Result<Connection>> connectAll(std::span<const ConnectOptions> options,
						   WaitFor wait = WaitFor::namespaces,
						   std::chrono::milliseconds timeout = defaultTimeout,
						   std::stop_token stop = {});
	std::vector<Result<Connection>> connectAll(std::span<const ConnectOptions> options, const WaitOptions &wait,
						   std::stop_token stop = {});
	// Waits for an existing controller, for example one that is reconnecting. Cancelling does not change the
	// controller.
	Pending<Result<Connection>> startWait(std::string_view controller, const WaitOptions &wait = {});
	Result<Connection> waitFor(std::string_view controller, WaitFor wait,
				   std::chrono::milliseconds timeout = defaultTimeout);

	/*
	 * Connects to the discovery service at @options.address, reads its log and disconnects. All entries are of one
	 * generation. Defaults: discoveryNqn for an empty subsysnqn, 0 for keepAlive if not set. Further errors:
	 * refused, with nvmeStatus; failed with EPROTO, if the log as a whole is unusable or changed during every
	 * attempt; cancelled, if @stop was requested. A defect of a single entry is in DiscoveryEntry::defect. A Client
	 * runs at most 16 of these jobs at the same time, each on a thread of its own; others are queued. After
	 * cancellation the job disconnects in the background; the destructor of the Client waits for that, at most the
	 * 5 s that a command may take.
	 */
	Pending<Result<DiscoveryLog>> startDiscover(const ConnectOptions &options,
						    std::chrono::milliseconds timeout = defaultTimeout);
	Result<DiscoveryLog> discover(const ConnectOptions &options, std::chrono::milliseconds timeout = defaultTimeout,
				      std::stop_token stop = {});
	// The same through an existing discovery controller. Reading the log re-enables its change event. A command
	// that was sent is waited for even beyond @timeout, up to the kernel's timeout of 60 s.
	Pending<Result<DiscoveryLog>> startDiscover(std::string_view controller,
						    std::chrono::milliseconds timeout = defaultTimeout);
	Result<DiscoveryLog> discover(std::string_view controller, std::chrono::milliseconds timeout = defaultTimeout,
				      std::stop_token stop = {});
	/*
	 * Registers this host with the centralized discovery controller that @controller is connected to (TP8010,
	 * explicit registration): its identity and the address it connects from. @options: those of the connect. False:
	 * the service does not report that it accepts registrations (DCTYPE). Further errors: refused, with nvmeStatus.
	 */
	Pending<Result<bool>> startRegister(std::string_view controller, const ConnectOptions &options,
					    std::chrono::milliseconds timeout = defaultTimeout);

	// Runs resolveAddress() on a thread of the Client.
	Pending<Result<std::vector<Address>>> startResolve(std::string_view text, std::string_view port = defaultPort);

	// Completes when the controllers are gone from all lists. There is no time limit: disks write back their data
	// first. Cancelling stops the wait, not the deletion.
	Pending<Result<void>> startDisconnect(std::string_view controller);
	Result<void> disconnect(std::string_view controller);
	// Fails only if no deletion was started: the list could not be read, or no controller has that NQN.
	Pending<Result<Removal>> startDisconnectNqn(std::string_view subsysnqn);
	Result<Removal> disconnectNqn(std::string_view subsysnqn);
	Pending<Result<Removal>> startDisconnectAll();
	Result<Removal> disconnectAll();

	Result<void> reset(std::string_view controller); // does not wait; events report the progress
	// The same, but waits until the controller is connected again.
	Pending<Result<Connection>> startReset(std::string_view controller, const WaitOptions &wait = {});
	// Completes when the scan has finished; only the kernel limits its time. Cancelling stops the wait, not the
	// scan.
	Pending<Result<void>> startRescan(std::string_view controller);
	Result<void> rescan(std::string_view controller);
	// With keys, completes when a live controller that is authenticated has been authenticated again with them; its
	// connect timeout limits that. If they are refused (authentication), the previous ones stay in use. Other
	// controllers try them when they connect. Cancelling stops the wait only.
	Pending<Result<void>> startSet(std::string_view controller, const ControllerSettings &settings);
	Result<void> set(std::string_view controller, const ControllerSettings &settings);
	// All or nothing: one invalid value leaves all settings unchanged.
	Result<void> set(std::string_view subsystem, const SubsystemSettings &settings);

private:
	struct Impl;
	explicit Client(std::unique_ptr<Impl> impl);
	std::unique_ptr<Impl> impl_;
};

// Looks up AuthKey::description and Tls::identity, which requests and events leave empty. A system call for each key:
// call it for controllers that are shown.
void readKeyNames(Controller &controller);

} // namespace nvmeof
