// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Volumes of a StorageClass, without an interface to any array. A volume is an existing subsystem or namespace, or one
 * that an administrator creates with the name that the class gives it. Deleting a volume leaves its data.
 */
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include <csi.grpc.pb.h>

#include "libctl/volume/fence.h"
#include "staged_volumes.h"

namespace csi {

// A volume published to a node
struct Publication {
	int accessMode = 0;
	bool block = false;
	bool readOnly = false;
	bool exclusive = false; // for one node only
	nofctl::volume::FenceKey key;

	bool sameRequest(const Publication &other) const; // all members but the key are equal
};

// The nodes to which the controller has published a volume
struct Publications {
	std::map<std::string, Publication> nodes;
	std::uint64_t last = 0; // number of the latest publication; kept when the volume is published nowhere

	// Greater than all earlier numbers, also if these files are lost: based on units of 10 ms since 1970
	std::uint64_t next();
	std::string toText() const;
	static std::optional<Publications> parse(const std::string &text); // absent: malformed
};

class ControllerService : public v1::Controller::Service {
public:
	ControllerService(std::filesystem::path created, std::filesystem::path published)
		: created_(std::move(created)), published_(std::move(published))
	{
	}

	grpc::Status CreateVolume(grpc::ServerContext *, const v1::CreateVolumeRequest *request,
				  v1::CreateVolumeResponse *response) override;
	grpc::Status DeleteVolume(grpc::ServerContext *, const v1::DeleteVolumeRequest *request,
				  v1::DeleteVolumeResponse *) override;
	// A volume written by one node is published to no other. The node gets a reservation key for its right to
	// write.
	grpc::Status ControllerPublishVolume(grpc::ServerContext *, const v1::ControllerPublishVolumeRequest *request,
					     v1::ControllerPublishVolumeResponse *response) override;
	grpc::Status ControllerUnpublishVolume(grpc::ServerContext *,
					       const v1::ControllerUnpublishVolumeRequest *request,
					       v1::ControllerUnpublishVolumeResponse *) override;
	grpc::Status ControllerExpandVolume(grpc::ServerContext *, const v1::ControllerExpandVolumeRequest *request,
					    v1::ControllerExpandVolumeResponse *) override;
	grpc::Status ValidateVolumeCapabilities(grpc::ServerContext *,
						const v1::ValidateVolumeCapabilitiesRequest *request,
						v1::ValidateVolumeCapabilitiesResponse *response) override;
	grpc::Status ControllerGetCapabilities(grpc::ServerContext *, const v1::ControllerGetCapabilitiesRequest *,
					       v1::ControllerGetCapabilitiesResponse *response) override;

private:
	grpc::Status checkVolume(const std::string &volume, const Texts &context) const;
	std::optional<Publications> publications(const std::string &volume) const;
	grpc::Status unreadable(const std::string &volume) const;

	Folder created_;   // by volume name: the request
	Folder published_; // by volume name
	std::mutex publishing_;
};

} // namespace csi
