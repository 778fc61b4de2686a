// SPDX-License-Identifier: LGPL-2.1-or-later
#include "controller.h"

#include <algorithm>
#include <chrono>

#include <nlohmann/json.hpp>

#include "capability.h"
#include "topology.h"

namespace csi {

using nlohmann::json;
using nofctl::volume::FenceKey;
using nvmeof::Result;
using Json = nlohmann::json;

namespace {

template <typename Map> Texts textsOf(const Map &map)
{
	return {map.begin(), map.end()};
}

grpc::Status checkAll(const auto &capabilities)
{
	if (capabilities.empty())
		return missing("volume_capabilities");
	for (const v1::VolumeCapability &capability : capabilities)
		if (grpc::Status status = checkCapability(capability); !status.ok())
			return status;
	return grpc::Status::OK;
}

// Parameters that distinguish two requests with one name
std::string keyOf(const v1::CreateVolumeRequest &request)
{
	return json{{"parameters", textsOf(request.parameters())},
		    {"required", request.capacity_range().required_bytes()},
		    {"limit", request.capacity_range().limit_bytes()}}
		.dump();
}

} // namespace

// The size of a namespace is known only on the node: a capacity of 0 means unknown, and the node rejects a namespace
// that is smaller than requested.
grpc::Status ControllerService::CreateVolume(grpc::ServerContext *, const v1::CreateVolumeRequest *request,
					     v1::CreateVolumeResponse *response)
{
	if (request->name().empty())
		return missing("name");
	if (grpc::Status status = checkAll(request->volume_capabilities()); !status.ok())
		return status;
	if (request->has_volume_content_source())
		return invalidArgument("volume_content_source: snapshots and clones are not supported");
	const v1::CapacityRange &range = request->capacity_range();
	if (range.required_bytes() < 0 || range.limit_bytes() < 0 ||
	    (range.limit_bytes() && range.limit_bytes() < range.required_bytes()))
		return {grpc::StatusCode::OUT_OF_RANGE,
			"capacity_range: the limit is below the required size, or a value is negative"};
	Texts context = contextOfClass(textsOf(request->parameters()), request->name());
	if (range.required_bytes())
		context["requiredBytes"] = std::to_string(range.required_bytes());
	Result<VolumeSpec> spec = parseVolume(context);
	if (!spec)
		return invalidArgument(spec.error().message);
	if (std::optional<std::string> before = created_.read(request->name()); before && *before != keyOf(*request))
		return {grpc::StatusCode::ALREADY_EXISTS, "a volume of that name was created with other parameters"};
	if (Result<void> kept = created_.write(request->name(), keyOf(*request)); !kept)
		return statusOf(kept.error());
	v1::Volume &volume = *response->mutable_volume();
	volume.set_volume_id(request->name());
	volume.mutable_volume_context()->insert(context.begin(), context.end());
	if (!spec->service.empty())
		(*volume.add_accessible_topology()->mutable_segments())[topologyKey(spec->service)] = "true";
	return grpc::Status::OK;
}

grpc::Status ControllerService::DeleteVolume(grpc::ServerContext *, const v1::DeleteVolumeRequest *request,
					     v1::DeleteVolumeResponse *)
{
	if (request->volume_id().empty())
		return missing("volume_id");
	const std::lock_guard lock(publishing_);
	const std::optional<Publications> all = publications(request->volume_id());
	if (!all)
		return unreadable(request->volume_id());
	if (!all->nodes.empty())
		return {grpc::StatusCode::FAILED_PRECONDITION, request->volume_id() + " is published to a node"};
	created_.remove(request->volume_id());
	published_.remove(request->volume_id());
	return grpc::Status::OK;
}

// Absent: the file exists but cannot be read.
std::optional<Publications> ControllerService::publications(const std::string &volume) const
{
	const std::optional<std::string> text = published_.read(volume);
	return text ? Publications::parse(*text) : Publications();
}

// Treating an unreadable file as "not published" could give the volume to a second node.
grpc::Status ControllerService::unreadable(const std::string &volume) const
{
	return {grpc::StatusCode::INTERNAL, published_.file(volume).string() +
						    " cannot be read: it is unknown which node has " + volume +
						    ": unmount the volume on all nodes, then delete the file"};
}

// A static volume is described by its context; of other volumes, only those created here are known.
grpc::Status ControllerService::checkVolume(const std::string &volume, const Texts &context) const
{
	if (context.empty() && !created_.read(volume))
		return {grpc::StatusCode::NOT_FOUND, "this controller has created no volume of that name"};
	if (context.empty())
		return grpc::Status::OK;
	Result<VolumeSpec> spec = parseVolume(context);
	return spec ? grpc::Status::OK : invalidArgument(spec.error().message);
}

/*
 * Targets are not informed, as there is no interface to an array. The reservation taken by the new node keeps the old
 * one from writing. Its key is newer than that of any earlier publication.
 */
grpc::Status ControllerService::ControllerPublishVolume(grpc::ServerContext *,
							const v1::ControllerPublishVolumeRequest *request,
							v1::ControllerPublishVolumeResponse *response)
{
	const std::string &volume = request->volume_id();
	if (volume.empty())
		return missing("volume_id");
	if (request->node_id().empty())
		return missing("node_id");
	if (!request->has_volume_capability())
		return missing("volume_capability");
	if (grpc::Status status = checkCapability(request->volume_capability()); !status.ok())
		return status;
	if (grpc::Status status = checkVolume(volume, textsOf(request->volume_context())); !status.ok())
		return status;
	const v1::VolumeCapability &capability = request->volume_capability();
	Publication wish{static_cast<int>(capability.access_mode().mode()),
			 capability.has_block(),
			 request->readonly(),
			 isForOneNode(capability),
			 {}};
	const std::lock_guard lock(publishing_);
	std::optional<Publications> found = publications(volume);
	if (!found)
		return unreadable(volume);
	Publications &all = *found;
	for (const auto &[node, one] : all.nodes)
		if (node != request->node_id() && (one.exclusive || wish.exclusive))
			return {grpc::StatusCode::FAILED_PRECONDITION, volume + " is published to node " + node};
	auto there = all.nodes.find(request->node_id());
	if (there != all.nodes.end() && !there->second.sameRequest(wish))
		return {grpc::StatusCode::ALREADY_EXISTS, volume + " is published to that node with other parameters"};
	if (there != all.nodes.end()) {
		wish.key = there->second.key;
	} else {
		wish.key = nofctl::volume::FenceKey::make(volume, all.next());
		all.nodes[request->node_id()] = wish;
		if (Result<void> kept = published_.write(volume, all.toText()); !kept)
			return statusOf(kept.error());
	}
	if (isExclusive(capability))
		(*response->mutable_publish_context())[fenceName] = wish.key.toString();
	return grpc::Status::OK;
}

// Without a node ID: from all nodes
grpc::Status ControllerService::ControllerUnpublishVolume(grpc::ServerContext *,
							  const v1::ControllerUnpublishVolumeRequest *request,
							  v1::ControllerUnpublishVolumeResponse *)
{
	if (request->volume_id().empty())
		return missing("volume_id");
	const std::lock_guard lock(publishing_);
	std::optional<Publications> all = publications(request->volume_id());
	if (!all)
		return unreadable(request->volume_id());
	if (all->nodes.empty())
		return grpc::Status::OK;
	if (request->node_id().empty())
		all->nodes.clear();
	else
		all->nodes.erase(request->node_id());
	Result<void> kept = published_.write(request->volume_id(), all->toText());
	return kept ? grpc::Status::OK : statusOf(kept.error());
}

grpc::Status ControllerService::ControllerExpandVolume(grpc::ServerContext *, const v1::ControllerExpandVolumeRequest *,
						       v1::ControllerExpandVolumeResponse *)
{
	return {grpc::StatusCode::UNIMPLEMENTED,
		"grow the namespace at its target; the node then grows the file system (NodeExpandVolume)"};
}

grpc::Status ControllerService::ValidateVolumeCapabilities(grpc::ServerContext *,
							   const v1::ValidateVolumeCapabilitiesRequest *request,
							   v1::ValidateVolumeCapabilitiesResponse *response)
{
	if (request->volume_id().empty())
		return missing("volume_id");
	if (request->volume_capabilities().empty())
		return missing("volume_capabilities");
	if (grpc::Status status = checkVolume(request->volume_id(), textsOf(request->volume_context())); !status.ok())
		return status;
	if (grpc::Status status = checkAll(request->volume_capabilities()); !status.ok()) {
		response->set_message(status.error_message());
		return grpc::Status::OK;
	}
	auto &confirmed = *response->mutable_confirmed();
	*confirmed.mutable_volume_context() = request->volume_context();
	*confirmed.mutable_volume_capabilities() = request->volume_capabilities();
	*confirmed.mutable_parameters() = request->parameters();
	return grpc::Status::OK;
}

grpc::Status ControllerService::ControllerGetCapabilities(grpc::ServerContext *,
							  const v1::ControllerGetCapabilitiesRequest *,
							  v1::ControllerGetCapabilitiesResponse *response)
{
	using RPC = v1::ControllerServiceCapability::RPC;
	for (auto type : {RPC::CREATE_DELETE_VOLUME, RPC::PUBLISH_UNPUBLISH_VOLUME, RPC::SINGLE_NODE_MULTI_WRITER})
		response->add_capabilities()->mutable_rpc()->set_type(type);
	return grpc::Status::OK;
}

// ---- publications

bool Publication::sameRequest(const Publication &other) const
{
	return sameAccess(accessMode, other.accessMode) && block == other.block && readOnly == other.readOnly;
}

std::uint64_t Publications::next()
{
	using Tick = std::chrono::duration<std::uint64_t, std::centi>;
	const auto now = std::chrono::system_clock::now().time_since_epoch();
	last = std::max(last + 1, std::chrono::duration_cast<Tick>(now).count());
	return last;
}

std::string Publications::toText() const
{
	Json all = Json::object();
	for (const auto &[node, one] : nodes)
		all[node] = {{"access_mode", one.accessMode},
			     {"block", one.block},
			     {"read_only", one.readOnly},
			     {"exclusive", one.exclusive},
			     {"key", one.key.value}};
	return Json{{"nodes", all}, {"last", last}}.dump();
}

std::optional<Publications> Publications::parse(const std::string &text)
try {
	Publications publications;
	const Json json = Json::parse(text);
	publications.last = json.at("last").get<std::uint64_t>();
	const Json &nodes = json.at("nodes");
	if (!nodes.is_object())
		return std::nullopt;
	for (const auto &[node, one] : nodes.items())
		publications.nodes[node] = {one.at("access_mode").get<int>(), one.at("block").get<bool>(),
					    one.at("read_only").get<bool>(), one.at("exclusive").get<bool>(),
					    FenceKey{one.at("key").get<std::uint64_t>()}};
	return publications;
} catch (const Json::exception &) {
	return std::nullopt;
}

} // namespace csi
