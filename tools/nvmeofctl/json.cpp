// SPDX-License-Identifier: LGPL-2.1-or-later
#include "json.h"

#include <nvmeof/name.h>

#include "context.h"
#include "format.h"
#include "latency.h"

using namespace nvmeof;

namespace {

// @object: a controller, or a path, which has the values of its controller
template <typename T> void putFailure(Json &json, const T &object)
{
	if (object.lastError.empty() && !object.lastErrno && !object.lastStatus)
		return;
	Json failure = Json::object();
	putText(failure, "message", describeFailure(object.lastError, object.lastErrno));
	if (object.lastErrno)
		failure["errno"] = object.lastErrno;
	if (object.lastStatus)
		failure["nvme_status"] = *object.lastStatus;
	json["last_error"] = failure;
}

Json rdmaJson(const RdmaConnection &rdma)
{
	return {{"device", rdma.device},
		{"port", rdma.port},
		{"gid", rdma.gid},
		{"ack_tmo_ms", rdma.ackTimeout.count()},
		{"retry_count", rdma.retryCount},
		{"in_capsule_bytes", rdma.inCapsule},
		{"posts", rdma.posts},
		{"work_requests", rdma.workRequests},
		{"completions", rdma.completions},
		{"registrations", rdma.registrations},
		{"invalidations", rdma.invalidations},
		{"remote_invalidations", rdma.remoteInvalidations}};
}

void putSettings(Json &json, const Controller &controller)
{
	json["nr_io_queues"] = controller.ioQueues;
	json["nr_poll_queues"] = controller.pollQueues;
	json["wanted_poll_queues"] = controller.wantedPollQueues;
	json["queue_size"] = controller.queueSize;
	json["keep_alive_tmo_ms"] = controller.keepAlive.count();
	json["reconnect_delay_ms"] = controller.reconnectDelay.count();
	json["ctrl_loss_tmo_ms"] = controller.ctrlLoss.count();
	json["fast_io_fail_tmo_ms"] = controller.fastIoFail.count();
	json["connect_tmo_ms"] = controller.connectTimeout.count();
	json["stall_tmo_ms"] = controller.stallTimeout.count();
	json["first_connect_tmo_ms"] = controller.firstConnect.count();
	json["tos"] = controller.tos;
	json["hdr_digest"] = controller.hdrDigest;
	json["data_digest"] = controller.dataDigest;
	json["sq_flow"] = controller.sqFlow;
	if (controller.rdma)
		json["rdma"] = rdmaJson(*controller.rdma);
	if (controller.cntlid) // not known before the first connect
		json["zero_copy"] = !controller.copies;
}

Json authenticationJson(const Authentication &is)
{
	return {{"hash", is.hash}, {"dh_group", is.dhGroup}, {"mutual", is.mutual}, {"since_ns", is.at.count()}};
}

Json authKeyJson(const AuthKey &key)
{
	Json json{{"key", key.serial}};
	putText(json, "description", key.description);
	json["since_ns"] = key.since.count();
	return json;
}

Json tlsJson(const Tls &tls)
{
	Json json = Json::object();
	putText(json, "cipher", tls.cipher);
	json["key"] = tls.keyUsed ? tls.keyUsed : tls.key;
	putText(json, "identity", tls.identity);
	json["key_source"] = tls.generated ? "generated" : "configured";
	if (tls.keySince.count())
		json["key_since_ns"] = tls.keySince.count();
	if (tls.at.count())
		json["since_ns"] = tls.at.count();
	return json;
}

void putSecurity(Json &json, Controller controller)
{
	readKeyNames(controller);
	if (controller.authentication)
		json["authentication"] = authenticationJson(*controller.authentication);
	if (controller.authKey)
		json["auth_key"] = authKeyJson(*controller.authKey);
	json["auth_required"] = controller.authRequired;
	json["concat"] = controller.concat;
	if (controller.tls)
		json["tls"] = tlsJson(*controller.tls);
}

std::string subsystemName(std::uint32_t id)
{
	return ObjectName{id, {}, {}}.toString();
}

struct KindOf {
	const char *operator()(const std::monostate &) const { return nullptr; }
	const char *operator()(const Subsystem &) const { return toString(ObjectKind::subsystem); }
	const char *operator()(const Controller &) const { return toString(ObjectKind::controller); }
	const char *operator()(const Namespace &) const { return toString(ObjectKind::nameSpace); }
	const char *operator()(const Path &) const { return toString(ObjectKind::path); }
	const char *operator()(const Aen &) const { return "aen"; }
};

} // namespace

void putText(Json &json, const char *key, const std::string &text)
{
	if (!text.empty())
		json[key] = text;
}

Json withSchema(const Json &document)
{
	Json whole{{"schema_version", schemaVersion}};
	whole.update(document);
	return whole;
}

std::string dump(const Json &document, int indent)
{
	constexpr bool ascii = true; // other characters may control a terminal
	return document.dump(indent, ' ', ascii, Json::error_handler_t::replace);
}

Json toJson(const Subsystem &subsystem)
{
	Json json{{"name", subsystem.name}, {"nqn", subsystem.nqn}, {"hostnqn", subsystem.hostnqn}};
	if (subsystem.hostid)
		json["hostid"] = subsystem.hostid->toString();
	json["iopolicy"] = subsystem.iopolicy;
	json["spill_us"] = subsystem.spillLatency.count();
	json["spill_depth"] = subsystem.spillDepth;
	json["degrade"] = subsystem.degrade;
	json["fencing"] = toString(subsystem.fencing);
	json["delayed_removal_secs"] = subsystem.delayedRemoval.count();
	json["quiesce_tmo_secs"] = subsystem.quiesceTimeout.count();
	json["tags"] = subsystem.tags;
	putText(json, "model", subsystem.model);
	putText(json, "serial", subsystem.serial);
	putText(json, "firmware", subsystem.firmware);
	json["nr_controllers"] = subsystem.controllers;
	json["nr_namespaces"] = subsystem.namespaces;
	return json;
}

Json toJson(const Controller &controller)
{
	Json json{{"name", controller.name}, {"nqn", controller.subsysnqn}, {"hostnqn", controller.hostnqn}};
	json["subsystem"] = subsystemName(controller.subsystem);
	json["transport"] = controller.transport;
	json["traddr"] = controller.traddr;
	json["trsvcid"] = controller.trsvcid;
	putText(json, "host_traddr", controller.hostTraddr);
	putText(json, "host_iface", controller.hostIface);
	json["state"] = toString(controller.state);
	if (controller.cntlid)
		json["cntlid"] = *controller.cntlid;
	putText(json, "model", controller.model);
	putText(json, "serial", controller.serial);
	putText(json, "firmware", controller.firmware);
	putSettings(json, controller);
	putSecurity(json, controller);
	json["reconnects"] = controller.reconnects;
	json["attempts"] = controller.attempts;
	if (controller.lossLeft)
		json["ctrl_loss_left_ms"] = controller.lossLeft->count();
	if (controller.firmwareLeft)
		json["firmware_activation_left_ms"] = controller.firmwareLeft->count();
	putFailure(json, controller);
	json["inflight"] = controller.inflight;
	json["nr_paths"] = controller.paths;
	if (controller.scans)
		json["scans"] = *controller.scans;
	putText(json, "owner", controller.owner);
	return json;
}

Json toJson(const Namespace &ns)
{
	Json json{{"name", ns.name}, {"device", deviceOf(ns)}, {"nsid", ns.nsid}, {"wwid", ns.wwid}};
	json["subsystem"] = subsystemName(ns.subsystem);
	if (ns.uuid)
		json["uuid"] = ns.uuid->toString();
	if (ns.nguid)
		json["nguid"] = hexText(*ns.nguid);
	if (ns.eui64)
		json["eui64"] = hexText(*ns.eui64);
	if (ns.csi)
		json["csi"] = *ns.csi;
	json["lba_size"] = ns.lbaSize;
	json["size"] = ns.size;
	if (genericOnly(ns))
		json["generic_only"] = true;
	json["read_only"] = ns.readOnly;
	json["nr_paths"] = ns.paths;
	json["nr_usable"] = ns.usablePaths;
	json["nr_live"] = ns.livePaths;
	json["nr_expected"] = ns.expectedPaths;
	json["waiting"] = ns.waiting;
	json["held"] = ns.held;
	if (ns.hold) {
		json["hold"] = {{"of", ns.hold->controller}, {"left_ms", ns.hold->left.count()}};
		putText(json["hold"], "asked", ns.hold->asked);
	}
	json["openers"] = ns.openers;
	json["p2p"] = ns.p2p;
	if (ns.zones)
		json["zones"] = {{"size", ns.zones->size},
				 {"count", ns.zones->count},
				 {"max_open", ns.zones->maxOpen},
				 {"max_active", ns.zones->maxActive},
				 {"max_append", ns.zones->maxAppend}};
	if (ns.reservations)
		json["reservations"] = {{"types", reservationTypes(ns.reservations)},
					{"persist", bool(ns.reservations & reservationsPersist)}};
	if (ns.protection)
		json["protection"] = ns.protection;
	if (ns.atomicWrite)
		json["atomic_write"] = {{"max", ns.atomicWrite}, {"boundary", ns.atomicBoundary}};
	if (ns.noPathSince)
		json["no_path_since_ns"] = ns.noPathSince->count();
	return json;
}

Json toJson(const Path &path)
{
	Json json{{"name", path.name},
		  {"namespace", path.nameSpace},
		  {"controller", path.controller},
		  {"nsid", path.nsid}};
	if (std::optional<ObjectName> name = parseName(path.name))
		json["subsystem"] = subsystemName(name->subsystem);
	json["controller_state"] = toString(path.controllerState);
	json["ana_state"] = toString(path.anaState);
	if (path.anaGroup)
		json["ana_group"] = *path.anaGroup;
	if (path.anaSince)
		json["ana_since_ns"] = path.anaSince->count();
	json["usable"] = path.usable;
	json["degraded"] = path.degraded;
	json["suspect"] = path.suspect;
	json["probation"] = path.probation;
	json["p2p"] = path.p2p;
	json["nvfs"] = path.nvfs;
	json["inflight"] = path.inflight;
	json["ios"] = path.ios;
	json["bytes_read"] = path.bytesRead;
	json["bytes_written"] = path.bytesWritten;
	json["errors"] = path.errors;
	json["retries"] = path.retries;
	json["aborts"] = path.aborts;
	json["failovers_from"] = path.failoversFrom;
	json["failovers_to"] = path.failoversTo;
	json["latency"] = latencyJson(path.readLatency, path.writeLatency);
	json["reconnects"] = path.reconnects;
	putFailure(json, path);
	return json;
}

Json toJson(const Histogram &histogram)
{
	LatencySummary summary = summaryOf(histogram);
	Json json{{"count", summary.count}};
	if (summary.count) {
		json["p50_ns"] = summary.p50.count();
		json["p99_ns"] = summary.p99.count();
		json["max_bucket_ns"] = summary.max.count();
		json["max_bucket_open"] = summary.open;
	}
	json["buckets"] = histogram;
	return json;
}

Json latencyJson(const Histogram &read, const Histogram &write)
{
	return {{"read", toJson(read)}, {"write", toJson(write)}};
}

Json toJson(const Aen &aen)
{
	return {{"controller", aen.controller}, {"type", aen.type}, {"info", aen.info}, {"log_page", aen.logPage}};
}

Json toJson(const Event &event)
{
	Json json{{"event", toString(event.type)}, {"time_ns", event.time.count()}};
	if (const char *kind = std::visit(KindOf{}, event.object)) {
		json["kind"] = kind;
		json["name"] = event.name();
	}
	if (event.oldState)
		json["old_state"] = toString(*event.oldState);
	const Controller *controller = event.controller();
	putText(json, "reason",
		event.reason.empty() ? "" : describeFailure(event.reason, controller ? controller->lastErrno : 0));
	if (event.scanErrno)
		json["scan_errno"] = event.scanErrno;
	if (event.failover)
		json["failover"] = {{"path", event.failover->path},
				    {"ios", event.failover->ios},
				    {"duration_ns", event.failover->duration.count()}};
	std::visit(
		[&](const auto &object) {
			if constexpr (!std::is_same_v<std::decay_t<decltype(object)>, std::monostate>)
				json["object"] = toJson(object);
		},
		event.object);
	return json;
}

Json toJson(const Error &error)
{
	Json json{{"code", toString(error.code)},
		  {"exit_code", static_cast<int>(exitCodeOf(error.code))},
		  {"message", error.message}};
	if (error.sysErrno)
		json["errno"] = error.sysErrno;
	if (error.nvmeStatus)
		json["nvme_status"] = *error.nvmeStatus;
	putText(json, "object", error.object.name);
	return json;
}

std::string memberText(const Json &object, const char *key)
{
	auto found = object.find(key);
	if (found == object.end() || found->is_null())
		return "-";
	return found->is_string() ? found->get<std::string>() : found->dump();
}

const Json &member(const Json &object, const char *key)
{
	static const Json nothing;
	auto found = object.find(key);
	return found == object.end() ? nothing : *found;
}

const Json &listOf(const Json &object, const char *key)
{
	static const Json none = Json::array();
	const Json &list = member(object, key);
	return list.is_array() ? list : none;
}

bool isTrue(const Json &object, const char *key)
{
	return member(object, key) == true;
}

double numberOf(const Json &object, const char *key)
{
	const Json &value = member(object, key);
	return value.is_number() ? value.get<double>() : 0;
}

std::string textIn(const Json &object, const char *key)
{
	const Json &value = member(object, key);
	return value.is_string() ? value.get<std::string>() : "";
}

const char *kindOf(const AnyObject &object)
{
	return std::visit(KindOf{}, object);
}
