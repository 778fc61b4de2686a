// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Volumes on this node: staged once (attached, formatted if empty, mounted) and published for any number of pods. Every
 * call can be repeated, whatever part of it was done before.
 */
#pragma once

#include <csi.grpc.pb.h>

#include "machine.h"
#include "staged_volumes.h"
#include "topology.h"

namespace csi {

struct NodeOptions {
	std::string id;
	std::filesystem::path staged = "/run/nvmeof/csi/staged";
	std::filesystem::path reached = "/var/lib/nvmeof/csi/reached"; // survives a reboot
	std::vector<ReachableService> services;
	std::int64_t maxVolumes = 0; // limit for the orchestrator; 0: none
};

class NodeService : public v1::Node::Service {
public:
	NodeService(Machine &machine, NodeOptions options)
		: machine_(machine), options_(std::move(options)), staged_(options_.staged), reached_(options_.reached)
	{
	}

	grpc::Status NodeStageVolume(grpc::ServerContext *, const v1::NodeStageVolumeRequest *request,
				     v1::NodeStageVolumeResponse *) override;
	grpc::Status NodeUnstageVolume(grpc::ServerContext *, const v1::NodeUnstageVolumeRequest *request,
				       v1::NodeUnstageVolumeResponse *) override;
	grpc::Status NodePublishVolume(grpc::ServerContext *, const v1::NodePublishVolumeRequest *request,
				       v1::NodePublishVolumeResponse *) override;
	grpc::Status NodeUnpublishVolume(grpc::ServerContext *, const v1::NodeUnpublishVolumeRequest *request,
					 v1::NodeUnpublishVolumeResponse *) override;
	grpc::Status NodeGetVolumeStats(grpc::ServerContext *, const v1::NodeGetVolumeStatsRequest *request,
					v1::NodeGetVolumeStatsResponse *response) override;
	grpc::Status NodeExpandVolume(grpc::ServerContext *, const v1::NodeExpandVolumeRequest *request,
				      v1::NodeExpandVolumeResponse *response) override;
	grpc::Status NodeGetCapabilities(grpc::ServerContext *, const v1::NodeGetCapabilitiesRequest *,
					 v1::NodeGetCapabilitiesResponse *response) override;
	grpc::Status NodeGetInfo(grpc::ServerContext *, const v1::NodeGetInfoRequest *,
				 v1::NodeGetInfoResponse *response) override;

private:
	// A staged volume with its disk. An error status is the result of the call.
	struct Found {
		grpc::Status status = grpc::Status::OK;
		Staged staged;
		nvmeof::Namespace ns;
	};
	Found find(const std::string &volume);
	nvmeof::Result<std::optional<nvmeof::Namespace>> diskOf(const Staged &staged);
	bool samePlace(const std::string &one, const std::string &other);
	// Whether another volume is staged on the disk; an error: unknown
	nvmeof::Result<bool> isShared(const std::string &volume, const std::string &disk);
	// @undone: nothing is left of the stage, so that its record can be removed
	struct Outcome {
		grpc::Status status;
		bool undone;
	};
	Outcome attachAndMount(const v1::NodeStageVolumeRequest &request, const Staged &wish, const VolumeSpec &spec,
			       const std::optional<Staged> &before);
	grpc::Status fence(const v1::NodeStageVolumeRequest &request, const VolumeSpec &spec,
			   const nvmeof::Namespace &ns);
	grpc::Status inUse(const std::string &volume, const nvmeof::Namespace &ns, const std::string &staging);
	grpc::Status unstage(const std::string &volume, const std::string &path, const std::optional<Staged> &staged);
	grpc::Status detach(const std::string &volume, const std::vector<nofctl::volume::Entry> &entries);
	void unfence(const std::string &volume, const nvmeof::Namespace &ns);
	grpc::Status undo(const std::string &volume, const Staged &staged, const VolumeSpec &spec,
			  const std::optional<nvmeof::Namespace> &ns, bool attached);
	grpc::Status undo(const std::string &volume, const Staged &staged, const VolumeSpec &spec);
	grpc::Status mountVolume(const std::string &volume, const Staged &staged, const VolumeSpec &spec,
				 const nvmeof::Namespace &ns, bool readOnly);
	grpc::Status format(const std::string &volume, const std::string &device, const std::string &fileSystem,
			    std::vector<std::string> options, bool again);
	bool serves(const ReachableService &service);
	grpc::Status bindVolume(const Staged &staged, const nvmeof::Namespace &ns);
	grpc::Status publishBlock(const std::string &target, const nvmeof::Namespace &ns, bool readOnly,
				  const std::string &staging);
	grpc::Status publish(const v1::NodePublishVolumeRequest &request, const Found &found);

	Machine &machine_;
	const NodeOptions options_;
	const StagedVolumes staged_;
	const Folder reached_; // by service name: the address where it was reached
	Busy busy_, busyDisks_;
};

} // namespace csi
