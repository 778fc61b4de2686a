// SPDX-License-Identifier: LGPL-2.1-or-later
// Who this plugin is.
#pragma once

#include <csi.grpc.pb.h>

#include "machine.h"

namespace csi {

inline constexpr const char *pluginName = "csi.nvmeof";

class IdentityService : public v1::Identity::Service {
public:
	// @machine: the node that is served; none in a controller, which attaches nothing
	explicit IdentityService(Machine *machine) : machine_(machine) {}

	grpc::Status GetPluginInfo(grpc::ServerContext *, const v1::GetPluginInfoRequest *,
				   v1::GetPluginInfoResponse *response) override;
	grpc::Status GetPluginCapabilities(grpc::ServerContext *, const v1::GetPluginCapabilitiesRequest *,
					   v1::GetPluginCapabilitiesResponse *response) override;
	// Not ready: this is a node, and the module is not there, and could not be loaded.
	grpc::Status Probe(grpc::ServerContext *, const v1::ProbeRequest *, v1::ProbeResponse *response) override;

private:
	Machine *const machine_;
};

// Asks the plugin that serves at an endpoint. OK: it answers, ready or not.
grpc::Status checkPlugin(const std::string &endpoint);

} // namespace csi
