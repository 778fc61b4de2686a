// SPDX-License-Identifier: LGPL-2.1-or-later
// JSON documents of the commands; described in Documentation/json.md.
#pragma once

#include <chrono>

#include <nvmeof/build.h>
#include <nvmeof/discovery_plan.h>
#include <nvmeof/snapshot.h>

#include "connect_plan.h"
#include "disconnect.h"
#include "import.h"
#include "json.h"
#include "libctl/volume/fence.h"

// Of "list": the namespaces, each with the NQNs and identity of its subsystem.
Json listDocument(const nvmeof::Snapshot &all);
// Of "list-subsys": subsystems with controllers, these with paths; and namespaces.
Json subsystemsDocument(const nvmeof::Snapshot &all);
// Of "show": @object and its paths. @related: only what belongs to @object
Json showDocument(const nvmeof::AnyObject &object, const nvmeof::Snapshot &related);
// For example "write-exclusive". @report must have a holder (type not 0).
std::string reservationType(const nofctl::volume::ReservationReport &report);
// Of "reservation"
Json reservationDocument(const std::string &disk, const nofctl::volume::ReservationReport &report);
// Of "connect": one result per address, with the controller or the error.
Json connectDocument(const ConnectPlan &plan, const std::vector<nvmeof::Result<nvmeof::Controller>> &results,
		     const Json &policies);
// Of "version"
Json versionDocument(const nvmeof::ModuleVersion &module);
// Of "disconnect": names of the controllers that were removed.
Json disconnectDocument(const std::vector<std::string> &gone);
// Adds the controllers that "disconnect-all" has not disconnected, with the reason. None: no member
void addKept(Json &document, const std::vector<KeptController> &kept);
// Adds what --dry-run has found: controllers that would be disconnected, and disks that would have no usable path.
void addPlan(Json &document, const std::vector<nvmeof::Controller> &controllers,
	     const std::vector<nvmeof::Namespace> &lost);
// Of "disconnect" that is refused because of these disks
Json disksInUseDocument(const std::vector<DiskInUse> &disks);
// Of "gen-hostnqn" and "show-hostnqn"
Json hostnqnDocument(const std::string &nqn);
// Of "discover": the log of one service, or the error. @key: "address" or "controller". @host: the host name that
// resolved to the address; may be empty
Json discoverEntry(const char *key, const std::string &subject, const std::string &host,
		   const nvmeof::Result<nvmeof::DiscoveryLog> &log);
Json discoverDocument(const Json &entries);
// Of "apply-policy"
Json policiesDocument(const Json &outcomes);
// Of "connect-all", from the entries below. The caller adds "error" to entries, and "controller" to those of paths.
Json connectAllDocument(const Json &services, const Json &results, const Json &refused, const Json &policies);
Json serviceEntry(const nvmeof::Plan &plan, const nvmeof::PlannedService &service, const nvmeof::KnownServices &known);
Json pathEntry(const nvmeof::ConnectOptions &options, bool there);
Json refusalEntry(const nvmeof::Plan &plan, const nvmeof::Refusal &refusal);
Json configDocument(const std::vector<std::string> &files, const Json &problems, const std::vector<std::string> &notes);
Json importDocument(const std::vector<std::string> &files, const std::vector<NotCarried> &notCarried,
		    const std::string &text);
// Of a command that fails as a whole
Json errorDocument(const nvmeof::Error &error);
// Of "shutdown": names of the objects whose time limit was lowered.
Json shutdownDocument(std::chrono::milliseconds limit, const std::vector<std::string> &names,
		      const std::vector<nvmeof::Error> &errors);

// Of "upgrade", also with --dry-run.
struct Upgraded {
	std::string module;
	nvmeof::Build from, to;
	std::string file;
	std::vector<std::string> controllers; // live before the exchange
	std::vector<std::string> missing;     // of these, not live again in time
	std::chrono::milliseconds away{};     // duration until all were live, or the timeout; 0: no exchange
};
Json upgradeDocument(const Upgraded &upgraded);

// Of a command that changes one object. @done: the change, such as "set"
Json doneDocument(const std::string &name, const char *done);
// @told: the answer to ReloadWithReport; empty from an older daemon, which lacks it
Json reloadDocument(const Json &told);
