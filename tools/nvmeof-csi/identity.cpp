// SPDX-License-Identifier: LGPL-2.1-or-later
#include "identity.h"

#include "status.h"

namespace csi {

grpc::Status IdentityService::GetPluginInfo(grpc::ServerContext *, const v1::GetPluginInfoRequest *,
					    v1::GetPluginInfoResponse *response)
{
	response->set_name(pluginName);
	response->set_vendor_version(NVMEOF_VERSION);
	return grpc::Status::OK;
}

grpc::Status IdentityService::GetPluginCapabilities(grpc::ServerContext *, const v1::GetPluginCapabilitiesRequest *,
						    v1::GetPluginCapabilitiesResponse *response)
{
	using Service = v1::PluginCapability::Service;
	for (auto type : {Service::CONTROLLER_SERVICE, Service::VOLUME_ACCESSIBILITY_CONSTRAINTS})
		response->add_capabilities()->mutable_service()->set_type(type);
	response->add_capabilities()->mutable_volume_expansion()->set_type(
		v1::PluginCapability::VolumeExpansion::ONLINE);
	return grpc::Status::OK;
}

grpc::Status IdentityService::Probe(grpc::ServerContext *, const v1::ProbeRequest *, v1::ProbeResponse *response)
{
	if (machine_)
		if (nvmeof::Result<void> ready = machine_->ready(); !ready)
			return {grpc::StatusCode::FAILED_PRECONDITION, ready.error().message};
	response->mutable_ready()->set_value(true);
	return grpc::Status::OK;
}

} // namespace csi
