// SPDX-License-Identifier: LGPL-2.1-or-later
#include "identity.h"

#include <chrono>

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

// An error would make the orchestrator restart the plugin, which does not load the module.
grpc::Status IdentityService::Probe(grpc::ServerContext *, const v1::ProbeRequest *, v1::ProbeResponse *response)
{
	const nvmeof::Result<void> ready = machine_ ? machine_->ready() : nvmeof::Result<void>();
	response->mutable_ready()->set_value(static_cast<bool>(ready));
	return grpc::Status::OK;
}

grpc::Status checkPlugin(const std::string &endpoint)
{
	constexpr std::chrono::seconds limit(5);
	auto stub = v1::Identity::NewStub(grpc::CreateChannel(endpoint, grpc::InsecureChannelCredentials()));
	grpc::ClientContext context;
	context.set_deadline(std::chrono::system_clock::now() + limit);
	v1::ProbeResponse response;
	return stub->Probe(&context, {}, &response);
}

} // namespace csi
