// SPDX-License-Identifier: LGPL-2.1-or-later
#include "removal.h"

#include <algorithm>
#include <cerrno>

namespace nofctl {

using namespace nvmeof;

namespace {

constexpr std::size_t maxAtOnce = 64; // so that the answers fit into the socket buffer
constexpr std::chrono::milliseconds makingTimeout{5000}, makingInterval{20};

} // namespace

RemovalOperation::RemovalOperation(Engine &engine, const std::vector<Controller> &controllers, Done done,
				   Missing missing)
	: engine_(engine), done_(std::move(done)), missing_(missing), patience_(Clock::now() + makingTimeout)
{
	for (const Controller &controller : controllers)
		items_.push_back({controller.name, controller.subsysnqn});
}

void RemovalOperation::take(Item &item, const Result<void> &done)
{
	item.asked = 0;
	asked_--;
	if (!done && done.error().sysErrno == EAGAIN && Clock::now() < patience_) { // it is just being created
		item.again = Clock::now() + makingInterval;
		return;
	}
	item.over = true;
	if (done || (missing_ == Missing::ignored && done.error().code == ErrorCode::noSuchObject))
		return;
	item.error = done.error();
	item.error->object = ErrorObject::named(item.name);
}

void RemovalOperation::advance(Item &item)
{
	if (item.over)
		return;
	if (!item.asked) {
		if (asked_ == maxAtOnce || Clock::now() < item.again)
			return;
		item.asked = engine_.session().startRemove(item.name, item.subsysnqn);
		asked_++;
	}
	if (std::optional<Result<void>> done = engine_.session().finished(item.asked))
		take(item, *done);
}

bool RemovalOperation::advance()
{
	for (Item &item : items_)
		advance(item);
	if (std::ranges::any_of(items_, [](const Item &item) { return !item.over; }))
		return false;
	Removal removal;
	for (Item &item : items_) {
		if (item.error)
			removal.failures.push_back(*std::move(item.error));
		else
			removal.removed.push_back(item.name);
	}
	if (done_)
		done_(std::move(removal));
	return true;
}

Clock::time_point RemovalOperation::wake() const
{
	Clock::time_point next = Clock::time_point::max();
	for (const Item &item : items_)
		if (!item.over && !item.asked && asked_ < maxAtOnce)
			next = std::min(next, item.again);
	return next;
}

} // namespace nofctl
