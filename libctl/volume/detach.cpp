// SPDX-License-Identifier: LGPL-2.1-or-later
#include "volume.h"

#include <algorithm>
#include <cerrno>

#include "disk_users.h"

namespace nofctl::volume {

using namespace nvmeof;

namespace {

Error inUse(const std::string &disk, const std::vector<User> &users)
{
	Error error = errorFromErrno(EBUSY, disk + " is in use: " + toString(users));
	error.object = ErrorObject::named(disk);
	return error;
}

// Whether the attachment store also has the namespace under another identifier. In that case other users keep the disk.
bool hasOtherName(const AttachmentLock &attachments, const Entry &entry, const Namespace &ns)
{
	return std::ranges::any_of(attachments.entries(),
				   [&](const Entry &one) { return one.id != entry.id && one.id.names(ns); });
}

bool ofNqn(const std::vector<Controller> &controllers, std::uint32_t subsystem)
{
	return std::ranges::any_of(controllers, [&](const Controller &one) { return one.subsystem == subsystem; });
}

// Whether the subsystem has controllers for volumes. This host may have several subsystems with the same NQN, one per
// host identity.
Result<bool> hasOurs(Client &client, const Subsystem &subsystem)
{
	Result<std::vector<Controller>> all = client.controllers(subsystem.id);
	if (!all)
		return all.error();
	return std::ranges::any_of(*all, [](const Controller &one) { return one.owner == owner; });
}

// Disconnects all controllers in parallel and waits for completion.
Result<std::vector<std::string>> disconnect(Client &client, const std::vector<Controller> &controllers)
{
	std::vector<Pending<Result<void>>> pending;
	for (const Controller &controller : controllers)
		pending.push_back(client.startDisconnect(controller.name));
	finishAll(client, pending, [] { return false; });
	std::vector<std::string> names;
	for (std::size_t i = 0; i < pending.size(); i++) {
		Result<void> done = pending[i].take();
		if (!done && done.error().code != ErrorCode::noSuchObject) // may have been removed meanwhile
			return done.error();
		names.push_back(controllers[i].name);
	}
	return names;
}

} // namespace

Result<std::optional<Namespace>> find(Client &client, const Entry &entry)
{
	Result<std::vector<Subsystem>> subsystems = client.subsystems();
	if (!subsystems)
		return subsystems.error();
	std::optional<Namespace> found;
	for (const Subsystem &subsystem : *subsystems) {
		if (subsystem.nqn != entry.nqn)
			continue;
		Result<std::vector<Namespace>> all = client.namespaces(subsystem.id);
		if (!all)
			return all.error();
		for (const Namespace &ns : *all) {
			if (!entry.id.names(ns))
				continue;
			Result<bool> ours = hasOurs(client, subsystem);
			if (!ours)
				return ours.error();
			if (*ours)
				return std::optional(ns);
			found = found.value_or(ns);
		}
	}
	return found;
}

Result<Detached> release(Client &client, const std::string &nqn, const AttachmentLock &attachments,
			 const SystemPaths &systemPaths)
{
	Detached done;
	Result<std::vector<Controller>> controllers = client.controllers();
	Result<std::vector<Namespace>> namespaces = client.namespaces();
	if (!controllers || !namespaces)
		return controllers ? namespaces.error() : controllers.error();
	std::erase_if(*controllers, [&](const Controller &one) { return one.subsysnqn != nqn || one.owner != owner; });
	if (controllers->empty() || !attachments.entries().empty())
		return done;
	std::vector<ExclusiveOpen>
		claims; // no new user may open the disks exclusively between this check and the disconnect
	for (const Namespace &ns : *namespaces) {
		if (!ofNqn(*controllers, ns.subsystem))
			continue;
		Result<std::vector<User>> users = allUsersOf(systemPaths, client, ns.name);
		if (!users)
			return users.error();
		done.keeping.insert(done.keeping.end(), users->begin(), users->end());
		if (!users->empty() || ns.usablePaths == 0) // opening a disk without a usable path may block
			continue;
		claims.emplace_back(systemPaths, ns.name);
		if (claims.back().refused())
			done.keeping.push_back({"unseen", "a program that has opened " + ns.name + " exclusively"});
	}
	if (!done.keeping.empty())
		return done;
	Result<std::vector<std::string>> gone = disconnect(client, *controllers);
	if (!gone)
		return gone.error();
	done.disconnected = *gone;
	return done;
}

Result<Detached> detach(Client &client, const Entry &entry, const SystemPaths &systemPaths,
			std::chrono::milliseconds timeout)
{
	Result<AttachmentLock> attachments =
		AttachmentLock::open(systemPaths, entry.nqn, AttachmentLock::Clock::now() + timeout);
	if (!attachments)
		return attachments.error();
	const bool was = attachments->has(entry.id);
	if (was) {
		Result<std::optional<Namespace>> ns = find(client, entry);
		if (!ns)
			return ns.error();
		Result<std::vector<User>> users = std::vector<User>();
		if (*ns && !hasOtherName(*attachments, entry, **ns))
			users = allUsersOf(systemPaths, client, (*ns)->name);
		if (!users)
			return users.error();
		if (!users->empty())
			return inUse((*ns)->name, *users);
		attachments->remove(entry.id);
	}
	Result<Detached> done = release(client, entry.nqn, *attachments, systemPaths);
	if (done)
		done->was = was;
	else if (was) // the disconnect failed: the volume is still attached, and the caller will retry
		static_cast<void>(attachments->add(entry.id));
	return done;
}

Result<std::vector<Listed>> list(Client &client, const SystemPaths &systemPaths)
{
	std::vector<Listed> all;
	for (const Entry &entry : allAttachments(systemPaths)) {
		Result<std::optional<Namespace>> ns = find(client, entry);
		if (!ns)
			return ns.error();
		Listed one{entry, *ns, {}, {}};
		if (one.ns) {
			one.byId = udevEntry(systemPaths, one.ns->name).byId;
			one.users = usersOf(systemPaths, one.ns->name);
		}
		all.push_back(one);
	}
	return all;
}

} // namespace nofctl::volume
