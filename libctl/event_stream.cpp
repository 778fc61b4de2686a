// SPDX-License-Identifier: LGPL-2.1-or-later
#include <nvmeof/event_stream.h>

#include <ctime>
#include <deque>
#include <iterator>

#include "decode.h"
#include "session.h"
#include "socket.h"

namespace nvmeof {

using nofctl::Clock;
using nofctl::Session;
using nofctl::Socket;

std::chrono::nanoseconds bootTime()
{
	timespec now{};
	::clock_gettime(CLOCK_BOOTTIME, &now);
	return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

struct EventStream::Impl {
	Socket socket;
	std::deque<Event> pending;

	Result<void> take(const nofctl::Notifications &notifications);
	Result<void> resync();
	template <typename T> Result<void> present(Result<std::vector<T>> objects, std::chrono::nanoseconds now);
};

template <typename T>
Result<void> EventStream::Impl::present(Result<std::vector<T>> objects, std::chrono::nanoseconds now)
{
	if (!objects)
		return objects.error();
	for (T &object : *objects) {
		Event event;
		event.type = EventType::present;
		event.time = now;
		event.object = std::move(object);
		pending.push_back(std::move(event));
	}
	return {};
}

/*
 * What is queued now is older than the listing: thrown away. What arrives while the listing is made may be so too, but
 * carries its object's full state and is followed by what is newer, so a reader ends up right.
 */
Result<void> EventStream::Impl::resync()
{
	socket.drain();
	Event lost;
	lost.type = EventType::lost;
	lost.time = bootTime();
	pending.push_back(lost);
	Result<Session> session = Session::open();
	if (!session)
		return session.error();
	if (Result<void> done = present(session->subsystems(), lost.time); !done)
		return done;
	if (Result<void> done = present(session->controllers({}), lost.time); !done)
		return done;
	if (Result<void> done = present(session->namespaces({}), lost.time); !done)
		return done;
	return present(session->paths({}), lost.time);
}

Result<void> EventStream::Impl::take(const nofctl::Notifications &notifications)
{
	if (notifications.lost)
		return resync();
	for (const nofctl::Notification &notification : notifications.received) {
		Result<std::optional<Event>> event = nofctl::decodeEvent(notification.command, notification.attributes);
		if (!event)
			return event.error();
		if (*event)
			pending.push_back(**event);
	}
	return {};
}

EventStream::EventStream(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
EventStream::EventStream(EventStream &&) noexcept = default;
EventStream &EventStream::operator=(EventStream &&) noexcept = default;
EventStream::~EventStream() = default;

Result<EventStream> EventStream::subscribe()
{
	Result<Socket> socket = Socket::open();
	if (!socket)
		return socket.error();
	if (Result<void> joined = socket->joinEvents(); !joined)
		return joined.error();
	return EventStream(std::make_unique<Impl>(Impl{*std::move(socket), {}}));
}

Result<std::optional<Event>> EventStream::next(std::chrono::milliseconds timeout)
{
	Clock::time_point deadline = nofctl::deadlineIn(timeout);
	bool late = false;
	while (impl_->pending.empty() && !late) {
		late = Clock::now() >= deadline; // looks once more even then: next(0) takes what is there
		Result<nofctl::Notifications> notifications = impl_->socket.receive(deadline);
		if (!notifications)
			return notifications.error();
		if (Result<void> taken = impl_->take(*notifications); !taken)
			return taken.error();
	}
	if (impl_->pending.empty())
		return std::optional<Event>();
	Event event = std::move(impl_->pending.front());
	impl_->pending.pop_front();
	return std::optional(std::move(event));
}

int EventStream::fd() const
{
	return impl_->socket.fd();
}

} // namespace nvmeof
