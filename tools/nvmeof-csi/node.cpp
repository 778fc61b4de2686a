// SPDX-License-Identifier: LGPL-2.1-or-later
#include "node.h"

#include <sys/mount.h>

#include "capability.h"

namespace csi {

using namespace nvmeof;
using grpc::Status;
using grpc::StatusCode;

namespace {

Status busy(const std::string &volume)
{
	return {StatusCode::ABORTED, "another call for " + volume + " is going on"};
}

std::string deviceOf(const Namespace &ns)
{
	return "/dev/" + ns.name;
}

Staged wishOf(const v1::NodeStageVolumeRequest &request)
{
	const v1::VolumeCapability &capability = request.volume_capability();
	return {{request.volume_context().begin(), request.volume_context().end()},
		request.staging_target_path(),
		fileSystemOf(capability),
		optionsOf(capability),
		static_cast<int>(capability.access_mode().mode())};
}

void add(v1::NodeGetVolumeStatsResponse &response, v1::VolumeUsage::Unit unit, std::uint64_t total, std::uint64_t left)
{
	v1::VolumeUsage &usage = *response.add_usage();
	usage.set_unit(unit);
	usage.set_total(static_cast<std::int64_t>(total));
	usage.set_available(static_cast<std::int64_t>(left));
	usage.set_used(static_cast<std::int64_t>(total - left));
}

// One path that is lost is no reason to move a pod: it is told, and the volume is as it should be for who uses it.
void putCondition(v1::VolumeCondition &condition, const Namespace &ns)
{
	condition.set_abnormal(ns.usablePaths == 0);
	condition.set_message(std::to_string(ns.livePaths) + " of " + std::to_string(ns.expectedPaths) +
			      " paths are connected, " + std::to_string(ns.usablePaths) + " take I/O");
}

} // namespace

NodeService::Found NodeService::find(const std::string &volume)
{
	Found found;
	std::optional<Staged> staged = staged_.find(volume);
	if (!staged) {
		found.status = {StatusCode::NOT_FOUND, volume + " is not staged on this node"};
		return found;
	}
	found.staged = *staged;
	Result<VolumeSpec> spec = parseVolume(staged->context);
	Result<std::optional<Namespace>> ns =
		spec ? machine_.find(spec->entry()) : Result<std::optional<Namespace>>(spec.error());
	if (!ns)
		found.status = statusOf(ns.error());
	else if (!*ns)
		found.status = {StatusCode::NOT_FOUND, volume + ": its disk is not there"};
	else
		found.ns = **ns;
	return found;
}

// What is on a disk stays: it is formatted when nothing at all is there.
Status NodeService::mountVolume(const Staged &staged, const VolumeSpec &spec, const Namespace &ns, bool readOnly)
{
	const std::string device = deviceOf(ns);
	if (std::optional<Mounted> there = machine_.mountedAt(staged.path))
		return there->source == device
			       ? Status::OK
			       : Status(StatusCode::ALREADY_EXISTS, there->source + " is mounted on " + staged.path);
	Result<MountOptions> options = mountOptions(staged.fileSystem, staged.options);
	if (!options)
		return statusOf(options.error());
	readOnly = readOnly || ns.readOnly || (options->flags & MS_RDONLY) != 0;
	Result<std::string> content = machine_.contentOf(device);
	if (!content)
		return statusOf(content.error());
	if (!content->empty() && *content != staged.fileSystem)
		return {StatusCode::FAILED_PRECONDITION,
			device + " has something else on it than " + staged.fileSystem +
				(*content == "?" ? "" : ": " + *content) + "; it is left as it is"};
	if (content->empty()) {
		if (readOnly)
			return {StatusCode::FAILED_PRECONDITION, device + " is empty, and only to be read"};
		if (Result<void> made = machine_.format(device, staged.fileSystem, spec.mkfsOptions); !made)
			return statusOf(made.error());
	}
	if (readOnly)
		options->flags |= MS_RDONLY;
	Result<void> done = machine_.mount(device, staged.path, staged.fileSystem, *options);
	return done ? Status::OK : statusOf(done.error());
}

// Written down before anything is done, so that an Unstage after a failure knows what there is to undo.
Status NodeService::NodeStageVolume(grpc::ServerContext *, const v1::NodeStageVolumeRequest *request,
				    v1::NodeStageVolumeResponse *)
{
	const std::string &volume = request->volume_id();
	if (volume.empty())
		return lacks("volume_id");
	if (request->staging_target_path().empty())
		return lacks("staging_target_path");
	if (!request->has_volume_capability())
		return lacks("volume_capability");
	if (Status status = checkCapability(request->volume_capability()); !status.ok())
		return status;
	const Staged wish = wishOf(*request);
	Result<VolumeSpec> spec = parseVolume(wish.context);
	if (!spec)
		return invalid("volume_context: " + spec.error().message);
	Busy::Hold hold(busy_, volume);
	if (!hold)
		return busy(volume);
	if (std::optional<Staged> there = staged_.find(volume); there && *there != wish)
		return {StatusCode::ALREADY_EXISTS, volume + " is staged at " + there->path + " in another way"};
	if (Result<void> kept = staged_.add(volume, wish); !kept)
		return statusOf(kept.error());
	Result<nofctl::volume::Attached> attached = machine_.attach(spec->attach);
	if (!attached)
		return statusOf(attached.error());
	if (attached->ns.size < spec->requiredBytes)
		return {StatusCode::FAILED_PRECONDITION, deviceOf(attached->ns) + " has " +
								 std::to_string(attached->ns.size) + " bytes, and " +
								 std::to_string(spec->requiredBytes) + " were claimed"};
	if (wish.fileSystem.empty())
		return Status::OK;
	return mountVolume(wish, *spec, attached->ns, readsOnly(request->volume_capability()));
}

Status NodeService::NodeUnstageVolume(grpc::ServerContext *, const v1::NodeUnstageVolumeRequest *request,
				      v1::NodeUnstageVolumeResponse *)
{
	const std::string &volume = request->volume_id();
	if (volume.empty())
		return lacks("volume_id");
	if (request->staging_target_path().empty())
		return lacks("staging_target_path");
	Busy::Hold hold(busy_, volume);
	if (!hold)
		return busy(volume);
	std::optional<Staged> staged = staged_.find(volume);
	if (!staged) // it was done before, or the node has been started since
		return Status::OK;
	if (Result<void> done = machine_.unmount(request->staging_target_path(), false); !done)
		return statusOf(done.error());
	Result<VolumeSpec> spec = parseVolume(staged->context);
	if (!spec)
		return statusOf(spec.error());
	if (Result<nofctl::volume::Detached> gone = machine_.detach(spec->entry()); !gone)
		return statusOf(gone.error());
	staged_.remove(volume);
	return Status::OK;
}

Status NodeService::publish(const v1::NodePublishVolumeRequest &request, const Found &found)
{
	const bool block = request.volume_capability().has_block();
	const std::string device = deviceOf(found.ns);
	const bool readOnly = request.readonly() || readsOnly(request.volume_capability());
	if (std::optional<Mounted> there = machine_.mountedAt(request.target_path())) {
		if (there->source == device && there->readOnly == readOnly)
			return Status::OK;
		return {StatusCode::ALREADY_EXISTS, there->source + " is at " + request.target_path() +
							    (there->readOnly ? ", to be read" : ", to be written")};
	}
	if (!block) {
		std::optional<Mounted> staging = machine_.mountedAt(found.staged.path);
		if (!staging || staging->source != device)
			return {StatusCode::FAILED_PRECONDITION, "nothing is mounted on " + found.staged.path};
	}
	Result<void> done = machine_.bind(block ? device : found.staged.path, request.target_path(), readOnly);
	return done ? Status::OK : statusOf(done.error());
}

Status NodeService::NodePublishVolume(grpc::ServerContext *, const v1::NodePublishVolumeRequest *request,
				      v1::NodePublishVolumeResponse *)
{
	const std::string &volume = request->volume_id();
	if (volume.empty())
		return lacks("volume_id");
	if (request->target_path().empty())
		return lacks("target_path");
	if (!request->has_volume_capability())
		return lacks("volume_capability");
	if (Status status = checkCapability(request->volume_capability()); !status.ok())
		return status;
	if (request->staging_target_path().empty())
		return {StatusCode::FAILED_PRECONDITION, "staging_target_path is missing: volumes are staged first"};
	Busy::Hold hold(busy_, volume);
	if (!hold)
		return busy(volume);
	Found found = find(volume);
	if (!found.status.ok())
		return found.status;
	if (found.staged.path != request->staging_target_path() ||
	    found.staged.fileSystem.empty() != request->volume_capability().has_block())
		return {StatusCode::FAILED_PRECONDITION,
			volume + " is staged at " + found.staged.path + " in another way"};
	return publish(*request, found);
}

Status NodeService::NodeUnpublishVolume(grpc::ServerContext *, const v1::NodeUnpublishVolumeRequest *request,
					v1::NodeUnpublishVolumeResponse *)
{
	if (request->volume_id().empty())
		return lacks("volume_id");
	if (request->target_path().empty())
		return lacks("target_path");
	Busy::Hold hold(busy_, request->volume_id());
	if (!hold)
		return busy(request->volume_id());
	Result<void> done = machine_.unmount(request->target_path(), true);
	return done ? Status::OK : statusOf(done.error());
}

Status NodeService::NodeGetVolumeStats(grpc::ServerContext *, const v1::NodeGetVolumeStatsRequest *request,
				       v1::NodeGetVolumeStatsResponse *response)
{
	if (request->volume_id().empty())
		return lacks("volume_id");
	if (request->volume_path().empty())
		return lacks("volume_path");
	Found found = find(request->volume_id());
	if (!found.status.ok())
		return found.status;
	if (!machine_.exists(request->volume_path()))
		return {StatusCode::NOT_FOUND, request->volume_path() + " is not there"};
	putCondition(*response->mutable_volume_condition(), found.ns);
	if (found.staged.fileSystem.empty()) {
		v1::VolumeUsage &usage = *response->add_usage();
		usage.set_unit(v1::VolumeUsage::BYTES);
		usage.set_total(static_cast<std::int64_t>(found.ns.size));
		return Status::OK;
	}
	Result<Usage> usage = machine_.usage(request->volume_path());
	if (!usage)
		return statusOf(usage.error());
	add(*response, v1::VolumeUsage::BYTES, usage->bytes, usage->bytesFree);
	add(*response, v1::VolumeUsage::INODES, usage->inodes, usage->inodesFree);
	return Status::OK;
}

// The namespace has grown at the target, which the kernel was told; what remains is the file system.
Status NodeService::NodeExpandVolume(grpc::ServerContext *, const v1::NodeExpandVolumeRequest *request,
				     v1::NodeExpandVolumeResponse *response)
{
	if (request->volume_id().empty())
		return lacks("volume_id");
	if (request->volume_path().empty())
		return lacks("volume_path");
	Busy::Hold hold(busy_, request->volume_id());
	if (!hold)
		return busy(request->volume_id());
	Found found = find(request->volume_id());
	if (!found.status.ok())
		return found.status;
	const auto required =
		static_cast<std::uint64_t>(std::max<std::int64_t>(request->capacity_range().required_bytes(), 0));
	if (found.ns.size < required)
		return {StatusCode::OUT_OF_RANGE, deviceOf(found.ns) + " has " + std::to_string(found.ns.size) +
							  " bytes: make it larger at the target first"};
	if (!found.staged.fileSystem.empty()) {
		std::optional<Mounted> mounted = machine_.mountedAt(request->volume_path());
		if (!mounted || mounted->source != deviceOf(found.ns))
			return {StatusCode::NOT_FOUND, "it is not mounted on " + request->volume_path()};
		if (Result<void> done = machine_.grow(deviceOf(found.ns), request->volume_path()); !done)
			return statusOf(done.error());
	}
	response->set_capacity_bytes(static_cast<std::int64_t>(found.ns.size));
	return Status::OK;
}

Status NodeService::NodeGetCapabilities(grpc::ServerContext *, const v1::NodeGetCapabilitiesRequest *,
					v1::NodeGetCapabilitiesResponse *response)
{
	using RPC = v1::NodeServiceCapability::RPC;
	for (auto type : {RPC::STAGE_UNSTAGE_VOLUME, RPC::GET_VOLUME_STATS, RPC::EXPAND_VOLUME, RPC::VOLUME_CONDITION})
		response->add_capabilities()->mutable_rpc()->set_type(type);
	return Status::OK;
}

Status NodeService::NodeGetInfo(grpc::ServerContext *, const v1::NodeGetInfoRequest *,
				v1::NodeGetInfoResponse *response)
{
	response->set_node_id(options_.id);
	for (const ReachableService &service : options_.services)
		if (machine_.reaches(service.address))
			(*response->mutable_accessible_topology()->mutable_segments())[topologyKey(service.name)] =
				"true";
	return Status::OK;
}

} // namespace csi
