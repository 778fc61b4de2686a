// SPDX-License-Identifier: LGPL-2.1-or-later
#include "controller.h"

#include <nlohmann/json.hpp>

#include "capability.h"
#include "topology.h"

namespace csi {

using nlohmann::json;
using nvmeof::Result;

namespace {

template <typename Map> Texts textsOf(const Map &map)
{
	return {map.begin(), map.end()};
}

grpc::Status checkAll(const auto &capabilities)
{
	if (capabilities.empty())
		return lacks("volume_capabilities");
	for (const v1::VolumeCapability &capability : capabilities)
		if (grpc::Status status = checkCapability(capability); !status.ok())
			return status;
	return grpc::Status::OK;
}

// What makes two requests of one name the same
std::string keyOf(const v1::CreateVolumeRequest &request)
{
	return json{{"parameters", textsOf(request.parameters())},
		    {"required", request.capacity_range().required_bytes()},
		    {"limit", request.capacity_range().limit_bytes()}}
		.dump();
}

} // namespace

// How large a namespace is only the node will see: a capacity of 0 says that it is not known, and the node refuses one
// that is smaller than the claim.
grpc::Status ControllerService::CreateVolume(grpc::ServerContext *, const v1::CreateVolumeRequest *request,
					     v1::CreateVolumeResponse *response)
{
	if (request->name().empty())
		return lacks("name");
	if (grpc::Status status = checkAll(request->volume_capabilities()); !status.ok())
		return status;
	if (request->has_volume_content_source())
		return invalid("volume_content_source: there are no snapshots or clones");
	const v1::CapacityRange &range = request->capacity_range();
	if (range.required_bytes() < 0 || range.limit_bytes() < 0 ||
	    (range.limit_bytes() && range.limit_bytes() < range.required_bytes()))
		return {grpc::StatusCode::OUT_OF_RANGE, "capacity_range: it holds nothing"};
	Texts context = ofClass(textsOf(request->parameters()), request->name());
	if (range.required_bytes())
		context["requiredBytes"] = std::to_string(range.required_bytes());
	Result<VolumeSpec> spec = parseVolume(context);
	if (!spec)
		return invalid(spec.error().message);
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
		return lacks("volume_id");
	created_.remove(request->volume_id());
	return grpc::Status::OK;
}

grpc::Status ControllerService::ValidateVolumeCapabilities(grpc::ServerContext *,
							   const v1::ValidateVolumeCapabilitiesRequest *request,
							   v1::ValidateVolumeCapabilitiesResponse *response)
{
	if (request->volume_id().empty())
		return lacks("volume_id");
	if (request->volume_capabilities().empty())
		return lacks("volume_capabilities");
	// A static volume says in its context what it is; of others only their names are known.
	const Texts context = textsOf(request->volume_context());
	if (context.empty() && !created_.read(request->volume_id()))
		return {grpc::StatusCode::NOT_FOUND, "no volume of that name was created here"};
	if (!context.empty())
		if (Result<VolumeSpec> spec = parseVolume(context); !spec)
			return invalid(spec.error().message);
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
	response->add_capabilities()->mutable_rpc()->set_type(RPC::CREATE_DELETE_VOLUME);
	return grpc::Status::OK;
}

} // namespace csi
