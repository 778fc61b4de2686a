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
#include <nvmeof/result.h>
#include <nvmeof/settings.h>
#include <nvmeof/subsystem.h>

namespace nvmeof {

inline constexpr std::chrono::milliseconds defaultTimeout{30000};

struct ModuleVersion {
	std::uint32_t api = 0;
	std::string module;
	std::vector<std::string> transports;
	std::vector<std::string> selectors;
};

const char *libraryVersion();

struct OpenOptions {
	std::string loadModule; // module to modprobe when the interface is missing and the caller is root; empty: none
};

// What paths() lists; both empty: all.
struct PathFilter {
	std::string nameSpace;
	std::string controller;
};

using AnyObject = std::variant<Subsystem, Controller, Namespace, Path>;

/*
 * A connection to the kernel module. Not safe for use by two threads at once; any number of Clients may exist.
 * Errors of every call: notPermitted, noModule (the module went away), timedOut, failed. noSuchObject where a name is
 * given.
 */
class Client {
public:
	static Result<Client> open(const OpenOptions &options = {});

	Client(Client &&) noexcept;
	Client &operator=(Client &&) noexcept;
	~Client();

	Result<ModuleVersion> version();

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
	// start(), and waits. On timedOut the controller stays and goes on trying; Error::object is its name.
	Result<Controller> connect(const ConnectOptions &options, WaitFor wait = WaitFor::namespaces,
				   std::chrono::milliseconds timeout = defaultTimeout);
	// All at once; one result for each of @options, in their order. @stop ends the waiting, as @timeout does.
	std::vector<Result<Controller>> connectAll(std::span<const ConnectOptions> options,
						   WaitFor wait = WaitFor::namespaces,
						   std::chrono::milliseconds timeout = defaultTimeout,
						   std::stop_token stop = {});
	// For a controller that was started before, or is reconnecting.
	Result<Controller> waitFor(std::string_view controller, WaitFor wait,
				   std::chrono::milliseconds timeout = defaultTimeout);

	/*
	 * What the discovery service at @options.address tells, of one generation. Empty, subsysnqn is discoveryNqn;
	 * not set, keepAlive is 0. Connects for it, and disconnects. Further errors: refused, with nvmeStatus; failed
	 * with EPROTO, when the log as a whole is of no use, or changed all the time; failed with EINTR, when @stop was
	 * requested. What is wrong with a single entry is its DiscoveryEntry::defect.
	 */
	Result<DiscoveryLog> discover(const ConnectOptions &options, std::chrono::milliseconds timeout = defaultTimeout,
				      std::stop_token stop = {});
	// The same through a discovery controller that is there, which tells of the next change from then on. A command
	// that has been sent is waited for, beyond @timeout, as long as the kernel does: 60 s.
	Result<DiscoveryLog> discover(std::string_view controller, std::chrono::milliseconds timeout = defaultTimeout,
				      std::stop_token stop = {});

	// Each returns when the controllers are gone from every listing, however much their disks have to write back.
	Result<void> disconnect(std::string_view controller);
	Result<std::vector<std::string>> disconnectNqn(std::string_view subsysnqn); // names of those that were removed
	Result<std::vector<std::string>> disconnectAll();

	Result<void> reset(std::string_view controller);  // returns at once; events tell
	Result<void> rescan(std::string_view controller); // returns when the scan is done; no bound but the kernel's
	Result<void> set(std::string_view controller, const ControllerSettings &settings);
	// All or nothing: what is wrong with one value leaves the others as they are.
	Result<void> set(std::string_view subsystem, const SubsystemSettings &settings);

private:
	struct Impl;
	explicit Client(std::unique_ptr<Impl> impl);
	std::unique_ptr<Impl> impl_;
};

} // namespace nvmeof
