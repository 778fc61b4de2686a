// SPDX-License-Identifier: LGPL-2.1-or-later
// The whole of the control interface. An embedder needs nothing else, and no knowledge of netlink.
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
	std::string loadModule; // module to modprobe when the interface is missing and the caller is root; empty: none
	std::chrono::milliseconds answer{60000}; // most that one request waits for the kernel, then timedOut
};

// What paths() lists; both empty: all.
struct PathFilter {
	std::string nameSpace;
	std::string controller;
};

using AnyObject = std::variant<Subsystem, Controller, Namespace, Path>;

// What became of the deletion of several controllers.
struct Removal {
	std::vector<std::string> removed; // names; also of those that were gone when their turn came
	std::vector<Error> failures;      // each with its controller as Error::object

	// Its first failure, where it has one.
	Result<void> outcome() const { return failures.empty() ? Result<void>() : Result<void>(failures.front()); }
};

/*
 * A connection to the kernel module. Errors of every call: notPermitted, noModule (the module went away), timedOut,
 * failed. noSuchObject where a name is given.
 *
 * What may take long comes in two forms: start...() returns at once a handle on what goes on, and the other one waits
 * for it. Whoever uses the first has fd() in his loop, and calls dispatch() when it is readable. Other calls ask the
 * kernel alone, which answers at once. A call that waits moves on everything else, too.
 *
 * Not safe for use by two threads at once; any number of Clients may exist.
 */
class Client {
public:
	static Result<Client> open(const OpenOptions &options = {});

	Client(Client &&) noexcept;
	Client &operator=(Client &&) noexcept;
	~Client();

	// For poll(2): readable when dispatch() has something to do; of what was started with start...().
	int fd() const;
	// Does it, without waiting. Also calls what was given to Pending::then().
	void dispatch();

	Result<ModuleVersion> version();
	// When its module is unloaded within 10 s, the controllers of this transport stay, and wait, as for a path
	// that comes back, for the module to be loaded again. noSuchObject when there is no such transport.
	Result<void> keepTransport(const std::string &name);

	// Each object that is there all the while is in the list once; what comes or goes meanwhile may be in it, too.
	Result<std::vector<Subsystem>> subsystems();
	Result<std::vector<Controller>> controllers(std::optional<std::uint32_t> subsystem = {});
	Result<std::vector<Namespace>> namespaces(std::optional<std::uint32_t> subsystem = {});
	Result<std::vector<Path>> paths(const PathFilter &filter = {});

	Result<Subsystem> subsystem(std::string_view name);
	Result<Controller> controller(std::string_view name);
	Result<Namespace> nameSpace(std::string_view name);
	Result<Path> path(std::string_view name);
	Result<AnyObject> find(std::string_view name); // of any kind

	// Asks for a controller and returns at once, with it in state connecting.
	Result<Controller> start(const ConnectOptions &options);

	/*
	 * start(), and waits. On timedOut, or any other error with Error::left, the controller stays and goes on
	 * trying. A connect that is cancelled has the controller that it made removed, unless it was there already.
	 */
	Pending<Result<Connection>> startConnect(const ConnectOptions &options, const WaitOptions &wait = {});
	Result<Connection> connect(const ConnectOptions &options, const WaitOptions &wait);
	Result<Connection> connect(const ConnectOptions &options, WaitFor wait = WaitFor::namespaces,
				   std::chrono::milliseconds timeout = defaultTimeout);
	// All at once; one result for each of @options, in their order. @stop ends the waiting, as @timeout does: what
	// is not there by then goes on trying.
	Pending<std::vector<Result<Connection>>> startConnectAll(std::span<const ConnectOptions> options,
								 const WaitOptions &wait = {});
	std::vector<Result<Connection>> connectAll(std::span<const ConnectOptions> options,
						   WaitFor wait = WaitFor::namespaces,
						   std::chrono::milliseconds timeout = defaultTimeout,
						   std::stop_token stop = {});
	std::vector<Result<Connection>> connectAll(std::span<const ConnectOptions> options, const WaitOptions &wait,
						   std::stop_token stop = {});
	// For a controller that was started before, or is reconnecting. Cancelled, it stays as it is.
	Pending<Result<Connection>> startWait(std::string_view controller, const WaitOptions &wait = {});
	Result<Connection> waitFor(std::string_view controller, WaitFor wait,
				   std::chrono::milliseconds timeout = defaultTimeout);

	/*
	 * What the discovery service at @options.address tells, of one generation. Empty, subsysnqn is discoveryNqn;
	 * not set, keepAlive is 0. Connects for it, and disconnects. Further errors: refused, with nvmeStatus; failed
	 * with EPROTO, when the log as a whole is of no use, or changed all the time; cancelled, when @stop was
	 * requested. What is wrong with a single entry is its DiscoveryEntry::defect. Sixteen at most go on at once,
	 * each on a thread of the Client; the others wait for their turn. Cancelled, it disconnects in the background:
	 * the Client waits for that before it ends, at most for the 5 s that a command may take.
	 */
	Pending<Result<DiscoveryLog>> startDiscover(const ConnectOptions &options,
						    std::chrono::milliseconds timeout = defaultTimeout);
	Result<DiscoveryLog> discover(const ConnectOptions &options, std::chrono::milliseconds timeout = defaultTimeout,
				      std::stop_token stop = {});
	// The same through a discovery controller that is there, which tells of the next change from then on. A command
	// that has been sent is waited for, beyond @timeout, as long as the kernel does: 60 s.
	Pending<Result<DiscoveryLog>> startDiscover(std::string_view controller,
						    std::chrono::milliseconds timeout = defaultTimeout);
	Result<DiscoveryLog> discover(std::string_view controller, std::chrono::milliseconds timeout = defaultTimeout,
				      std::stop_token stop = {});
	/*
	 * This host, by which it is known and at which address, at the centralized discovery controller that
	 * @controller is connected to (TP8010, explicit registration); @options: by which it was connected to. False:
	 * the service does not say that it takes registrations (DCTYPE). Further errors: refused, with nvmeStatus.
	 */
	Pending<Result<bool>> startRegister(std::string_view controller, const ConnectOptions &options,
					    std::chrono::milliseconds timeout = defaultTimeout);

	// resolveAddress() on a thread of the Client.
	Pending<Result<std::vector<Address>>> startResolve(std::string_view text, std::string_view port = defaultPort);

	// Each is over when the controllers are gone from every listing, however much their disks have to write back.
	// Cancelled, it is not waited for: the controllers go all the same.
	Pending<Result<void>> startDisconnect(std::string_view controller);
	Result<void> disconnect(std::string_view controller);
	// An Error where nothing was tried: no list, no controller of that NQN.
	Pending<Result<Removal>> startDisconnectNqn(std::string_view subsysnqn);
	Result<Removal> disconnectNqn(std::string_view subsysnqn);
	Pending<Result<Removal>> startDisconnectAll();
	Result<Removal> disconnectAll();

	Result<void> reset(std::string_view controller); // returns at once; events tell
	// And waits until it has come back.
	Pending<Result<Connection>> startReset(std::string_view controller, const WaitOptions &wait = {});
	// Over when the scan is done; no bound but the kernel's. Cancelled, it is not waited for.
	Pending<Result<void>> startRescan(std::string_view controller);
	Result<void> rescan(std::string_view controller);
	Result<void> set(std::string_view controller, const ControllerSettings &settings);
	// All or nothing: what is wrong with one value leaves the others as they are.
	Result<void> set(std::string_view subsystem, const SubsystemSettings &settings);

private:
	struct Impl;
	explicit Client(std::unique_ptr<Impl> impl);
	std::unique_ptr<Impl> impl_;
};

} // namespace nvmeof
