// SPDX-License-Identifier: LGPL-2.1-or-later
// The connections that a command line requests: options, conflicts with those that exist, undo.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <nvmeof/client.h>
#include <nvmeof/connect_settings.h>
#include <nvmeof/foreign.h>
#include <nvmeof/namespace.h>

#include "context.h"
#include "libctl/gpu/tree.h"
#include "parse.h"

struct ConnectPlan {
	std::vector<nvmeof::ConnectOptions> options; // one for each address
	std::vector<std::string> typed;              // host name of each address; empty if given as an address
	nvmeof::WaitFor wait = nvmeof::WaitFor::namespaces;
	std::chrono::milliseconds timeout = nvmeof::defaultTimeout;
};

// Defaults for a command line. If the NQN is empty, the command must require --nqn.
struct PlanDefaults {
	const char *nqn = "";
	const char *port = nvmeof::defaultPort;
};

using Resolve = std::function<nvmeof::Result<std::vector<nvmeof::Address>>(std::string_view, std::string_view port)>;

nvmeof::Result<ConnectPlan> planConnect(const Args &args, const PlanDefaults &defaults = {},
					const Resolve &resolve = nvmeof::resolveAddress);

// A value of --wait
nvmeof::WaitFor waitOf(const std::string &word);
// Connect settings of the command line.
nvmeof::ConnectSettings settingsOf(const Args &args);

// Notes the addresses of host names, and NQNs that do not conform to the specification.
void noteNames(Context &context, const ConnectPlan &plan);
// Next step for an error of planConnect(); may be empty.
std::string nameStep(const nvmeof::Error &error);
// Next step for a connect that failed; may be empty. Where no packet can have reached the target, it names a network
// interface of @tree that has no carrier, or is down.
std::string connectNextStep(const nvmeof::Error &error, const nvmeof::ConnectOptions &options,
			    const nofctl::gpu::Tree &tree = nofctl::gpu::FolderTree());

struct NetworkInterface {
	std::string name, trouble; // trouble: "eth0 has no carrier"
};

// The network interface of a controller's connections, and what is wrong with it
NetworkInterface networkInterfaceOf(const nvmeof::Controller &controller);

// Takes the settings of the configuration for the NQN of @plan, where the command line gives none. Reports an error in
// the configuration as a warning. Errors: its [[security]] rules are not known.
nvmeof::Result<void> takeDefaults(Context &context, ConnectPlan &plan);
// The same for its [[security]] rule alone
nvmeof::Result<void> takeSecurity(Context &context, ConnectPlan &plan);

// The controllers that exist at one time, such as before a command connects.
class Present {
public:
	// Reads the current controllers. Empty on an error: the next request of the command reports it.
	explicit Present(nvmeof::Client &client);

	const std::vector<nvmeof::Controller> &controllers() const { return controllers_; }
	// The controller that matches @options and is not being deleted; null if there is none.
	const nvmeof::Controller *find(const nvmeof::ConnectOptions &options, const std::string &hostnqn = {}) const;
	// The message that the in-tree driver is connected to @nqn, so that its disks would appear twice. Empty also if
	// this driver is connected to @nqn already.
	std::optional<std::string> inTreeConflict(const std::string &nqn) const;
	// Waits, at most 10 s, until all controllers that match @ours and are not in controllers() are gone. The
	// library removes the controllers of cancelled connects in the background.
	void awaitRemoval(const std::function<bool(const nvmeof::Controller &)> &ours) const;

private:
	bool has(const std::string &name) const;

	nvmeof::Client &client_;
	std::vector<nvmeof::Controller> controllers_;
};

/*
 * Namespaces that appear as two disks: through the in-tree driver as well, where mounting both disks destroys the file
 * system, or in two subsystems.
 */

// The message that the in-tree driver is connected to the subsystem through @controllers. Empty if there are none, and
// for a discovery service, which has no disks.
std::optional<std::string> inTreeConflict(const std::string &subsysnqn,
					  const std::vector<nvmeof::ForeignController> &controllers);
// "nvme0 (tcp, live)", for each
std::vector<std::string> connectionTexts(const std::vector<nvmeof::ForeignController> &controllers);
// The next step that ends these connections
std::string inTreeStep(const std::string &subsysnqn);
// Nodes of the in-tree driver's disks that are the same namespace: "/dev/nvme0n1"
std::vector<std::string> twinsOf(const nvmeof::Namespace &ns, const std::vector<nvmeof::NvmeDisk> &disks);
// Names of the namespaces of other subsystems that have the identifiers of @ns
std::vector<std::string> sameIdentifiers(const nvmeof::Namespace &ns, const std::vector<nvmeof::Namespace> &namespaces);

// Reports @held as an error, with the next step. Returns the exit code.
int reportInTreeConflict(Context &context, const std::string &subsysnqn, const std::string &held);
void warnInTreeConflict(Context &context, const std::string &subsysnqn, const std::string &held);

// Warns about each namespace whose identifiers a namespace of another subsystem has, too. Returns the nodes of the
// others by namespace name, for the JSON document.
Json warnDuplicateIdentifiers(Context &context, const std::vector<nvmeof::Namespace> &namespaces);

// Warns about each namespace that is also a disk of the in-tree driver. Returns these disks by namespace name, for the
// JSON document.
Json warnInTreeDuplicates(Context &context, const std::vector<nvmeof::Namespace> &namespaces,
			  const std::vector<nvmeof::NvmeDisk> &disks);

// Whether @controller has the NQN and the target address of @options.
bool isFor(const nvmeof::Controller &controller, const nvmeof::ConnectOptions &options);

/*
 * Disconnects the controllers that this process has created and that are not live. Live controllers stay, and so do
 * those that existed before or were created by another process. @results: one for each of @wanted
 */
void undo(Context &context, nvmeof::Client &client, const std::vector<nvmeof::ConnectOptions> &wanted,
	  const std::vector<nvmeof::Result<nvmeof::Connection>> &results);
