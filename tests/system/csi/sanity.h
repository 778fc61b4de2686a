// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Checks of the Container Storage Interface through a plugin's socket: missing arguments, unknown volumes, repeated
 * calls and contradicting calls. Used with a fake machine (unit_csi) and with real disks in a guest.
 */
#pragma once

#include <catch2/catch.hpp>
#include <csi.grpc.pb.h>
#include <grpcpp/grpcpp.h>

#include <functional>
#include <map>
#include <string>

namespace sanity {

using grpc::StatusCode;
using Texts = std::map<std::string, std::string>;
namespace v1 = csi::v1;
using Mode = v1::VolumeCapability::AccessMode;

struct Plugin {
	std::shared_ptr<grpc::Channel> channel;
	std::unique_ptr<v1::Identity::Stub> identity;
	std::unique_ptr<v1::Controller::Stub> controller;
	std::unique_ptr<v1::Node::Stub> node;

	explicit Plugin(const std::string &endpoint)
		: channel(grpc::CreateChannel(endpoint, grpc::InsecureChannelCredentials())),
		  identity(v1::Identity::NewStub(channel)), controller(v1::Controller::NewStub(channel)),
		  node(v1::Node::NewStub(channel))
	{
	}
};

// Makes one call and returns its code. The message is part of the output of a failed check.
template <typename Stub, typename Request, typename Response>
StatusCode call(Stub &stub, grpc::Status (Stub::*method)(grpc::ClientContext *, const Request &, Response *),
		const Request &request, Response *response = nullptr)
{
	grpc::ClientContext context;
	Response mine;
	const grpc::Status status = (stub.*method)(&context, request, response ? response : &mine);
	if (!status.ok())
		UNSCOPED_INFO(status.error_message());
	return status.error_code();
}

// Input of the checks: an existing volume, an unknown one, and directories.
struct Stage {
	Texts volume, unknown;
	std::string folder; // for staging and target paths
	std::uint64_t size = 0;
};

inline v1::VolumeCapability mountCapability(const std::string &type = "ext4",
					    Mode::Mode mode = Mode::SINGLE_NODE_WRITER)
{
	v1::VolumeCapability capability;
	capability.mutable_mount()->set_fs_type(type);
	capability.mutable_access_mode()->set_mode(mode);
	return capability;
}

inline v1::VolumeCapability blockCapability(Mode::Mode mode = Mode::SINGLE_NODE_WRITER)
{
	v1::VolumeCapability capability;
	capability.mutable_block();
	capability.mutable_access_mode()->set_mode(mode);
	return capability;
}

class Player {
public:
	Player(Plugin &plugin, Stage stage, std::string name = "pvc-1")
		: volume(std::move(name)), plugin_(plugin), stage_(std::move(stage))
	{
	}

	std::string staging() const { return stage_.folder + "/staging"; }
	std::string target(const std::string &name = "target") const { return stage_.folder + "/pods/" + name; }

	v1::NodeStageVolumeRequest stageRequest(const v1::VolumeCapability &capability) const
	{
		v1::NodeStageVolumeRequest request;
		request.set_volume_id(volume);
		request.set_staging_target_path(staging());
		*request.mutable_volume_capability() = capability;
		request.mutable_volume_context()->insert(stage_.volume.begin(), stage_.volume.end());
		return request;
	}
	StatusCode stage(const v1::VolumeCapability &capability) { return stage(stageRequest(capability)); }
	StatusCode stage(const v1::NodeStageVolumeRequest &request)
	{
		return call(*plugin_.node, &v1::Node::Stub::NodeStageVolume, request);
	}
	StatusCode unstage()
	{
		v1::NodeUnstageVolumeRequest request;
		request.set_volume_id(volume);
		request.set_staging_target_path(staging());
		return call(*plugin_.node, &v1::Node::Stub::NodeUnstageVolume, request);
	}
	v1::NodePublishVolumeRequest publishRequest(const v1::VolumeCapability &capability,
						    const std::string &name) const
	{
		v1::NodePublishVolumeRequest request;
		request.set_volume_id(volume);
		request.set_staging_target_path(staging());
		request.set_target_path(target(name));
		*request.mutable_volume_capability() = capability;
		request.mutable_volume_context()->insert(stage_.volume.begin(), stage_.volume.end());
		return request;
	}
	StatusCode publish(const v1::NodePublishVolumeRequest &request)
	{
		return call(*plugin_.node, &v1::Node::Stub::NodePublishVolume, request);
	}
	StatusCode publish(const v1::VolumeCapability &capability, const std::string &name = "target",
			   bool readOnly = false)
	{
		v1::NodePublishVolumeRequest request = publishRequest(capability, name);
		request.set_readonly(readOnly);
		return publish(request);
	}
	StatusCode unpublish(const std::string &name = "target")
	{
		v1::NodeUnpublishVolumeRequest request;
		request.set_volume_id(volume);
		request.set_target_path(target(name));
		return call(*plugin_.node, &v1::Node::Stub::NodeUnpublishVolume, request);
	}
	StatusCode stats(v1::NodeGetVolumeStatsResponse *response = nullptr)
	{
		v1::NodeGetVolumeStatsRequest request;
		request.set_volume_id(volume);
		request.set_volume_path(target());
		return call(*plugin_.node, &v1::Node::Stub::NodeGetVolumeStats, request, response);
	}
	StatusCode expand(std::int64_t required, v1::NodeExpandVolumeResponse *response = nullptr)
	{
		v1::NodeExpandVolumeRequest request;
		request.set_volume_id(volume);
		request.set_volume_path(target());
		request.mutable_capacity_range()->set_required_bytes(required);
		return call(*plugin_.node, &v1::Node::Stub::NodeExpandVolume, request, response);
	}

	void identity();
	void missingArguments();
	void refusedWishes();
	void mountedVolume();
	void blockVolume();
	void controller();
	void nodeInfo(const std::string &node);

	const std::string volume;

private:
	Plugin &plugin_;
	const Stage stage_;
};

inline void Player::identity()
{
	v1::GetPluginInfoResponse info;
	CHECK(call(*plugin_.identity, &v1::Identity::Stub::GetPluginInfo, {}, &info) == StatusCode::OK);
	CHECK(info.name() == "csi.nvmeof");
	CHECK_FALSE(info.vendor_version().empty());
	v1::GetPluginCapabilitiesResponse capabilities;
	CHECK(call(*plugin_.identity, &v1::Identity::Stub::GetPluginCapabilities, {}, &capabilities) == StatusCode::OK);
	CHECK(capabilities.capabilities_size() == 3);
	v1::ProbeResponse probe;
	CHECK(call(*plugin_.identity, &v1::Identity::Stub::Probe, {}, &probe) == StatusCode::OK);
	CHECK(probe.ready().value());
}

inline void Player::nodeInfo(const std::string &node)
{
	v1::NodeGetInfoResponse info;
	CHECK(call(*plugin_.node, &v1::Node::Stub::NodeGetInfo, {}, &info) == StatusCode::OK);
	CHECK(info.node_id() == node);
	CHECK_FALSE(info.accessible_topology().segments().empty()); // the plugin announces topology in its capabilities
	v1::NodeGetCapabilitiesResponse capabilities;
	CHECK(call(*plugin_.node, &v1::Node::Stub::NodeGetCapabilities, {}, &capabilities) == StatusCode::OK);
	CHECK(capabilities.capabilities_size() == 5);
}

// Removes each required argument in turn.
inline void Player::missingArguments()
{
	const auto whole = stageRequest(mountCapability());
	for (auto clear : std::initializer_list<void (*)(v1::NodeStageVolumeRequest &)>{
		     [](auto &r) { r.clear_volume_id(); }, [](auto &r) { r.clear_staging_target_path(); },
		     [](auto &r) { r.clear_volume_capability(); },
		     [](auto &r) { r.mutable_volume_capability()->clear_mount(); },
		     [](auto &r) { r.mutable_volume_capability()->clear_access_mode(); },
		     [](auto &r) { r.clear_volume_context(); },
		     [](auto &r) { r.mutable_volume_context()->erase("nqn"); },
		     [](auto &r) { r.mutable_volume_context()->erase("addresses"); }}) {
		auto request = whole;
		clear(request);
		CHECK(stage(request) == StatusCode::INVALID_ARGUMENT);
	}
	const auto publishing = publishRequest(mountCapability(), "target");
	for (auto clear : std::initializer_list<void (*)(v1::NodePublishVolumeRequest &)>{
		     [](auto &r) { r.clear_volume_id(); }, [](auto &r) { r.clear_target_path(); },
		     [](auto &r) { r.clear_volume_capability(); }}) {
		auto request = publishing;
		clear(request);
		CHECK(publish(request) == StatusCode::INVALID_ARGUMENT);
	}
	auto request = publishing;
	request.clear_staging_target_path();
	CHECK(publish(request) == StatusCode::FAILED_PRECONDITION);
	using Node = v1::Node::Stub;
	CHECK(call(*plugin_.node, &Node::NodeUnstageVolume, {}) == StatusCode::INVALID_ARGUMENT);
	CHECK(call(*plugin_.node, &Node::NodeUnpublishVolume, {}) == StatusCode::INVALID_ARGUMENT);
	CHECK(call(*plugin_.node, &Node::NodeGetVolumeStats, {}) == StatusCode::INVALID_ARGUMENT);
	CHECK(call(*plugin_.node, &Node::NodeExpandVolume, {}) == StatusCode::INVALID_ARGUMENT);
	v1::NodeUnstageVolumeRequest half;
	half.set_volume_id(volume);
	CHECK(call(*plugin_.node, &Node::NodeUnstageVolume, half) == StatusCode::INVALID_ARGUMENT);
}

// Requests for an unknown volume and with impossible capabilities
inline void Player::refusedWishes()
{
	auto request = stageRequest(mountCapability());
	request.clear_volume_context();
	request.mutable_volume_context()->insert(stage_.unknown.begin(), stage_.unknown.end());
	CHECK(stage(request) == StatusCode::NOT_FOUND);
	CHECK(unstage() == StatusCode::OK); // the orchestrator unstages after a failed stage
	CHECK(publish(mountCapability()) == StatusCode::NOT_FOUND);
	CHECK(stats() == StatusCode::NOT_FOUND);
	CHECK(expand(0) == StatusCode::NOT_FOUND);
	CHECK(unpublish() == StatusCode::OK);
	CHECK(stage(mountCapability("btrfs")) == StatusCode::INVALID_ARGUMENT);
	CHECK(stage(mountCapability("ext4", Mode::MULTI_NODE_MULTI_WRITER)) == StatusCode::INVALID_ARGUMENT);
	auto xfs = mountCapability("xfs");
	xfs.mutable_mount()->add_mount_flags("nobarrier");
	CHECK(stage(xfs) == StatusCode::INVALID_ARGUMENT);
	auto group = mountCapability();
	group.mutable_mount()->set_volume_mount_group("1000");
	CHECK(stage(group) == StatusCode::INVALID_ARGUMENT);
	request = stageRequest(mountCapability());
	(*request.mutable_volume_context())["nonsense"] = "1";
	CHECK(stage(request) == StatusCode::INVALID_ARGUMENT);
	request = stageRequest(mountCapability());
	(*request.mutable_volume_context())["requiredBytes"] = std::to_string(stage_.size + 1);
	CHECK(stage(request) == StatusCode::FAILED_PRECONDITION);
	CHECK(unstage() == StatusCode::OK);
}

inline void Player::mountedVolume()
{
	const auto capability = mountCapability();
	CHECK(stage(capability) == StatusCode::OK);
	CHECK(stage(capability) == StatusCode::OK);
	CHECK(stage(mountCapability("xfs")) == StatusCode::ALREADY_EXISTS);
	auto elsewhere = stageRequest(capability);
	elsewhere.set_staging_target_path(staging() + "2");
	CHECK(stage(elsewhere) == StatusCode::ALREADY_EXISTS);
	CHECK(publish(blockCapability()) == StatusCode::FAILED_PRECONDITION);
	CHECK(publish(capability) == StatusCode::OK);
	CHECK(publish(capability) == StatusCode::OK);
	CHECK(publish(capability, "target", true) == StatusCode::ALREADY_EXISTS);
	CHECK(publish(capability, "second", true) == StatusCode::OK);
	v1::NodeGetVolumeStatsResponse usage;
	CHECK(stats(&usage) == StatusCode::OK);
	REQUIRE(usage.usage_size() == 2);
	CHECK(usage.usage(0).total() > 0);
	CHECK(usage.usage(0).used() > 0);
	CHECK(usage.usage(0).used() + usage.usage(0).available() <= usage.usage(0).total()); // root has a reserve
	CHECK_FALSE(usage.volume_condition().abnormal());
	v1::NodeExpandVolumeResponse size;
	CHECK(expand(static_cast<std::int64_t>(stage_.size), &size) == StatusCode::OK);
	CHECK(size.capacity_bytes() == static_cast<std::int64_t>(stage_.size));
	CHECK(expand(static_cast<std::int64_t>(stage_.size) + 1) == StatusCode::OUT_OF_RANGE);
	CHECK(unstage() == StatusCode::FAILED_PRECONDITION);   // it is still published
	CHECK(publish(capability, "third") == StatusCode::OK); // the refused unstage left it staged
	CHECK(unpublish("third") == StatusCode::OK);
	CHECK(unpublish("second") == StatusCode::OK);
	CHECK(unpublish() == StatusCode::OK);
	CHECK(unpublish() == StatusCode::OK);
	CHECK(stage(capability) == StatusCode::OK);
	CHECK(unstage() == StatusCode::OK);
	CHECK(unstage() == StatusCode::OK);
	CHECK(publish(capability) == StatusCode::NOT_FOUND);
}

inline void Player::blockVolume()
{
	const auto capability = blockCapability(Mode::MULTI_NODE_MULTI_WRITER);
	CHECK(stage(capability) == StatusCode::OK);
	CHECK(stage(capability) == StatusCode::OK);
	CHECK(publish(mountCapability()) == StatusCode::FAILED_PRECONDITION);
	CHECK(publish(capability) == StatusCode::OK);
	CHECK(publish(capability) == StatusCode::OK);
	v1::NodeGetVolumeStatsResponse usage;
	CHECK(stats(&usage) == StatusCode::OK);
	REQUIRE(usage.usage_size() == 1);
	CHECK(usage.usage(0).total() == static_cast<std::int64_t>(stage_.size));
	CHECK(unstage() == StatusCode::FAILED_PRECONDITION); // it is published to a container
	CHECK(unpublish() == StatusCode::OK);
	CHECK(unstage() == StatusCode::OK);
}

inline void Player::controller()
{
	using Controller = v1::Controller::Stub;
	v1::ControllerGetCapabilitiesResponse capabilities;
	CHECK(call(*plugin_.controller, &Controller::ControllerGetCapabilities, {}, &capabilities) == StatusCode::OK);
	REQUIRE(capabilities.capabilities_size() == 3);
	v1::CreateVolumeRequest request;
	request.set_name("pvc-9");
	*request.add_volume_capabilities() = mountCapability();
	request.mutable_capacity_range()->set_required_bytes(1 << 20);
	Texts parameters{{"nqn", "nqn.2024-01.com.example:${name}"},
			 {"addresses", "10.0.0.1,10.0.0.2"},
			 {"iopolicy", "latency"},
			 {"service", "rack1"},
			 {"ctrl-loss-tmo", "60"}};
	request.mutable_parameters()->insert(parameters.begin(), parameters.end());
	v1::CreateVolumeResponse made;
	CHECK(call(*plugin_.controller, &Controller::CreateVolume, request, &made) == StatusCode::OK);
	CHECK(made.volume().volume_context().at("nqn") == "nqn.2024-01.com.example:pvc-9");
	CHECK(made.volume().volume_context().at("nsid") == "1");
	REQUIRE(made.volume().accessible_topology_size() == 1);
	CHECK(made.volume().accessible_topology(0).segments().at("csi.nvmeof/service-rack1") == "true");
	CHECK(call(*plugin_.controller, &Controller::CreateVolume, request) == StatusCode::OK);
	auto other = request;
	other.mutable_capacity_range()->set_required_bytes(2 << 20);
	CHECK(call(*plugin_.controller, &Controller::CreateVolume, other) == StatusCode::ALREADY_EXISTS);
	for (auto spoil : std::initializer_list<void (*)(v1::CreateVolumeRequest &)>{
		     [](auto &r) { r.clear_name(); }, [](auto &r) { r.clear_volume_capabilities(); },
		     [](auto &r) { r.mutable_parameters()->erase("addresses"); },
		     [](auto &r) { (*r.mutable_parameters())["ctrl-loss-tmo"] = "soon"; },
		     [](auto &r) { (*r.mutable_parameters())["iopolicy "] = "x"; },
		     [](auto &r) { (*r.mutable_parameters())["transport"] = "fc"; },
		     [](auto &r) { r.mutable_volume_content_source()->mutable_volume()->set_volume_id("x"); }}) {
		auto wrong = request;
		spoil(wrong);
		CHECK(call(*plugin_.controller, &Controller::CreateVolume, wrong) == StatusCode::INVALID_ARGUMENT);
	}
	auto narrow = request;
	narrow.mutable_capacity_range()->set_limit_bytes(1);
	CHECK(call(*plugin_.controller, &Controller::CreateVolume, narrow) == StatusCode::OUT_OF_RANGE);
	v1::ValidateVolumeCapabilitiesRequest validate;
	CHECK(call(*plugin_.controller, &Controller::ValidateVolumeCapabilities, validate) ==
	      StatusCode::INVALID_ARGUMENT);
	validate.set_volume_id("pvc-9");
	CHECK(call(*plugin_.controller, &Controller::ValidateVolumeCapabilities, validate) ==
	      StatusCode::INVALID_ARGUMENT);
	*validate.add_volume_capabilities() = mountCapability();
	v1::ValidateVolumeCapabilitiesResponse answer;
	CHECK(call(*plugin_.controller, &Controller::ValidateVolumeCapabilities, validate, &answer) == StatusCode::OK);
	CHECK(answer.has_confirmed());
	*validate.mutable_volume_capabilities(0) = mountCapability("ext4", Mode::MULTI_NODE_MULTI_WRITER);
	CHECK(call(*plugin_.controller, &Controller::ValidateVolumeCapabilities, validate, &answer) == StatusCode::OK);
	CHECK_FALSE(answer.has_confirmed());
	CHECK_FALSE(answer.message().empty());
	v1::DeleteVolumeRequest remove;
	CHECK(call(*plugin_.controller, &Controller::DeleteVolume, remove) == StatusCode::INVALID_ARGUMENT);
	remove.set_volume_id("pvc-9");
	CHECK(call(*plugin_.controller, &Controller::DeleteVolume, remove) == StatusCode::OK);
	CHECK(call(*plugin_.controller, &Controller::DeleteVolume, remove) == StatusCode::OK);
	CHECK(call(*plugin_.controller, &Controller::ValidateVolumeCapabilities, validate) == StatusCode::NOT_FOUND);
	v1::ControllerPublishVolumeRequest publishing;
	CHECK(call(*plugin_.controller, &Controller::ControllerPublishVolume, publishing) ==
	      StatusCode::INVALID_ARGUMENT);
	publishing.set_volume_id("pvc-9");
	CHECK(call(*plugin_.controller, &Controller::ControllerPublishVolume, publishing) ==
	      StatusCode::INVALID_ARGUMENT);
	publishing.set_node_id("node1");
	CHECK(call(*plugin_.controller, &Controller::ControllerPublishVolume, publishing) ==
	      StatusCode::INVALID_ARGUMENT);
	*publishing.mutable_volume_capability() = mountCapability();
	CHECK(call(*plugin_.controller, &Controller::ControllerPublishVolume, publishing) == StatusCode::NOT_FOUND);
	CHECK(call(*plugin_.controller, &Controller::ControllerUnpublishVolume, {}) == StatusCode::INVALID_ARGUMENT);
	CHECK(call(*plugin_.controller, &Controller::ControllerExpandVolume, {}) == StatusCode::UNIMPLEMENTED);
}

} // namespace sanity
