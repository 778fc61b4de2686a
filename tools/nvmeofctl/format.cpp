// SPDX-License-Identifier: LGPL-2.1-or-later
#include "format.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>

#include <fmt/format.h>

#include "libctl/base/text.h"
#include "table.h"
#include "when.h"

using namespace nvmeof;

namespace {

std::string yesNo(bool value)
{
	return value ? "yes" : "no";
}

std::string formatTimeout(std::chrono::milliseconds time, const char *negative)
{
	return time.count() < 0 ? negative : formatSeconds(time);
}

void addText(Fields &fields, const char *key, const std::string &text)
{
	if (!text.empty())
		fields.emplace_back(key, text);
}

template <typename T> void addNumber(Fields &fields, const char *key, T number)
{
	fields.emplace_back(key, std::to_string(number));
}

// Without poll queues, polled I/O goes through the default queues.
std::string formatPollQueues(const Controller &controller)
{
	std::string text = std::to_string(controller.pollQueues);
	return controller.pollQueues < controller.wantedPollQueues
		       ? fmt::format("{} of {} requested", text, controller.wantedPollQueues)
		       : text;
}

void addRdma(Fields &fields, const RdmaConnection &rdma)
{
	fields.emplace_back("rdma device", fmt::format("{}, port {}", rdma.device, rdma.port));
	addText(fields, "rdma gid", rdma.gid);
	fields.emplace_back("rdma ack-tmo", fmt::format("{} ms, {} retries", rdma.ackTimeout.count(), rdma.retryCount));
	fields.emplace_back("rdma in capsule", fmt::format("{} bytes", rdma.inCapsule));
	fields.emplace_back("rdma sent", fmt::format("{} work requests in {} posts", rdma.workRequests, rdma.posts));
	addNumber(fields, "rdma completions", rdma.completions);
	fields.emplace_back("rdma keys", fmt::format("{} registered, {} invalidated by the target, {} by this host",
						     rdma.registrations, rdma.remoteInvalidations, rdma.invalidations));
}

void addSettings(Fields &fields, const Controller &controller)
{
	addNumber(fields, "io queues", controller.ioQueues);
	fields.emplace_back("poll queues", formatPollQueues(controller));
	addNumber(fields, "queue size", controller.queueSize);
	fields.emplace_back("keep-alive-tmo",
			    controller.keepAlive.count() ? formatSeconds(controller.keepAlive) : "none");
	fields.emplace_back("reconnect-delay", formatSeconds(controller.reconnectDelay));
	fields.emplace_back("ctrl-loss-tmo", formatTimeout(controller.ctrlLoss, "never"));
	fields.emplace_back("fast-io-fail-tmo", formatTimeout(controller.fastIoFail, "off"));
	fields.emplace_back("connect-tmo", formatSeconds(controller.connectTimeout));
	fields.emplace_back("stall-tmo",
			    controller.stallTimeout.count() ? formatSeconds(controller.stallTimeout) : "off");
	if (controller.firstConnect.count())
		fields.emplace_back("keep-trying", formatTimeout(controller.firstConnect, "forever"));
	addNumber(fields, "tos", controller.tos);
	fields.emplace_back("header digest", yesNo(controller.hdrDigest));
	fields.emplace_back("data digest", yesNo(controller.dataDigest));
	fields.emplace_back("sq flow control", controller.sqFlow ? "on" : "off");
	if (controller.rdma)
		addRdma(fields, *controller.rdma);
	if (controller.cntlid) // not known before the first connect
		fields.emplace_back("zero copy", controller.copies ? "no, data are copied" : "yes");
}

// ", key 123456 (nvmeof:dhchap:host:...), set 5 min ago"; a description is shown only if the key has one
std::string keyNote(std::int32_t serial, const std::string &description, std::chrono::nanoseconds since,
		    std::chrono::nanoseconds now, const char *origin = "set")
{
	std::string note = fmt::format(", key {}", serial);
	if (!description.empty())
		note += fmt::format(" ({})", description);
	return since.count() ? note + fmt::format(", {} {} ago", origin, formatAge(now - since)) : note;
}

// @object: a controller, or a path, which has the values of its controller
template <typename T> void addFailure(Fields &fields, const T &object)
{
	addText(fields, "last error", describeFailure(object.lastError, object.lastErrno));
	if (object.lastStatus)
		fields.emplace_back("last status", describeStatus(*object.lastStatus));
}

std::string numberOrOff(std::uint64_t number, const char *unit)
{
	return number ? fmt::format("{} {}", number, unit) : "off";
}

void addPolicy(Fields &fields, const Subsystem &subsystem)
{
	addText(fields, "iopolicy", subsystem.iopolicy);
	fields.emplace_back("spill-us", numberOrOff(static_cast<std::uint64_t>(subsystem.spillLatency.count()), "us"));
	fields.emplace_back("spill-depth", numberOrOff(subsystem.spillDepth, "commands"));
	fields.emplace_back("degrade", subsystem.degrade ? "on" : "off");
	fields.emplace_back("fencing", toString(subsystem.fencing));
	fields.emplace_back("delayed-removal-secs",
			    numberOrOff(static_cast<std::uint64_t>(subsystem.delayedRemoval.count()), "s"));
	fields.emplace_back("quiesce-tmo", fmt::format("{} s", subsystem.quiesceTimeout.count()));
	if (subsystem.tags)
		addNumber(fields, "tags", subsystem.tags);
}

void addLatency(Fields &fields, const char *key, const Histogram &histogram)
{
	LatencySummary summary = summaryOf(histogram);
	if (summary.count)
		fields.emplace_back(
			key, fmt::format("p50 {}, p99 {}", formatLatency(summary.p50), formatLatency(summary.p99)));
}

std::string latencyCell(const Histogram &histogram)
{
	LatencySummary summary = summaryOf(histogram);
	return summary.count ? fmt::format("{}/{}", formatLatency(summary.p50), formatLatency(summary.p99)) : "-";
}

struct EventDetail {
	const Event &event;
	const std::optional<AnaBefore> &before;

	std::string operator()(const std::monostate &) const { return "events were lost; all existing objects follow"; }
	std::string operator()(const Subsystem &s) const
	{
		return fmt::format("nqn={} iopolicy={}", s.nqn, s.iopolicy);
	}
	std::string operator()(const Controller &c) const
	{
		if (event.type == EventType::scanned)
			return event.scanErrno ? errorFromErrno(event.scanErrno).message
					       : nofctl::counted(c.paths, "path");
		std::string state = toString(c.state);
		if (event.oldState)
			state = fmt::format("{} -> {}", toString(*event.oldState), state);
		return fmt::format("{} {}", state, formatAddress(c));
	}
	std::string operator()(const Namespace &n) const
	{
		if (event.type == EventType::noPath)
			return fmt::format("none of {} paths is usable: {} requests waiting", n.paths, n.waiting);
		if (event.type == EventType::pathBack)
			return fmt::format("{} of {} paths usable again", n.usablePaths, n.paths);
		if (event.type == EventType::fewerPaths || event.type == EventType::allPaths)
			return fmt::format("{} of {} paths live", n.livePaths, n.expectedPaths);
		if (event.type == EventType::sameIds)
			return fmt::format("a namespace of another subsystem has the same identifier {}", n.wwid);
		if (event.failover)
			return fmt::format("{} failed over from {} in {}", nofctl::counted(event.failover->ios, "I/O"),
					   event.failover->path, formatLatency(event.failover->duration));
		return fmt::format("size={} paths={}/{}", formatSize(n.size), n.usablePaths, n.paths);
	}
	std::string operator()(const Path &p) const
	{
		std::string text = fmt::format("ana={} {}", toString(p.anaState), p.usable ? "usable" : "not usable");
		if (before)
			text += fmt::format(" (was {} for {})", toString(before->state), formatLatency(before->lasted));
		return text;
	}
	std::string operator()(const Aen &a) const
	{
		return fmt::format("type=0x{:x} info=0x{:x} log=0x{:x}", a.type, a.info, a.logPage);
	}
};

} // namespace

std::string authenticationNote(const Controller &controller, std::chrono::nanoseconds now)
{
	std::string note = controller.authRequired ? "no, required" : "no";
	if (const auto &is = controller.authentication)
		note = fmt::format("{}, {} ago, by {} and DH group {}", is->mutual ? "host and controller" : "host",
				   formatAge(now - is->at), is->hash, is->dhGroup);
	const auto &key = controller.authKey;
	return key ? note + keyNote(key->serial, key->description, key->since, now) : note;
}

std::string tlsNote(const Controller &controller, std::chrono::nanoseconds now)
{
	if (!controller.tls)
		return controller.concat ? "not connected yet, key generated by the authentication" : "no";
	const Tls &tls = *controller.tls;
	std::string note = tls.cipher.empty() ? "not connected yet" : tls.cipher;
	if (tls.at.count())
		note += fmt::format(", {} ago", formatAge(now - tls.at));
	return note + keyNote(tls.keyUsed ? tls.keyUsed : tls.key,
			      tls.identity.empty() ? "identity not known" : tls.identity, tls.keySince, now,
			      tls.generated ? "generated" : "set");
}

std::string hexText(std::span<const std::uint8_t> bytes)
{
	std::string text;
	for (std::uint8_t byte : bytes)
		fmt::format_to(std::back_inserter(text), "{:02x}", byte);
	return text;
}

std::string formatSize(std::uint64_t bytes)
{
	static constexpr const char *units[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
	if (bytes < 1000)
		return fmt::format("{} B", bytes);
	double value = static_cast<double>(bytes);
	std::size_t unit = 0;
	for (; value >= 999.995 && unit + 1 < std::size(units); unit++) // 999.995 would print as 1000.00
		value /= 1000;
	return fmt::format("{:.2f} {}", value, units[unit]);
}

std::string formatAddress(const Controller &controller)
{
	std::string text =
		fmt::format("{} traddr={},trsvcid={}", controller.transport, controller.traddr, controller.trsvcid);
	if (!controller.hostTraddr.empty())
		text += ",host_traddr=" + controller.hostTraddr;
	if (!controller.hostIface.empty())
		text += ",host_iface=" + controller.hostIface;
	return text;
}

std::string formatReached(const Controller &controller, bool there)
{
	return fmt::format("{} {} {} {}{}\n", controller.name, formatAddress(controller), controller.subsysnqn,
			   toString(controller.state), there ? ", connected before" : "");
}

bool isLeftOut(const Path &path)
{
	return path.degraded && path.controllerState == ControllerState::live;
}

std::string conditionOf(const Path &path)
{
	if (isLeftOut(path))
		return path.suspect ? "suspect" : path.probation ? "probation" : "degraded";
	return toString(path.controllerState);
}

std::string conditionOf(const Path &path, const SlowPaths &slow)
{
	const bool plain = path.controllerState == ControllerState::live && !isLeftOut(path);
	return plain && slow.contains(path.name) ? "slow" : conditionOf(path);
}

std::string pathsNote(const Namespace &ns, std::chrono::nanoseconds now)
{
	std::string text = fmt::format("{} usable of {}", ns.usablePaths, ns.paths);
	if (ns.livePaths < ns.expectedPaths)
		text += fmt::format("; {} connected of {} expected", ns.livePaths, ns.expectedPaths);
	if (ns.noPathSince)
		text += fmt::format("; none usable for {}: I/O waits", formatAge(now - *ns.noPathSince));
	return text;
}

bool anaIsCurrent(const Path &path)
{
	return path.controllerState == ControllerState::live;
}

std::string formatAna(const Path &path)
{
	const std::string state = toString(path.anaState);
	return anaIsCurrent(path) || path.anaState == AnaState::none ? state : "was " + state;
}

std::string formatSince(const Path &path, std::chrono::nanoseconds now)
{
	return path.anaSince && anaIsCurrent(path) ? formatAge(now - *path.anaSince) : "-";
}

std::string formatEvent(const Event &event, const std::optional<AnaBefore> &before)
{
	double seconds = std::chrono::duration<double>(event.time).count();
	std::string line = fmt::format("[{:14.6f}] {} {} {}", seconds, event.name().empty() ? "-" : event.name(),
				       toString(event.type), std::visit(EventDetail{event, before}, event.object));
	if (const Controller *controller = event.controller(); !event.reason.empty())
		line += ": " + describeFailure(event.reason, controller ? controller->lastErrno : 0);
	return nofctl::printable(line);
}

std::string peerToPeerNote(const Namespace &ns, const std::vector<Path> &paths, const std::vector<std::string> &stacked)
{
	std::vector<std::string> spoilers;
	for (const Path &path : paths)
		if (!path.p2p)
			spoilers.push_back(path.name);
	if (!ns.p2p)
		return spoilers.empty() ? "no" : fmt::format("no: not supported by {}", fmt::join(spoilers, ", "));
	return stacked.empty() ? "yes" : fmt::format("yes, but not through {}", fmt::join(stacked, ", "));
}

Fields fieldsOf(const Subsystem &subsystem)
{
	Fields fields{{"name", subsystem.name}, {"kind", "subsystem"}, {"nqn", subsystem.nqn}};
	addText(fields, "hostnqn", subsystem.hostnqn);
	if (subsystem.hostid)
		fields.emplace_back("hostid", subsystem.hostid->toString());
	addPolicy(fields, subsystem);
	addText(fields, "model", subsystem.model);
	addText(fields, "serial", subsystem.serial);
	addText(fields, "firmware", subsystem.firmware);
	addNumber(fields, "controllers", subsystem.controllers);
	addNumber(fields, "namespaces", subsystem.namespaces);
	return fields;
}

std::string lostNextStep(const std::string &controller)
{
	return fmt::format("reconnect is attempted every 30 to 60 s; 'nvmeofctl reset {0}' retries now, 'nvmeofctl "
			   "disconnect {0}' removes it",
			   controller);
}

Fields fieldsOf(const Controller &controller, std::chrono::nanoseconds now)
{
	Fields fields{{"name", controller.name}, {"kind", "controller"}, {"nqn", controller.subsysnqn}};
	addText(fields, "hostnqn", controller.hostnqn);
	fields.emplace_back("address", formatAddress(controller));
	fields.emplace_back("state", toString(controller.state));
	if (controller.cntlid)
		addNumber(fields, "cntlid", *controller.cntlid);
	addText(fields, "model", controller.model);
	addText(fields, "serial", controller.serial);
	addText(fields, "firmware", controller.firmware);
	addSettings(fields, controller);
	Controller named = controller;
	readKeyNames(named);
	fields.emplace_back("authenticated", authenticationNote(named, now));
	fields.emplace_back("tls", tlsNote(named, now));
	addNumber(fields, "reconnects", controller.reconnects);
	addNumber(fields, "attempts", controller.attempts);
	if (controller.lossLeft)
		fields.emplace_back("lost in", formatSeconds(*controller.lossLeft));
	if (controller.firmwareLeft)
		fields.emplace_back("firmware activation",
				    "no I/O for at most " + formatSeconds(*controller.firmwareLeft));
	if (controller.state == ControllerState::lost)
		fields.emplace_back("next step", lostNextStep(controller.name));
	addFailure(fields, controller);
	addNumber(fields, "in flight", controller.inflight);
	addNumber(fields, "paths", controller.paths);
	if (controller.scans)
		addNumber(fields, "scans", *controller.scans);
	addText(fields, "owner", controller.owner);
	return fields;
}

// Number of held requests, the reason, and the time left
static std::string heldNote(const Namespace &ns)
{
	std::string text = std::to_string(ns.held);
	if (!ns.hold)
		return text;
	text += fmt::format(", for at most {}: the association of {} was lost, and the target may still execute them",
			    formatSeconds(ns.hold->left), ns.hold->controller);
	if (!ns.hold->asked.empty())
		text += fmt::format("; {} was asked to reset it", ns.hold->asked);
	return text;
}

static void addZones(Fields &fields, const Zones &zones)
{
	auto max = [](std::uint32_t limit) { return limit ? fmt::format("at most {}", limit) : "no limit"; };
	fields.emplace_back("zones", fmt::format("{} of {}", zones.count, formatSize(zones.size)));
	fields.emplace_back("open zones", max(zones.maxOpen));
	fields.emplace_back("active zones", max(zones.maxActive));
	fields.emplace_back("zone append",
			    zones.maxAppend ? fmt::format("up to {}", formatSize(zones.maxAppend)) : "no");
}

std::vector<std::string> reservationTypes(std::uint8_t reservations)
{
	static constexpr std::array<std::pair<Reservations, const char *>, 6> names{{
		{writeExclusive, "write-exclusive"},
		{exclusiveAccess, "exclusive-access"},
		{writeExclusiveRegistrants, "write-exclusive-registrants"},
		{exclusiveAccessRegistrants, "exclusive-access-registrants"},
		{writeExclusiveAllRegistrants, "write-exclusive-all-registrants"},
		{exclusiveAccessAllRegistrants, "exclusive-access-all-registrants"},
	}};
	std::vector<std::string> types;
	for (auto [bit, name] : names)
		if (reservations & bit)
			types.emplace_back(name);
	return types;
}

static void addFormat(Fields &fields, const Namespace &ns)
{
	if (ns.protection)
		fields.emplace_back("protection information", fmt::format("type {}", ns.protection));
	if (ns.atomicWrite)
		fields.emplace_back("atomic writes",
				    fmt::format("up to {}{}", formatSize(ns.atomicWrite),
						ns.atomicBoundary ? ", within " + formatSize(ns.atomicBoundary) : ""));
	if (ns.reservations)
		fields.emplace_back(
			"reservations",
			fmt::format("{}{}", fmt::join(reservationTypes(ns.reservations), ", "),
				    ns.reservations & reservationsPersist ? "; persistent through power loss" : ""));
}

std::string deviceOf(const Namespace &ns)
{
	return (genericOnly(ns) ? "/dev/ng" : "/dev/") + ns.name;
}

Fields fieldsOf(const Namespace &ns, std::chrono::nanoseconds now)
{
	Fields fields{{"name", ns.name}, {"kind", "namespace"}, {"device", deviceOf(ns)}};
	addNumber(fields, "nsid", ns.nsid);
	addText(fields, "wwid", ns.wwid);
	if (ns.uuid)
		fields.emplace_back("uuid", ns.uuid->toString());
	if (ns.nguid)
		fields.emplace_back("nguid", hexText(*ns.nguid));
	if (ns.eui64)
		fields.emplace_back("eui64", hexText(*ns.eui64));
	if (genericOnly(ns)) {
		fields.emplace_back("command set",
				    (ns.csi ? std::to_string(*ns.csi) : "unknown") + ": generic node only");
	} else {
		fields.emplace_back("block size", fmt::format("{} B", ns.lbaSize));
		fields.emplace_back("size", fmt::format("{} ({} B)", formatSize(ns.size), ns.size));
	}
	fields.emplace_back("read-only", yesNo(ns.readOnly));
	addFormat(fields, ns);
	if (ns.zones)
		addZones(fields, *ns.zones);
	fields.emplace_back("paths", pathsNote(ns, now));
	addNumber(fields, "waiting", ns.waiting);
	fields.emplace_back("held", heldNote(ns));
	addNumber(fields, "openers", ns.openers);
	return fields;
}

Fields fieldsOf(const Path &path, std::chrono::nanoseconds now)
{
	Fields fields{
		{"name", path.name}, {"kind", "path"}, {"namespace", path.nameSpace}, {"controller", path.controller}};
	addNumber(fields, "nsid", path.nsid);
	fields.emplace_back("controller state", toString(path.controllerState));
	fields.emplace_back("ana state", path.anaSince && anaIsCurrent(path)
						 ? fmt::format("{} for {}", formatAna(path), formatSince(path, now))
						 : formatAna(path));
	if (path.anaGroup)
		addNumber(fields, "ana group", *path.anaGroup);
	fields.emplace_back("usable", yesNo(path.usable));
	fields.emplace_back("degraded", yesNo(path.degraded));
	fields.emplace_back("suspect", yesNo(path.suspect));
	fields.emplace_back("probation", yesNo(path.probation));
	fields.emplace_back("peer-to-peer", yesNo(path.p2p));
	fields.emplace_back("nvidia-fs", yesNo(path.nvfs));
	addNumber(fields, "in flight", path.inflight);
	addNumber(fields, "ios", path.ios);
	fields.emplace_back("read", formatSize(path.bytesRead));
	fields.emplace_back("written", formatSize(path.bytesWritten));
	addNumber(fields, "errors", path.errors);
	addNumber(fields, "retries", path.retries);
	addNumber(fields, "aborts", path.aborts);
	fields.emplace_back("failovers", fmt::format("{} from, {} to", path.failoversFrom, path.failoversTo));
	addLatency(fields, "read latency", path.readLatency);
	addLatency(fields, "write latency", path.writeLatency);
	addNumber(fields, "reconnects", path.reconnects);
	addFailure(fields, path);
	return fields;
}

Fields shownFields(const Subsystem &subsystem, const Snapshot &)
{
	return fieldsOf(subsystem);
}

Fields shownFields(const Controller &controller, const Snapshot &)
{
	return fieldsOf(controller);
}

Fields shownFields(const Namespace &ns, const Snapshot &related)
{
	Fields fields = fieldsOf(ns);
	if (const Subsystem *subsystem = related.subsystem(ns.subsystem)) {
		addText(fields, "subsystem", subsystem->name);
		addText(fields, "nqn", subsystem->nqn);
		addText(fields, "model", subsystem->model);
		addText(fields, "serial", subsystem->serial);
		addText(fields, "firmware", subsystem->firmware);
	}
	return fields;
}

Fields shownFields(const Path &path, const Snapshot &related)
{
	Fields fields = fieldsOf(path);
	if (const Controller *controller = related.controller(path.controller)) {
		addText(fields, "address", formatAddress(*controller));
		addText(fields, "nqn", controller->subsysnqn);
	}
	return fields;
}

std::string formatPaths(const std::vector<Path> &paths, std::chrono::nanoseconds now)
{
	Table table({{"Path"},
		     {"State"},
		     {"ANA"},
		     {"Since", Align::right},
		     {"Read p50/p99", Align::right},
		     {"Write p50/p99", Align::right},
		     {"From", Align::right},
		     {"To", Align::right},
		     {"Last error"}});
	const SlowPaths slow = slowPaths(paths);
	for (const Path &path : paths)
		table.add({path.name, conditionOf(path, slow), formatAna(path), formatSince(path, now),
			   latencyCell(path.readLatency), latencyCell(path.writeLatency),
			   std::to_string(path.failoversFrom), std::to_string(path.failoversTo),
			   describeFailure(path.lastError, path.lastErrno)});
	return table.render();
}
