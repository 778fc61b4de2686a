// SPDX-License-Identifier: LGPL-2.1-or-later
#include "documents.h"

#include "builds.h"
#include "context.h"
#include "discover.h"

using namespace nvmeof;

namespace {

Json withSubsystem(Json json, const Subsystem *subsystem)
{
	if (!subsystem)
		return json; // removed meanwhile
	json["nqn"] = subsystem->nqn;
	json["hostnqn"] = subsystem->hostnqn;
	for (const char *key : {"model", "serial", "firmware"})
		if (const Json of = toJson(*subsystem); of.contains(key))
			json[key] = of[key];
	return json;
}

Json namespaceJson(const Namespace &ns, const Snapshot &all)
{
	return withSubsystem(toJson(ns), all.subsystem(ns.subsystem));
}

Json pathJson(const Path &path, const Snapshot &all)
{
	Json json = toJson(path);
	const Controller *controller = all.controller(path.controller);
	if (!controller)
		return json;
	json["nqn"] = controller->subsysnqn;
	json["transport"] = controller->transport;
	json["traddr"] = controller->traddr;
	json["trsvcid"] = controller->trsvcid;
	return json;
}

Json pathsJson(const Snapshot &all, auto wanted)
{
	Json array = Json::array();
	for (const Path &path : all.paths)
		if (wanted(path))
			array.push_back(pathJson(path, all));
	return array;
}

Json controllersJson(const Subsystem &subsystem, const Snapshot &all)
{
	Json array = Json::array();
	for (const Controller &controller : all.controllers) {
		if (controller.subsystem != subsystem.id)
			continue;
		Json json = toJson(controller);
		json["paths"] = pathsJson(all, [&](const Path &path) { return path.controller == controller.name; });
		array.push_back(json);
	}
	return array;
}

void putHost(Json &entry, const std::string &host)
{
	if (!host.empty())
		entry["host"] = host;
}

struct ObjectJson {
	const Snapshot &related;

	Json operator()(const Subsystem &subsystem) const { return toJson(subsystem); }
	Json operator()(const Controller &controller) const { return toJson(controller); }
	Json operator()(const Namespace &ns) const { return namespaceJson(ns, related); }
	Json operator()(const Path &path) const { return pathJson(path, related); }
};

} // namespace

Json listDocument(const Snapshot &all)
{
	Json array = Json::array();
	for (const Namespace &ns : all.namespaces)
		array.push_back(namespaceJson(ns, all));
	return {{"namespaces", array}};
}

Json subsystemsDocument(const Snapshot &all)
{
	Json array = Json::array();
	for (const Subsystem &subsystem : all.subsystems) {
		Json json = toJson(subsystem);
		json["controllers"] = controllersJson(subsystem, all);
		json["namespaces"] = Json::array();
		for (const Namespace &ns : all.namespaces)
			if (ns.subsystem == subsystem.id)
				json["namespaces"].push_back(namespaceJson(ns, all));
		array.push_back(json);
	}
	return {{"subsystems", array}};
}

Json reservationDocument(const std::string &disk, const nofctl::volume::ReservationReport &report)
{
	Json registrants = Json::array();
	for (const nofctl::volume::Registrant &one : report.registrants)
		registrants.push_back(
			{{"hostid", one.host}, {"key", one.key}, {"holds", one.holds}, {"this_host", one.thisHost}});
	Json json{{"name", disk}, {"generation", report.generation}, {"persists", report.persists}};
	if (report.type)
		json["type"] = reservationType(report);
	json["registrants"] = registrants;
	return json;
}

Json showDocument(const AnyObject &object, const Snapshot &related)
{
	Json shown{{"kind", kindOf(object)}};
	shown.update(std::visit(ObjectJson{related}, object));
	Json document{{"object", shown}};
	if (!std::holds_alternative<Path>(object))
		document["paths"] = pathsJson(related, [](const Path &) { return true; });
	return document;
}

Json connectDocument(const ConnectPlan &plan, const std::vector<Result<Controller>> &results, const Json &policies)
{
	Json entries = Json::array();
	for (std::size_t i = 0; i < results.size(); i++) {
		Json entry{{"address", plan.options[i].address.toString()}};
		putHost(entry, plan.typed[i]);
		if (results[i])
			entry["controller"] = toJson(*results[i]);
		else
			entry["error"] = toJson(results[i].error());
		entries.push_back(entry);
	}
	return {{"results", entries}, {"policies", policies}};
}

Json versionDocument(const ModuleVersion &module)
{
	Json json{{"version", module.module},
		  {"api", module.api},
		  {"transports", module.transports},
		  {"selectors", module.selectors}};
	return {{"version", libraryVersion()}, {"module", json}};
}

Json disconnectDocument(const std::vector<std::string> &gone)
{
	return {{"disconnected", gone}};
}

void addKept(Json &document, const std::vector<KeptController> &kept)
{
	for (const KeptController &one : kept) {
		Json entry{{"controller", one.controller.name},
			   {"nqn", one.controller.subsysnqn},
			   {"reason", one.excepted ? "except" : "owned"}};
		if (!one.controller.owner.empty())
			entry["owner"] = one.controller.owner;
		document["kept"].push_back(std::move(entry));
	}
}

void addPlan(Json &document, const std::vector<Controller> &controllers, const std::vector<Namespace> &lost)
{
	Json names = Json::array(), disks = Json::array();
	for (const Controller &one : controllers)
		names.push_back(one.name);
	for (const Namespace &ns : lost)
		disks.push_back(ns.name);
	document["would_disconnect"] = std::move(names);
	document["left_without_path"] = std::move(disks);
}

Json disksInUseDocument(const std::vector<DiskInUse> &disks)
{
	Error error;
	error.message = disks.front().disk + ": " + nofctl::volume::toString(disks.front().users);
	error.object = ErrorObject::named(disks.front().disk);
	Json json = toJson(error);
	json["code"] = "in_use";
	json["exit_code"] = static_cast<int>(ExitCode::inUse);
	Json document = disconnectDocument({});
	document["error"] = std::move(json);
	for (const DiskInUse &one : disks) {
		Json users = Json::array();
		for (const nofctl::volume::User &user : one.users)
			users.push_back({{"kind", user.kind}, {"what", user.what}});
		document["in_use"].push_back({{"disk", one.disk}, {"users", std::move(users)}});
	}
	return document;
}

Json hostnqnDocument(const std::string &nqn)
{
	return {{"hostnqn", nqn}};
}

Json discoverEntry(const char *key, const std::string &subject, const std::string &host,
		   const Result<DiscoveryLog> &log)
{
	Json entry{{key, subject}};
	putHost(entry, host);
	if (log)
		entry["log"] = toJson(*log);
	else
		entry["error"] = toJson(log.error());
	return entry;
}

Json discoverDocument(const Json &entries)
{
	return {{"results", entries}};
}

Json policiesDocument(const Json &outcomes)
{
	return {{"subsystems", outcomes}};
}

Json connectAllDocument(const Json &services, const Json &results, const Json &refused, const Json &policies)
{
	return {{"services", services}, {"results", results}, {"refused", refused}, {"policies", policies}};
}

static std::string addressOf(const Plan &plan, std::size_t service)
{
	return plan.services[service].options.address.toString();
}

// @service: the address of the service that reported the object. "told_by" is the old name, for one version
static void putSource(Json &entry, const std::string &service)
{
	entry["source"] = service;
	entry["told_by"] = service;
}

Json serviceEntry(const Plan &plan, const PlannedService &service, const KnownServices &known)
{
	Json entry{{"address", service.options.address.toString()},
		   {"transport", service.options.transport},
		   {"state", toString(service.state)}};
	if (service.toldBy)
		putSource(entry, addressOf(plan, *service.toldBy));
	auto found = known.find(service.key);
	if (found != known.end() && found->second.log)
		entry["generation"] = found->second.log->generation;
	return entry;
}

Json pathEntry(const ConnectOptions &options, bool there)
{
	return {{"address", options.address.toString()},
		{"transport", options.transport},
		{"nqn", options.subsysnqn},
		{"connected_before", there}};
}

Json refusalEntry(const Plan &plan, const Refusal &refusal)
{
	Json entry{{"what", refusal.what}, {"reason", refusal.reason}};
	if (refusal.toldBy)
		putSource(entry, addressOf(plan, *refusal.toldBy));
	return entry;
}

Json configDocument(const std::vector<std::string> &files, const Json &problems, const std::vector<std::string> &notes)
{
	return {{"files", files}, {"problems", problems}, {"notes", notes}};
}

Json importDocument(const std::vector<std::string> &files, const std::vector<NotCarried> &notCarried,
		    const std::string &text)
{
	Json dropped = Json::array();
	for (const NotCarried &one : notCarried) {
		Json entry{{"file", one.place.file}, {"key", one.key}, {"reason", one.reason}};
		if (one.place.line)
			entry["line"] = one.place.line;
		dropped.push_back(entry);
	}
	return {{"files", files}, {"not_carried_over", dropped}, {"text", text}};
}

Json errorDocument(const Error &error)
{
	return {{"error", toJson(error)}};
}

Json shutdownDocument(std::chrono::milliseconds limit, const std::vector<std::string> &names,
		      const std::vector<Error> &errors)
{
	Json failed = Json::array();
	for (const Error &error : errors)
		failed.push_back(toJson(error));
	return {{"limit_ms", limit.count()}, {"set", names}, {"errors", failed}};
}

Json upgradeDocument(const Upgraded &upgraded)
{
	return {{"module", upgraded.module},           {"file", upgraded.file},
		{"from", toJson(upgraded.from)},       {"to", toJson(upgraded.to)},
		{"controllers", upgraded.controllers}, {"missing", upgraded.missing},
		{"away_ms", upgraded.away.count()}};
}

Json doneDocument(const std::string &name, const char *done)
{
	return {{"name", name}, {"done", done}};
}

Json reloadDocument(const Json &told)
{
	Json document = doneDocument("nvmeofd", "reload");
	document.update(told);
	return document;
}
