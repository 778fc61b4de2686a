// SPDX-License-Identifier: LGPL-2.1-or-later
#include "discovery_reader.h"

#include <algorithm>
#include <cerrno>
#include <thread>

#include "libctl/base/jitter.h"
#include "libctl/wire/identify.h"
#include "libctl/wire/status.h"
#include "operations.h"
#include "tracker.h"

namespace nofctl {

using namespace nvmeof;
using namespace std::chrono_literals;

namespace {

constexpr std::chrono::milliseconds commandPatience = 5s; // per command, on a temporary connection
constexpr std::chrono::milliseconds pause = 50ms;         // base delay before a retry
constexpr std::size_t unit = 4096;                        // minimum unit of MDTS; CAP.MPSMIN may be larger
// The kernel's target generates the whole log for each read, so use few large reads.
constexpr std::size_t maxReadSize = 32 * unit;

// Whether the connection was lost, regardless of the command's outcome.
bool isLoss(const Error &error)
{
	std::uint16_t status = error.nvmeStatus.value_or(0);
	if (status)
		return status == wire::st_host_pathing || status == wire::st_host_aborted;
	return error.sysErrno == ECONNRESET || error.sysErrno == ENOTCONN || error.sysErrno == EAGAIN;
}

// Whether @now is the controller @made and is not being deleted. Persistent discovery controllers are told apart by
// their keep-alive.
bool isThat(const Controller &now, const Controller &made)
{
	return ConnectionTracker(made).concerns(now) && !isEnding(now.state) &&
	       (now.keepAlive.count() != 0) == (made.keepAlive.count() != 0);
}

// Removes the reference to a controller that has been removed. A file in the error stays valid.
Error withoutController(Error error)
{
	if (error.object.kind == ErrorObject::Kind::file)
		return error;
	error.object = {};
	error.left.reset();
	error.made = false;
	return error;
}

} // namespace

DiscoveryLogRead::DiscoveryLogRead(Engine &engine, std::chrono::milliseconds timeout, std::stop_token stop)
	: engine_(engine), timeout_(timeout), deadline_(deadlineIn(timeout)), stop_(std::move(stop))
{
}

std::chrono::milliseconds DiscoveryLogRead::left() const
{
	return std::max(std::chrono::ceil<std::chrono::milliseconds>(deadline_ - Clock::now()), 0ms);
}

// The reason to stop; nothing: continue
std::optional<Error> DiscoveryLogRead::over() const
{
	if (stop_.stop_requested())
		return errorFromErrno(EINTR, "interrupted");
	if (left() > 0ms)
		return std::nullopt;
	return errorFromErrno(ETIMEDOUT,
			      "the discovery log was not read within " + std::to_string(timeout_.count()) + " ms");
}

// While the node is open, no other controller gets the name. Before that, the controller may have been removed and the
// name reused; then events report the outcome of the connect.
Result<void> DiscoveryLogRead::openNode(const Controller &controller)
{
	Result<void> opened = open();
	Result<Controller> now = engine_.session().controller(controller.name);
	bool gone = now ? !isThat(*now, controller) : now.error().code == ErrorCode::noSuchObject;
	if (gone) {
		node_.reset();
		return {};
	}
	made_ = controller.name;
	return opened;
}

Result<void> DiscoveryLogRead::open()
{
	Result<AdminNode> node = AdminNode::open(controller_);
	if (!node)
		return node.error();
	node_.emplace(*std::move(node));
	return {};
}

// Subscribes first: a controller that is removed at once would otherwise cause no event.
Result<void> DiscoveryLogRead::connect(const ConnectOptions &options)
{
	if (std::optional<Error> why = over())
		return *why;
	if (Result<void> listening = engine_.listen(); !listening)
		return listening;
	Result<Controller> controller = engine_.session().create(options);
	if (!controller)
		return controller.error();
	controller_ = controller->name;
	if (Result<void> held = openNode(*controller); !held)
		return held;
	Result<void> live = await(startWait(engine_, std::move(controller), {WaitFor::controller, left(), {}, {}}));
	return live && !node_ ? errorFromErrno(ENODEV, "the controller was removed before it could be used") : live;
}

Result<void> DiscoveryLogRead::await(Pending<Result<Connection>> pending)
{
	engine_.wait(pending, stop_);
	if (!pending.ready())
		return *over();
	Result<Connection> live = pending.take();
	return live ? Result<void>() : Result<void>(live.error());
}

Result<void> DiscoveryLogRead::waitAgain()
{
	return await(startWait(engine_, controller_, {WaitFor::controller, left(), {}, {}}));
}

// @command: called with its timeout, after which the connection counts as lost. For an existing controller the kernel's
// timeout applies: 0.
template <typename F> Result<void> DiscoveryLogRead::retryOnLoss(F command)
{
	for (;;) {
		if (std::optional<Error> why = over())
			return *why;
		Result<void> done = command(made_.empty() ? 0ms : std::clamp(left(), 1ms, commandPatience));
		if (done || !isLoss(done.error()))
			return done;
		std::this_thread::sleep_for(jittered(pause));
		if (over())
			continue;
		Result<void> live = waitAgain();
		if (!live && !over())
			return live;
	}
}

Result<void> DiscoveryLogRead::learnLimits()
{
	wire::Bytes id;
	Result<void> done = retryOnLoss([&](auto timeout) -> Result<void> {
		Result<wire::Bytes> told = node_->identify(timeout);
		if (!told)
			return told.error();
		id = *std::move(told);
		return {};
	});
	if (!done)
		return done;
	const std::uint8_t type = id[wire::at::cntrltype], mdts = id[wire::at::mdts];
	if (type && type != wire::ctrl_discovery)
		return errorFromErrno(EPROTO, "the controller is not a discovery controller");
	max_ = mdts && mdts < 5 ? unit << mdts : maxReadSize;
	offsets_ = id[wire::at::lpa] & wire::lpa_extended;
	return {};
}

Result<void> DiscoveryLogRead::read(std::uint64_t offset, std::span<std::byte> to, bool retain)
{
	return retryOnLoss(
		[&](auto timeout) { return node_->getLog(wire::log_discovery, offset, to, retain, timeout); });
}

bool DiscoveryLogRead::again(int tries)
{
	std::this_thread::sleep_for(std::min(jittered(tries * pause), left()));
	return !over();
}

Result<DiscoveryLog> DiscoveryLogRead::readLog()
{
	Result<void> ready = learnLimits();
	return ready ? readDiscoveryLog(*this) : Result<DiscoveryLog>(ready.error());
}

Result<DiscoveryLog> DiscoveryLogRead::read(const ConnectOptions &options)
{
	Result<void> ready = connect(options);
	if (ready)
		return readLog();
	return stop_.stop_requested() ? *over() : ready.error();
}

Result<DiscoveryLog> DiscoveryLogRead::read(const std::string &controller)
{
	controller_ = controller;
	Result<void> ready = open();
	return ready ? readLog() : Result<DiscoveryLog>(ready.error());
}

Result<DiscoveryLog> discover(const ConnectOptions &options, std::chrono::milliseconds timeout,
			      const std::stop_token &stop)
{
	Result<std::unique_ptr<Engine>> engine = Engine::open();
	if (!engine)
		return engine.error();
	DiscoveryLogRead visit(**engine, timeout, stop);
	Result<DiscoveryLog> log = visit.read(options);
	Removal removed;
	if (!visit.made().empty()) {
		Controller made;
		made.name = visit.made();
		made.subsysnqn = options.subsysnqn;
		Pending<Result<Removal>> removal = startRemovals(**engine, {made});
		(*engine)->wait(removal);
		removed = *removal.take();
	}
	bool there = !removed.failures.empty();
	if (!log)
		return there ? log.error() : withoutController(log.error());
	if (there)
		return removed.failures.front();
	return log;
}

Result<DiscoveryLog> discoverThrough(const std::string &controller, std::chrono::milliseconds timeout,
				     const std::stop_token &stop)
{
	Result<std::unique_ptr<Engine>> engine = Engine::open();
	if (!engine)
		return engine.error();
	return DiscoveryLogRead(**engine, timeout, stop).read(controller);
}

} // namespace nofctl
