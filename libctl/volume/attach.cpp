// SPDX-License-Identifier: LGPL-2.1-or-later
#include "volume.h"

#include <algorithm>
#include <cerrno>
#include <thread>

#include <fmt/format.h>

#include <nvmeof/foreign.h>

#include "disk_users.h"

namespace nofctl::volume {

using namespace nvmeof;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

namespace {

constexpr std::chrono::milliseconds look = 50ms; // poll interval: several controllers and udev may complete the wait

Error errorOf(ErrorCode code, std::string message)
{
	Error error;
	error.code = code;
	error.message = std::move(message);
	return error;
}

// A path stays until the volume is detached, even if its target is unreachable for long.
std::vector<ConnectOptions> persistent(std::vector<ConnectOptions> paths)
{
	for (ConnectOptions &path : paths) {
		path.idempotent = true;
		path.owner = owner;
		path.firstConnect = path.firstConnect.value_or(-1ms);
		path.ctrlLoss = path.ctrlLoss.value_or(-1ms);
	}
	return paths;
}

// A timeout error does not contain the cause; it is taken from the controller, which keeps trying.
Error explained(Client &client, Error error)
{
	if (error.code != ErrorCode::timedOut || error.object.none())
		return error;
	Result<Controller> controller = client.controller(error.object.name);
	if (!controller || (!controller->lastErrno && !controller->lastStatus))
		return error;
	error.nvmeStatus = controller->lastStatus;
	error.sysErrno = controller->lastErrno;
	error.code = controller->lastStatus ? ErrorCode::refused : connectCodeOf(controller->lastErrno);
	error.message += ": " + describeFailure(controller->lastError, controller->lastErrno);
	return error;
}

class Attach {
public:
	Attach(Client &client, const AttachOptions &options, const SystemPaths &systemPaths, std::stop_token stop)
		: client_(client), options_(options), systemPaths_(systemPaths), stop_(std::move(stop)),
		  deadline_(Clock::now() + options.timeout),
		  result_{{options.paths.front().subsysnqn, options.id}, {}, {}, {}, {}, false}
	{
	}

	Result<Attached> run();

private:
	const std::string &nqn() const { return result_.entry.nqn; }
	std::chrono::milliseconds left() const
	{
		return std::max(0ms, std::chrono::duration_cast<std::chrono::milliseconds>(deadline_ - Clock::now()));
	}
	bool over() const { return Clock::now() >= deadline_ || stop_.stop_requested(); }

	Result<void> enter();
	Result<void> connect();
	Result<void> awaitDisk();
	Result<bool> scanned();
	Result<void> rescan();
	Error missing(bool seen) const;
	Result<void> applySettings();
	void undo();

	Client &client_;
	const AttachOptions &options_;
	const SystemPaths &systemPaths_;
	std::stop_token stop_;
	const Clock::time_point deadline_;
	Attached result_;
	std::uint32_t subsystem_ = 0;
};

// Adds the volume to the attachment store before connecting. From then on a detach of another volume does not remove
// these connections.
Result<void> Attach::enter()
{
	const std::vector<ForeignController> others = foreignControllers(nqn());
	if (!others.empty())
		return errorFromErrno(EBUSY,
				      "the in-tree driver is connected to the subsystem, as " + others.front().name);
	Result<AttachmentLock> attachments = AttachmentLock::open(systemPaths_, nqn(), deadline_);
	if (!attachments)
		return attachments.error();
	result_.already = attachments->has(options_.id);
	return result_.already ? Result<void>() : attachments->add(options_.id);
}

Result<void> Attach::connect()
{
	const std::vector<ConnectOptions> paths = persistent(options_.paths);
	const WaitOptions wait{WaitFor::controller, left(), {}, {}, Require::any};
	const std::vector<Result<Connection>> made = client_.connectAll(paths, wait, stop_);
	bool any = false;
	for (std::size_t i = 0; i < paths.size(); i++) {
		AttachedPath path{paths[i].transport, paths[i].address.toString(), {}, {}};
		if (made[i]) {
			path.controller = made[i]->name;
			subsystem_ = made[i]->subsystem;
			any = true;
		} else {
			path.error = explained(client_, made[i].error());
			path.controller = path.error->left ? path.error->object.name : "";
		}
		result_.paths.push_back(path);
	}
	if (stop_.stop_requested())
		return errorFromErrno(ECANCELED);
	return any ? Result<void>() : Result<void>(*result_.paths.front().error);
}

// Whether all controllers of the subsystem that are not lost or being deleted are live and have been scanned.
Result<bool> Attach::scanned()
{
	Result<std::vector<Controller>> all = client_.controllers(subsystem_);
	if (!all)
		return all.error();
	return std::ranges::all_of(*all, [](const Controller &controller) {
		return controller.state == ControllerState::lost || isEnding(controller.state) ||
		       (controller.state == ControllerState::live && controller.scans.value_or(0) > 0);
	});
}

// A namespace that was just created may not have been reported by an event yet.
Result<void> Attach::rescan()
{
	Result<std::vector<Controller>> all = client_.controllers(subsystem_);
	if (!all)
		return all.error();
	std::vector<Pending<Result<void>>> scans;
	for (const Controller &controller : *all)
		scans.push_back(client_.startRescan(controller.name));
	finishAll(
		client_, scans, [this] { return over(); }, static_cast<int>(look.count()));
	return {};
}

Error Attach::missing(bool seen) const
{
	if (stop_.stop_requested())
		return errorFromErrno(ECANCELED);
	const std::string id = options_.id.toString();
	if (!seen)
		return errorOf(ErrorCode::noSuchObject, "the subsystem has no namespace " + id + " for this host");
	const std::string disk = systemPaths_.dev / result_.ns.name;
	return errorOf(ErrorCode::timedOut, result_.ns.usablePaths ? disk + ": udev has not processed it yet"
								   : disk + ": no path of it is usable");
}

Result<void> Attach::awaitDisk()
{
	for (bool rescanned = false;;) {
		Result<bool> complete = scanned(); // before the list, which then has the result of complete scans
		if (!complete)
			return complete.error();
		Result<std::vector<Namespace>> all = client_.namespaces(subsystem_);
		if (!all)
			return all.error();
		auto found = std::ranges::find_if(*all, [&](const Namespace &ns) { return options_.id.names(ns); });
		const bool seen = found != all->end();
		if (seen) {
			result_.ns = *found;
			if (genericOnly(*found))
				return errorOf(ErrorCode::failed,
					       found->name +
						       " has only a character device: its command set has no blocks");
			const UdevEntry entry = udevEntry(systemPaths_, found->name);
			if (entry.ready && found->usablePaths) {
				result_.byId = entry.byId;
				return {};
			}
		}
		if (over() || (!seen && *complete && rescanned))
			return missing(seen);
		if (!seen && *complete) {
			if (Result<void> done = rescan(); !done)
				return done;
			rescanned = true;
		} else {
			std::this_thread::sleep_for(look);
		}
	}
}

Result<void> Attach::applySettings()
{
	Result<std::vector<Subsystem>> all = client_.subsystems();
	if (!all)
		return all.error();
	auto found = std::ranges::find(*all, subsystem_, &Subsystem::id);
	if (found == all->end())
		return errorOf(ErrorCode::connectionReset, "the subsystem was removed while it was being attached");
	result_.subsystem = *found;
	return options_.settings == SubsystemSettings() ? Result<void>() : client_.set(found->name, options_.settings);
}

// Has a time limit of its own, because the failed attach may have used up its timeout.
void Attach::undo()
{
	Result<AttachmentLock> attachments = AttachmentLock::open(systemPaths_, nqn(), Clock::now() + 5s);
	if (!attachments)
		return; // the volume stays in the attachment store; a later detach removes it
	attachments->remove(options_.id);
	static_cast<void>(release(client_, nqn(), *attachments, systemPaths_));
}

Result<Attached> Attach::run()
{
	if (Result<void> done = enter(); !done)
		return done.error();
	Result<void> done = connect();
	if (done)
		done = awaitDisk();
	if (done)
		done = applySettings();
	if (done)
		return result_;
	if (!result_.already)
		undo();
	return done.error();
}

} // namespace

Result<Attached> attach(Client &client, const AttachOptions &options, const SystemPaths &systemPaths,
			std::stop_token stop)
{
	auto other = [&](const ConnectOptions &path) { return path.subsysnqn != options.paths.front().subsysnqn; };
	if (options.paths.empty() || std::ranges::any_of(options.paths, other))
		return errorOf(ErrorCode::invalid, "a volume needs one subsystem and at least one address");
	return Attach(client, options, systemPaths, std::move(stop)).run();
}

} // namespace nofctl::volume
