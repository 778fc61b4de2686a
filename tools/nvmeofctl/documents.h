// SPDX-License-Identifier: LGPL-2.1-or-later
// What the commands that list print as JSON; Documentation/json.md.
#pragma once

#include <chrono>

#include <nvmeof/build.h>
#include <nvmeof/discovery_plan.h>
#include <nvmeof/snapshot.h>

#include "import.h"
#include "connect_plan.h"
#include "json.h"
#include "libctl/volume/reservation.h"

// Of "list": the namespaces, each with what it inherits of its subsystem.
Json listDocument(const nvmeof::Snapshot &all);
// Of "list-subsys": subsystems with controllers, these with paths; and namespaces.
Json subsystemsDocument(const nvmeof::Snapshot &all);
// Of "show": @object, and what of @related belongs to it.
Json showDocument(const nvmeof::AnyObject &object, const nvmeof::Snapshot &related);
// "write-exclusive"; only of a disk that is held
std::string reservationType(const nofctl::volume::ReservationReport &report);
// Of "reservation"
Json reservationDocument(const std::string &disk, const nofctl::volume::ReservationReport &report);
// Of "connect": a result for each address, with the controller or why there is none.
Json connectDocument(const ConnectPlan &plan, const std::vector<nvmeof::Result<nvmeof::Controller>> &results,
		     const Json &policies);
// Of "version"
Json versionDocument(const nvmeof::ModuleVersion &module);
// Of "disconnect": names of those that are gone.
Json disconnectDocument(const std::vector<std::string> &gone);
// Of "gen-hostnqn" and "show-hostnqn"
Json hostnqnDocument(const std::string &nqn);
// Of "discover": what each service (@key: "address" or "controller") has told, or why not.
// @host: the name that an address came from; may be empty
Json discoverEntry(const char *key, const std::string &subject, const std::string &host,
		   const nvmeof::Result<nvmeof::DiscoveryLog> &log);
Json discoverDocument(const Json &entries);
// Of "apply-policy"
Json policiesDocument(const Json &outcomes);
// Of any that fails as a whole
// Of the entries below; those of services and paths may have an error, those of paths a controller as well.
Json connectAllDocument(const Json &services, const Json &results, const Json &refused, const Json &policies);
Json serviceEntry(const nvmeof::Plan &plan, const nvmeof::PlannedService &service, const nvmeof::KnownServices &known);
Json pathEntry(const nvmeof::ConnectOptions &options, bool there);
Json refusalEntry(const nvmeof::Plan &plan, const nvmeof::Refusal &refusal);
Json configDocument(const std::vector<std::string> &files, const Json &problems, const std::vector<std::string> &notes);
Json importDocument(const std::vector<std::string> &files, const std::vector<NotCarried> &notCarried,
		    const std::string &text);
Json errorDocument(const nvmeof::Error &error);
// Of what had its wait for a path lowered to the limit.
Json shutdownDocument(std::chrono::milliseconds limit, const std::vector<std::string> &names);

// Of a module that was exchanged, or would be
struct Upgraded {
	std::string module;
	nvmeof::Build from, to;
	std::string file;
	std::vector<std::string> controllers; // that were live
	std::vector<std::string> missing;     // of these, that are not any more
	std::chrono::milliseconds away{};     // until all were again; 0: it was not done
};
Json upgradeDocument(const Upgraded &upgraded);

// Of a command that changes one object: @done says what.
Json doneDocument(const std::string &name, const char *done);
// @told: as the daemon answers; of an older one empty
Json reloadDocument(const Json &told);
