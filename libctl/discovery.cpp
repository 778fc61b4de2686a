// SPDX-License-Identifier: LGPL-2.1-or-later
#include "discovery.h"

#include <algorithm>
#include <cerrno>
#include <thread>

#include "connect_wait.h"

namespace nofctl {

using namespace nvmeof;
using namespace std::chrono_literals;

namespace {

constexpr std::chrono::milliseconds commandTimeout = 5s;
constexpr std::chrono::milliseconds pause = 50ms; // before what failed is tried again
constexpr std::size_t unit = 4096;                // of MDTS, at least: CAP.MPSMIN may make it more
constexpr std::size_t longestRead = 16 * unit;
constexpr std::uint16_t hostPathing = 0x370, abortedByHost = 0x371; // NVMe Base 2.0, figure 100

Result<void> waitFor(ConnectWait &waiter)
{
	Result<Controller> live = waiter.finish().front();
	return live ? Result<void>() : Result<void>(live.error());
}

// The connection went, whatever became of the command.
bool isLoss(const Error &error)
{
	if (error.nvmeStatus)
		return error.nvmeStatus == hostPathing || error.nvmeStatus == abortedByHost;
	return error.sysErrno == ECONNRESET || error.sysErrno == ENOTCONN || error.sysErrno == EAGAIN;
}

} // namespace

DiscoveryVisit::DiscoveryVisit(Session &session, std::chrono::milliseconds timeout)
	: session_(session), timeout_(timeout), deadline_(deadlineIn(timeout))
{
}

std::chrono::milliseconds DiscoveryVisit::left() const
{
	return std::max(std::chrono::ceil<std::chrono::milliseconds>(deadline_ - Clock::now()), 0ms);
}

// Who listens only after it was made may hear nothing of one that is gone at once.
Result<void> DiscoveryVisit::connect(const ConnectOptions &options)
{
	Result<ConnectWait> waiter = ConnectWait::begin(session_, WaitFor::controller, left());
	if (!waiter)
		return waiter.error();
	Result<Controller> controller = session_.create(options);
	if (controller)
		made_ = controller->name;
	else if (controller.error().code == ErrorCode::alreadyConnected && !controller.error().object.empty())
		controller = session_.controller(controller.error().object);
	if (controller)
		controller_ = controller->name;
	waiter->add(std::move(controller));
	return waitFor(*waiter);
}

Result<void> DiscoveryVisit::waitAgain()
{
	Result<ConnectWait> waiter = ConnectWait::begin(session_, WaitFor::controller, left());
	if (!waiter)
		return waiter.error();
	waiter->join(controller_);
	return waitFor(*waiter);
}

// @command: gets its timeout
template <typename F> Result<void> DiscoveryVisit::insist(F command)
{
	for (;;) {
		Result<void> done = command(std::min(left(), commandTimeout));
		if (done || !isLoss(done.error()))
			return done;
		if (Clock::now() + pause >= deadline_) {
			Error error = done.error();
			error.code = ErrorCode::timedOut;
			error.message = "not read after " + std::to_string(timeout_.count()) + " ms: " + error.message;
			return error;
		}
		std::this_thread::sleep_for(pause);
		if (Result<void> live = waitAgain(); !live)
			return live;
	}
}

Result<void> DiscoveryVisit::learnLimits()
{
	nvme_id_ctrl id{};
	Result<void> done = insist([&](auto timeout) { return node_->identify(id, timeout); });
	most_ = id.mdts && id.mdts < 4 ? unit << id.mdts : longestRead;
	offsets_ = id.lpa & NVME_CTRL_LPA_EXTENDED;
	return done;
}

Result<void> DiscoveryVisit::read(std::uint64_t offset, std::span<std::byte> to, bool retain)
{
	return insist([&](auto timeout) { return node_->getLog(NVME_LOG_LID_DISCOVER, offset, to, retain, timeout); });
}

bool DiscoveryVisit::again(int tries)
{
	if (Clock::now() + tries * pause >= deadline_)
		return false;
	std::this_thread::sleep_for(tries * pause);
	return true;
}

Result<DiscoveryLog> DiscoveryVisit::read(const ConnectOptions &options)
{
	Result<void> ready = connect(options);
	if (ready) {
		Result<AdminNode> node = AdminNode::open(controller_);
		if (!node)
			return node.error();
		node_.emplace(*std::move(node));
		ready = learnLimits();
	}
	return ready ? readDiscoveryLog(*this) : Result<DiscoveryLog>(ready.error());
}

} // namespace nofctl
