// SPDX-License-Identifier: LGPL-2.1-or-later
#include "c_item.h"

using namespace nvmeof;

namespace nofctl {

namespace {

template <typename T> void put(nvmeof_item &item, const char *field, const std::optional<T> &value)
{
	if (value)
		item.numbers[field] = *value;
}

struct ItemOfObject {
	nvmeof_item operator()(std::monostate) const { return {}; }
	nvmeof_item operator()(const Aen &aen) const
	{
		nvmeof_item item;
		item.texts["name"] = aen.controller;
		item.texts["object_kind"] = "controller";
		item.numbers = {{"aen_type", aen.type}, {"aen_info", aen.info}, {"aen_log_page", aen.logPage}};
		return item;
	}
	template <typename T> nvmeof_item operator()(const T &object) const
	{
		nvmeof_item item = itemOf(object);
		constexpr const char *kinds[] = {"subsystem", "controller", "namespace", "path"};
		item.texts["object_kind"] = kinds[item.kind];
		return item;
	}
};

} // namespace

nvmeof_item itemOf(const Subsystem &subsystem)
{
	nvmeof_item item{NVMEOF_SUBSYSTEM};
	item.texts = {{"name", subsystem.name},        {"nqn", subsystem.nqn},       {"hostnqn", subsystem.hostnqn},
		      {"model", subsystem.model},      {"serial", subsystem.serial}, {"firmware", subsystem.firmware},
		      {"iopolicy", subsystem.iopolicy}};
	item.numbers = {{"id", subsystem.id}};
	return item;
}

nvmeof_item itemOf(const Controller &controller)
{
	nvmeof_item item{NVMEOF_CONTROLLER};
	item.texts = {{"name", controller.name},
		      {"nqn", controller.subsysnqn},
		      {"hostnqn", controller.hostnqn},
		      {"transport", controller.transport},
		      {"traddr", controller.traddr},
		      {"trsvcid", controller.trsvcid},
		      {"state", toString(controller.state)},
		      {"last_error", controller.lastError},
		      {"owner", controller.owner},
		      {"serial", controller.serial},
		      {"model", controller.model}};
	item.numbers = {{"subsystem", controller.subsystem},
			{"id", controller.id},
			{"reconnects", controller.reconnects},
			{"paths", controller.paths},
			{"inflight", controller.inflight},
			{"last_errno", static_cast<std::uint64_t>(controller.lastErrno)}};
	put(item, "last_status", controller.lastStatus);
	put(item, "scans", controller.scans);
	return item;
}

nvmeof_item itemOf(const Connection &connection)
{
	nvmeof_item item = itemOf(static_cast<const Controller &>(connection));
	item.disks = connection.disks;
	return item;
}

nvmeof_item itemOf(const Namespace &ns)
{
	nvmeof_item item{NVMEOF_NAMESPACE};
	item.texts = {{"name", ns.name}, {"wwid", ns.wwid}};
	if (ns.uuid)
		item.texts["uuid"] = ns.uuid->toString();
	item.numbers = {{"subsystem", ns.subsystem},      {"nsid", ns.nsid},          {"size", ns.size},
			{"lba_size", ns.lbaSize},         {"read_only", ns.readOnly}, {"paths", ns.paths},
			{"usable_paths", ns.usablePaths}, {"openers", ns.openers}};
	return item;
}

nvmeof_item itemOf(const Path &path)
{
	nvmeof_item item{NVMEOF_PATH};
	item.texts = {{"name", path.name},
		      {"namespace", path.nameSpace},
		      {"controller", path.controller},
		      {"ana_state", toString(path.anaState)}};
	item.numbers = {{"nsid", path.nsid},       {"usable", path.usable},       {"degraded", path.degraded},
			{"suspect", path.suspect}, {"probation", path.probation}, {"inflight", path.inflight}};
	return item;
}

nvmeof_item itemOf(const DiscoveryEntry &entry)
{
	nvmeof_item item{NVMEOF_DISCOVERY_ENTRY};
	item.texts = {{"kind", toString(entry.kind)},
		      {"transport", entry.transport},
		      {"address_family", entry.addressFamily},
		      {"traddr", entry.traddr},
		      {"trsvcid", entry.trsvcid},
		      {"nqn", entry.subsysnqn},
		      {"secure_channel", toString(entry.secureChannel)},
		      {"defect", entry.defect}};
	item.numbers = {{"port_id", entry.portId},
			{"cntlid", entry.cntlid},
			{"admin_queue_size", entry.adminQueueSize},
			{"sq_flow_off", entry.sqFlowOff},
			{"duplicate", entry.duplicate},
			{"persistent", entry.persistent}};
	return item;
}

nvmeof_item itemOf(const Event &event)
{
	nvmeof_item item = std::visit(ItemOfObject(), event.object);
	item.kind = NVMEOF_EVENT;
	item.texts["type"] = toString(event.type);
	item.texts["reason"] = event.reason;
	item.numbers["time"] = static_cast<std::uint64_t>(event.time.count());
	return item;
}

} // namespace nofctl
