// SPDX-License-Identifier: LGPL-2.1-or-later
// The CSI Identity service
#pragma once

#include <csi.grpc.pb.h>

#include "machine.h"

namespace csi {

inline constexpr const char *pluginName = "csi.nvmeof";

class IdentityService : public v1::Identity::Service {
public:
	// @machine: the local node; null in a controller, which attaches nothing
	explicit IdentityService(Machine *machine) : machine_(machine) {}

	grpc::Status GetPluginInfo(grpc::ServerContext *, const v1::GetPluginInfoRequest *,
				   v1::GetPluginInfoResponse *response) override;
	grpc::Status GetPluginCapabilities(grpc::ServerContext *, const v1::GetPluginCapabilitiesRequest *,
					   v1::GetPluginCapabilitiesResponse *response) override;
	// Not ready: this is a node, and the kernel module is missing and cannot be loaded.
	grpc::Status Probe(grpc::ServerContext *, const v1::ProbeRequest *, v1::ProbeResponse *response) override;

private:
	Machine *const machine_;
};

// Probes the plugin at an endpoint. OK: it responds, ready or not
grpc::Status checkPlugin(const std::string &endpoint);

} // namespace csi
