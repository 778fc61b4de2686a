// SPDX-License-Identifier: LGPL-2.1-or-later
#include "node.h"

#include <algorithm>
#include <iostream>
#include <sys/mount.h>

#include "capability.h"

namespace csi {

using namespace nvmeof;
using grpc::Status;
using grpc::StatusCode;
using nofctl::volume::hasFence;

namespace {

Status busy(const std::string &volume)
{
	return {StatusCode::ABORTED, "another call for " + volume + " is in progress"};
}

std::string deviceOf(const Namespace &ns)
{
	return "/dev/" + ns.name;
}

// The device node below the staging path of a block volume; identifies the disk if an unstage has no record
std::string nodeBelow(const std::string &path)
{
	return path + "/device";
}

std::string mountPointOf(const Staged &staged)
{
	return staged.fileSystem.empty() ? nodeBelow(staged.path) : staged.path;
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

void add(v1::NodeGetVolumeStatsResponse &response, v1::VolumeUsage::Unit unit, const Usage::Amount &amount)
{
	v1::VolumeUsage &usage = *response.add_usage();
	usage.set_unit(unit);
	usage.set_total(static_cast<std::int64_t>(amount.total));
	usage.set_available(static_cast<std::int64_t>(amount.available));
	usage.set_used(static_cast<std::int64_t>(amount.used));
}

// The loss of one path is no reason to move a pod: the message reports it, and the volume is not abnormal.
void putCondition(v1::VolumeCondition &condition, const Namespace &ns)
{
	condition.set_abnormal(ns.usablePaths == 0);
	condition.set_message(std::to_string(ns.livePaths) + " of " + std::to_string(ns.expectedPaths) +
			      " paths are connected, " + std::to_string(ns.usablePaths) + " take I/O");
}

} // namespace

Result<std::optional<Namespace>> NodeService::diskOf(const Staged &staged)
{
	Result<VolumeSpec> spec = parseVolume(staged.context);
	return spec ? machine_.find(spec->entry()) : Result<std::optional<Namespace>>(spec.error());
}

NodeService::Found NodeService::find(const std::string &volume)
{
	Found found;
	std::optional<Staged> staged = staged_.find(volume);
	if (!staged || !staged->complete) {
		found.status = {StatusCode::NOT_FOUND, volume + " is not staged on this node"};
		return found;
	}
	found.staged = *staged;
	Result<std::optional<Namespace>> ns = diskOf(*staged);
	if (!ns)
		found.status = statusOf(ns.error());
	else if (!*ns)
		found.status = {StatusCode::NOT_FOUND, volume + ": its disk does not exist"};
	else
		found.ns = **ns;
	return found;
}

bool NodeService::samePlace(const std::string &one, const std::string &other)
{
	return one == other || machine_.canonical(one) == machine_.canonical(other);
}

Result<bool> NodeService::isShared(const std::string &volume, const std::string &disk)
{
	for (const Staged &staged : staged_.others(volume)) {
		Result<std::optional<Namespace>> ns = diskOf(staged);
		if (!ns)
			return ns.error();
		if (*ns && (*ns)->name == disk)
			return true;
	}
	return false;
}

/*
 * The record says that mkfs is at work, so that a plugin that is killed meanwhile knows that the unfinished file system
 * it finds is its own.
 */
Status NodeService::format(const std::string &volume, const std::string &device, const std::string &fileSystem,
			   std::vector<std::string> options, bool again)
{
	std::optional<Staged> record = staged_.find(volume);
	if (!record)
		return {StatusCode::INTERNAL, device + " is not formatted: the record of " + volume + " is missing"};
	record->formatting = true;
	if (Result<void> kept = staged_.add(volume, *record); !kept)
		return statusOf(kept.error());
	if (again)
		options.insert(options.begin(), "-f");
	if (Result<void> made = machine_.format(device, fileSystem, options); !made)
		return statusOf(made.error());
	record->formatting = false;
	Result<void> kept = staged_.add(volume, *record);
	return kept ? Status::OK : statusOf(kept.error());
}

// Formats only a disk without any contents, or with an xfs that this plugin has not finished.
Status NodeService::mountVolume(const std::string &volume, const Staged &staged, const VolumeSpec &spec,
				const Namespace &ns, bool readOnly)
{
	const std::string device = deviceOf(ns);
	Result<std::optional<Mounted>> there = machine_.mountedAt(staged.path);
	if (!there)
		return statusOf(there.error());
	if (*there)
		return (*there)->device == device
			       ? Status::OK
			       : Status(StatusCode::ALREADY_EXISTS, (*there)->device + " is mounted on " + staged.path);
	Result<MountOptions> options = mountOptions(staged.fileSystem, staged.options);
	if (!options)
		return statusOf(options.error());
	readOnly = readOnly || ns.readOnly || (options->flags & MS_RDONLY) != 0;
	Result<std::string> content = machine_.contentOf(device);
	if (!content)
		return statusOf(content.error());
	const bool again = staged.formatting && staged.fileSystem == "xfs" && *content == unfinishedXfs && !readOnly;
	if (*content == unfinishedXfs && !again)
		return {StatusCode::FAILED_PRECONDITION,
			device + " has " + unfinishedXfs +
				": mkfs.xfs or xfs_copy is at work or was interrupted; it is "
				"not changed. If no program on any node writes it, and it has no data, erase it with "
				"'wipefs -a " +
				device + "'"};
	if (!content->empty() && !again && *content != staged.fileSystem)
		return {StatusCode::FAILED_PRECONDITION, device + " has contents other than " + staged.fileSystem +
								 (*content == "?" ? "" : ": " + *content) +
								 "; it is not changed"};
	const std::vector<nofctl::volume::User> users = machine_.usersOf(ns.name); // another volume may use the disk
	if (content->empty() || again) {
		if (readOnly)
			return {StatusCode::FAILED_PRECONDITION,
				device + " is empty and read-only, so it cannot be formatted"};
		if (!users.empty())
			return {StatusCode::FAILED_PRECONDITION,
				device + " is not formatted because it is " + nofctl::volume::toString(users)};
		if (Status made = format(volume, device, staged.fileSystem, spec.mkfsOptions, again); !made.ok())
			return made;
	} else if (!readOnly && users.empty()) {
		if (Result<void> good = machine_.check(device, staged.fileSystem); !good)
			return statusOf(good.error());
	}
	if (readOnly)
		options->flags |= MS_RDONLY;
	Result<void> done = machine_.mount(device, staged.path, staged.fileSystem, *options);
	return done ? Status::OK : statusOf(done.error());
}

/*
 * Called before anything is written. Unless the controller has published the volume, nothing guarantees that only this
 * node has it, and no reservation is taken from another host.
 */
Status NodeService::fence(const v1::NodeStageVolumeRequest &request, const VolumeSpec &spec, const Namespace &ns)
{
	if (spec.reserve == Reserve::off || !isExclusive(request.volume_capability()))
		return Status::OK;
	const auto given = request.publish_context().find(fenceName);
	const bool published = given != request.publish_context().end();
	if (!published || !hasFence(ns)) {
		const std::string why = published ? deviceOf(ns) + " has none of the type write-exclusive-registrants"
						  : "the controller has not published the volume";
		if (spec.reserve == Reserve::required)
			return {StatusCode::FAILED_PRECONDITION, "reservation: required, and " + why};
		std::cerr << "nvmeof-csi: " << request.volume_id()
			  << ": staged without a reservation; another node could stage it as well: " << why << "\n";
		return Status::OK;
	}
	std::optional<nofctl::volume::FenceKey> key = nofctl::volume::FenceKey::parse(given->second);
	if (!key)
		return invalidArgument(std::string("publish_context: ") + fenceName + " is not a key of this plugin");
	Result<void> done = machine_.takeFence(ns, *key);
	return done ? Status::OK : statusOf(done.error());
}

Status NodeService::bindVolume(const Staged &staged, const Namespace &ns)
{
	const std::string point = mountPointOf(staged);
	Result<std::optional<Mounted>> there = machine_.mountedAt(point);
	if (!there)
		return statusOf(there.error());
	if (*there)
		return (*there)->device == deviceOf(ns) ? Status::OK
							: Status(StatusCode::ALREADY_EXISTS,
								 (*there)->device + " is already staged at " + point);
	Result<void> done = machine_.bind(deviceOf(ns), point, false);
	return done ? Status::OK : statusOf(done.error());
}

// On failure, a complete stage is kept, and so is a disk that an administrator has attached.
NodeService::Outcome NodeService::attachAndMount(const v1::NodeStageVolumeRequest &request, const Staged &wish,
						 const VolumeSpec &spec, const std::optional<Staged> &before)
{
	const bool complete = before && before->complete;
	bool others = !before && machine_.isAttached(spec.entry()); // attached by an administrator
	Result<nofctl::volume::Attached> attached = machine_.attach(spec.attach);
	if (!attached) { // an earlier call may have got further, and attach() may have left something behind
		const Status status = statusOf(attached.error());
		return {status, !complete && (others || undo(request.volume_id(), wish, spec).ok())};
	}
	const Namespace &ns = attached->ns;
	others = !before && attached->already;
	Busy::Hold hold(busyDisks_, ns.name);
	if (!hold) // does not interfere with the other call; this one is retried
		return {busy(deviceOf(ns)), others};
	Status status = Status::OK;
	if (ns.size < spec.requiredBytes)
		status = {StatusCode::FAILED_PRECONDITION, deviceOf(ns) + " has " + std::to_string(ns.size) +
								   " bytes, but " + std::to_string(spec.requiredBytes) +
								   " are required"};
	else if (status = fence(request, spec, ns); status.ok())
		status = wish.fileSystem.empty() ? bindVolume(wish, ns)
						 : mountVolume(request.volume_id(), wish, spec, ns,
							       readsOnly(request.volume_capability()));
	if (status.ok() || complete)
		return {status, false};
	return {status, undo(request.volume_id(), wish, spec, ns, !others).ok()};
}

// If the target is unreachable the registration stays; the next publication preempts it.
void NodeService::unfence(const std::string &volume, const Namespace &ns)
{
	if (!hasFence(ns) || ns.usablePaths == 0)
		return;
	Result<bool> shared = isShared(volume, ns.name);
	if (shared && *shared)
		return;
	Result<void> done = shared ? machine_.dropFence(ns) : Result<void>(shared.error());
	if (!done)
		std::cerr << "nvmeof-csi: " << volume << ": " << done.error().message << "\n";
}

// Called with the disk held, if it exists. If the unmount fails, the right to write and the connections are kept.
Status NodeService::undo(const std::string &volume, const Staged &staged, const VolumeSpec &spec,
			 const std::optional<Namespace> &ns, bool attached)
{
	const std::string point = mountPointOf(staged);
	Result<std::optional<Mounted>> there = machine_.mountedAt(point);
	if (!there)
		return statusOf(there.error());
	if (*there && !ns)
		return {StatusCode::FAILED_PRECONDITION, (*there)->device + " is mounted on " + point +
								 ", and the disk of " + volume +
								 " does not exist: unstage it"};
	if (*there && (*there)->device == deviceOf(*ns))
		if (Result<void> done = machine_.unmount(point, staged.fileSystem.empty(), Unmount::refuse); !done)
			return statusOf(done.error());
	if (ns)
		unfence(volume, *ns);
	return attached ? detach(volume, {spec.entry()}) : Status::OK;
}

Status NodeService::undo(const std::string &volume, const Staged &staged, const VolumeSpec &spec)
{
	Result<std::optional<Namespace>> ns = machine_.find(spec.entry());
	if (!ns)
		return statusOf(ns.error());
	Busy::Hold hold(busyDisks_, *ns ? (*ns)->name : volume);
	return hold ? undo(volume, staged, spec, *ns, true) : busy(volume);
}

/*
 * The record is written first, so that a plugin restarted after a crash knows what to undo. A failed stage is undone
 * and its record removed: the orchestrator does not unstage after a final error, and may correct the request. If the
 * undo fails, or mkfs has not finished, the record stays for the next stage or unstage.
 */
Status NodeService::NodeStageVolume(grpc::ServerContext *, const v1::NodeStageVolumeRequest *request,
				    v1::NodeStageVolumeResponse *)
{
	const std::string &volume = request->volume_id();
	if (volume.empty())
		return missing("volume_id");
	if (request->staging_target_path().empty())
		return missing("staging_target_path");
	if (!request->has_volume_capability())
		return missing("volume_capability");
	if (Status status = checkCapability(request->volume_capability()); !status.ok())
		return status;
	Staged wish = wishOf(*request);
	Result<VolumeSpec> spec = parseVolume(wish.context);
	if (!spec)
		return invalidArgument("volume_context: " + spec.error().message);
	const Result<ConnectSettings> defaults = machine_.connectDefaults(spec->entry().nqn);
	if (!defaults) // of this node, whatever the volume is
		return {StatusCode::FAILED_PRECONDITION, defaults.error().message};
	spec->complete(*defaults);
	Busy::Hold hold(busy_, volume);
	if (!hold)
		return busy(volume);
	const std::optional<Staged> before = staged_.find(volume);
	const bool same = before && before->sameRequest(wish) && samePlace(before->path, wish.path);
	const bool complete = before && before->complete;
	if (complete && !same)
		return {StatusCode::ALREADY_EXISTS,
			volume + " is already staged at " + before->path + ", with another path or capability"};
	if (before && !same) // the plugin was killed during an earlier stage
		if (Result<VolumeSpec> old = parseVolume(before->context); old)
			if (Status status = undo(volume, *before, *old); !status.ok())
				return status;
	wish.formatting = same && before->formatting;
	if (!complete)
		if (Result<void> kept = staged_.add(volume, wish); !kept)
			return statusOf(kept.error());
	const auto [status, undone] = attachAndMount(*request, wish, *spec, before);
	if (complete)
		return status;
	if (undone)
		if (const std::optional<Staged> record = staged_.find(volume); !record || !record->formatting)
			staged_.remove(volume);
	if (!status.ok())
		return status;
	wish.complete = true;
	wish.formatting = false;
	Result<void> kept = staged_.add(volume, wish);
	return kept ? Status::OK : statusOf(kept.error());
}

// Whether the disk has users besides the mount at @staging. OK if two volumes share the disk, as the users cannot be
// attributed to one of them.
Status NodeService::inUse(const std::string &volume, const Namespace &ns, const std::string &staging)
{
	const std::vector<nofctl::volume::User> users = machine_.usersOf(ns.name, staging);
	if (users.empty())
		return Status::OK;
	Result<bool> shared = isShared(volume, ns.name);
	if (!shared)
		return statusOf(shared.error());
	return *shared ? Status::OK
		       : Status(StatusCode::FAILED_PRECONDITION,
				volume + " is in use: " + nofctl::volume::toString(users));
}

// Skips entries that another volume has attached as well.
Status NodeService::detach(const std::string &volume, const std::vector<nofctl::volume::Entry> &entries)
{
	const std::vector<Staged> others = staged_.others(volume);
	for (const nofctl::volume::Entry &entry : entries) {
		auto same = [&](const Staged &other) {
			Result<VolumeSpec> spec = parseVolume(other.context);
			return spec && spec->entry() == entry;
		};
		if (std::ranges::any_of(others, same))
			continue;
		if (Result<nofctl::volume::Detached> gone = machine_.detach(entry); !gone)
			return statusOf(gone.error());
	}
	return Status::OK;
}

// Without a record, the mounted device identifies the disk. Fails without changes while the volume is in use.
Status NodeService::unstage(const std::string &volume, const std::string &path, const std::optional<Staged> &staged)
{
	std::string point = path;
	Result<std::optional<Mounted>> there = machine_.mountedAt(point);
	const bool block = staged ? staged->fileSystem.empty() : there && !*there;
	if (block) {
		point = nodeBelow(path);
		there = machine_.mountedAt(point);
	}
	if (!there)
		return statusOf(there.error());
	std::vector<nofctl::volume::Entry> entries;
	if (staged) {
		Result<VolumeSpec> spec = parseVolume(staged->context);
		if (!spec)
			return statusOf(spec.error());
		entries.push_back(spec->entry());
	} else if (*there) {
		const std::string name = (*there)->device.substr((*there)->device.rfind('/') + 1);
		Result<std::vector<nofctl::volume::Entry>> all = machine_.entriesOf(name);
		if (!all)
			return statusOf(all.error());
		if (all->empty())
			return {StatusCode::FAILED_PRECONDITION,
				(*there)->device + " is mounted on " + point + ", but is not a volume of this plugin"};
		entries = *all;
	} else { // already unstaged, or the node was rebooted
		return Status::OK;
	}
	Result<std::optional<Namespace>> ns = machine_.find(entries.front());
	if (!ns)
		return statusOf(ns.error());
	Busy::Hold hold(busyDisks_, *ns ? (*ns)->name : volume);
	if (!hold)
		return busy(volume);
	if (*ns)
		if (Status status = inUse(volume, **ns, *there ? (*there)->target : ""); !status.ok())
			return status;
	const bool dead = !*ns || (*ns)->usablePaths == 0;
	if (Result<void> done = machine_.unmount(point, block, dead ? Unmount::lazily : Unmount::refuse); !done)
		return statusOf(done.error());
	if (*ns)
		unfence(volume, **ns);
	if (*ns && !dead && !(*ns)->readOnly) { // restore the initial state
		Result<bool> shared = isShared(volume, (*ns)->name);
		if (Result<bool> on = machine_.isReadOnly(deviceOf(**ns)); shared && !*shared && on && *on)
			static_cast<void>(machine_.setReadOnly(deviceOf(**ns), false));
	}
	return detach(volume, entries);
}

Status NodeService::NodeUnstageVolume(grpc::ServerContext *, const v1::NodeUnstageVolumeRequest *request,
				      v1::NodeUnstageVolumeResponse *)
{
	const std::string &volume = request->volume_id();
	if (volume.empty())
		return missing("volume_id");
	if (request->staging_target_path().empty())
		return missing("staging_target_path");
	Busy::Hold hold(busy_, volume);
	if (!hold)
		return busy(volume);
	Status status = unstage(volume, request->staging_target_path(), staged_.find(volume));
	if (status.ok())
		staged_.remove(volume);
	return status;
}

// A read-only bind mount of a device node does not prevent writes to the device: the device itself is set read-only.
Status NodeService::publishBlock(const std::string &target, const Namespace &ns, bool readOnly,
				 const std::string &staging)
{
	const std::string device = deviceOf(ns);
	Busy::Hold hold(busyDisks_, ns.name);
	if (!hold)
		return busy(device);
	Result<bool> is = machine_.isReadOnly(device);
	if (!is)
		return statusOf(is.error());
	if (*is != readOnly && !(ns.readOnly && *is)) {
		std::vector<nofctl::volume::User> users = machine_.usersOf(ns.name, staging);
		if (!users.empty())
			return {StatusCode::FAILED_PRECONDITION,
				device + " cannot be made " + (readOnly ? "read-only" : "writable") +
					" for one container only: it is " + nofctl::volume::toString(users)};
		if (Result<void> done = machine_.setReadOnly(device, readOnly); !done)
			return statusOf(done.error());
	}
	Result<void> done = machine_.bind(device, target, readOnly);
	return done ? Status::OK : statusOf(done.error());
}

Status NodeService::publish(const v1::NodePublishVolumeRequest &request, const Found &found)
{
	const bool block = request.volume_capability().has_block();
	const std::string device = deviceOf(found.ns);
	bool readOnly = request.readonly() || readsOnly(request.volume_capability());
	Result<std::optional<Mounted>> staging = machine_.mountedAt(mountPointOf(found.staged));
	if (!staging)
		return statusOf(staging.error());
	if (!block && (!*staging || (*staging)->device != device))
		return {StatusCode::FAILED_PRECONDITION, "nothing is mounted on " + found.staged.path};
	readOnly = readOnly || (!block && (*staging)->readOnly); // a bind mount inherits it
	Result<std::optional<Mounted>> there = machine_.mountedAt(request.target_path());
	if (!there)
		return statusOf(there.error());
	if (*there) {
		if ((*there)->device == device && (*there)->readOnly == readOnly)
			return Status::OK;
		return {StatusCode::ALREADY_EXISTS, (*there)->device + " is already published at " +
							    request.target_path() +
							    ((*there)->readOnly ? ", read-only" : ", writable")};
	}
	const std::string staged = *staging ? (*staging)->target : "";
	if (request.volume_capability().access_mode().mode() ==
	    v1::VolumeCapability::AccessMode::SINGLE_NODE_SINGLE_WRITER)
		if (Status status = inUse(request.volume_id(), found.ns, staged); !status.ok())
			return status;
	if (block)
		return publishBlock(request.target_path(), found.ns, readOnly, staged);
	Result<void> done = machine_.bind(found.staged.path, request.target_path(), readOnly);
	return done ? Status::OK : statusOf(done.error());
}

Status NodeService::NodePublishVolume(grpc::ServerContext *, const v1::NodePublishVolumeRequest *request,
				      v1::NodePublishVolumeResponse *)
{
	const std::string &volume = request->volume_id();
	if (volume.empty())
		return missing("volume_id");
	if (request->target_path().empty())
		return missing("target_path");
	if (!request->has_volume_capability())
		return missing("volume_capability");
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
	if (!samePlace(found.staged.path, request->staging_target_path()) ||
	    found.staged.fileSystem.empty() != request->volume_capability().has_block())
		return {StatusCode::FAILED_PRECONDITION,
			volume + " is staged at " + found.staged.path + ", with another path or capability"};
	return publish(*request, found);
}

Status NodeService::NodeUnpublishVolume(grpc::ServerContext *, const v1::NodeUnpublishVolumeRequest *request,
					v1::NodeUnpublishVolumeResponse *)
{
	if (request->volume_id().empty())
		return missing("volume_id");
	if (request->target_path().empty())
		return missing("target_path");
	Busy::Hold hold(busy_, request->volume_id());
	if (!hold)
		return busy(request->volume_id());
	std::optional<Staged> staged = staged_.find(request->volume_id());
	Result<std::optional<Namespace>> ns = staged ? diskOf(*staged) : std::optional<Namespace>();
	const bool dead = staged && ns && (!*ns || (*ns)->usablePaths == 0);
	Result<void> done = machine_.unmount(request->target_path(), true, dead ? Unmount::lazily : Unmount::refuse);
	return done ? Status::OK : statusOf(done.error());
}

Status NodeService::NodeGetVolumeStats(grpc::ServerContext *, const v1::NodeGetVolumeStatsRequest *request,
				       v1::NodeGetVolumeStatsResponse *response)
{
	if (request->volume_id().empty())
		return missing("volume_id");
	if (request->volume_path().empty())
		return missing("volume_path");
	Found found = find(request->volume_id());
	if (!found.status.ok())
		return found.status;
	if (!machine_.exists(request->volume_path()))
		return {StatusCode::NOT_FOUND, request->volume_path() + " does not exist"};
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
	add(*response, v1::VolumeUsage::BYTES, usage->bytes);
	add(*response, v1::VolumeUsage::INODES, usage->inodes);
	return Status::OK;
}

// The namespace has grown at the target, and the kernel knows the new size; only the file system has to grow.
Status NodeService::NodeExpandVolume(grpc::ServerContext *, const v1::NodeExpandVolumeRequest *request,
				     v1::NodeExpandVolumeResponse *response)
{
	if (request->volume_id().empty())
		return missing("volume_id");
	if (request->volume_path().empty())
		return missing("volume_path");
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
		Result<std::optional<Mounted>> mounted = machine_.mountedAt(request->volume_path());
		if (!mounted)
			return statusOf(mounted.error());
		if (!*mounted || (*mounted)->device != deviceOf(found.ns))
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
	for (auto type : {RPC::STAGE_UNSTAGE_VOLUME, RPC::GET_VOLUME_STATS, RPC::EXPAND_VOLUME, RPC::VOLUME_CONDITION,
			  RPC::SINGLE_NODE_MULTI_WRITER})
		response->add_capabilities()->mutable_rpc()->set_type(type);
	return Status::OK;
}

/*
 * Called once, when the plugin registers. A service that gives no answer now but was reached before counts as reached:
 * a target outage, also after a reboot of the node, must not remove the node's labels.
 */
bool NodeService::serves(const ReachableService &service)
{
	if (!service.address)
		return true;
	const Reach reach = machine_.reaches(*service.address);
	if (reach == Reach::yes)
		static_cast<void>(reached_.write(service.name, service.address->toString()));
	if (reach == Reach::no)
		reached_.remove(service.name);
	return reached_.read(service.name) == service.address->toString() || reach == Reach::yes;
}

Status NodeService::NodeGetInfo(grpc::ServerContext *, const v1::NodeGetInfoRequest *,
				v1::NodeGetInfoResponse *response)
{
	response->set_node_id(options_.id);
	response->set_max_volumes_per_node(options_.maxVolumes);
	auto &segments = *response->mutable_accessible_topology()->mutable_segments();
	segments[anyNodeKey] = "true";
	for (const ReachableService &service : options_.services)
		if (serves(service))
			segments[topologyKey(service.name)] = "true";
	return Status::OK;
}

} // namespace csi
