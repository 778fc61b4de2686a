// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Volumes of a StorageClass, without the interface of any array: a volume is a subsystem, or a namespace of one, that
 * the target has already, or that somebody makes by the name that the class gives it. Deleting one leaves its data.
 */
#pragma once

#include <filesystem>

#include <csi.grpc.pb.h>

#include "staging.h"

namespace csi {

class ControllerService : public v1::Controller::Service {
public:
	explicit ControllerService(std::filesystem::path created) : created_(std::move(created)) {}

	grpc::Status CreateVolume(grpc::ServerContext *, const v1::CreateVolumeRequest *request,
				  v1::CreateVolumeResponse *response) override;
	grpc::Status DeleteVolume(grpc::ServerContext *, const v1::DeleteVolumeRequest *request,
				  v1::DeleteVolumeResponse *) override;
	grpc::Status ValidateVolumeCapabilities(grpc::ServerContext *,
						const v1::ValidateVolumeCapabilitiesRequest *request,
						v1::ValidateVolumeCapabilitiesResponse *response) override;
	grpc::Status ControllerGetCapabilities(grpc::ServerContext *, const v1::ControllerGetCapabilitiesRequest *,
					       v1::ControllerGetCapabilitiesResponse *response) override;

private:
	Folder created_; // by name: what was asked for
};

} // namespace csi
