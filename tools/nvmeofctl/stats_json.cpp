// SPDX-License-Identifier: LGPL-2.1-or-later
#include "stats.h"
#include "totals.h"

using namespace nvmeof;

namespace {

Json totalsJson(const Totals &totals)
{
	Json json{{"ios", totals.ios},
		  {"bytes_read", totals.bytesRead},
		  {"bytes_written", totals.bytesWritten},
		  {"errors", totals.errors},
		  {"retries", totals.retries},
		  {"aborts", totals.aborts},
		  {"failovers", totals.failovers},
		  {"inflight", totals.inflight}};
	json["latency"] = latencyJson(totals.readLatency, totals.writeLatency);
	return json;
}

Json pathStatsJson(const Path &path, const Snapshot &all)
{
	Json json = toJson(path);
	if (const Controller *controller = all.controller(path.controller)) {
		json["transport"] = controller->transport;
		json["traddr"] = controller->traddr;
		json["trsvcid"] = controller->trsvcid;
	}
	return json;
}

Json namespaceStatsJson(const Namespace &ns, const Snapshot &all)
{
	Json json = toJson(ns);
	std::vector<const Path *> paths = all.pathsOf(ns);
	json["totals"] = totalsJson(totalsOf(paths));
	json["paths"] = Json::array();
	for (const Path *path : paths)
		json["paths"].push_back(pathStatsJson(*path, all));
	return json;
}

} // namespace

Json statsJson(const Snapshot &snapshot)
{
	Json json{{"time_ns", snapshot.time.count()},
		  {"latency_bucket_unit_ns", histogramUnit.count()},
		  {"subsystems", Json::array()},
		  {"controllers", Json::array()},
		  {"namespaces", Json::array()}};
	for (const Subsystem &subsystem : snapshot.subsystems)
		json["subsystems"].push_back(toJson(subsystem));
	for (const Controller &controller : snapshot.controllers)
		json["controllers"].push_back(toJson(controller));
	for (const Namespace &ns : snapshot.namespaces)
		json["namespaces"].push_back(namespaceStatsJson(ns, snapshot));
	return json;
}
