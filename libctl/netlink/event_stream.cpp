// SPDX-License-Identifier: LGPL-2.1-or-later
#include <nvmeof/event_stream.h>

#include <cerrno>
#include <ctime>
#include <deque>

#include "decode.h"
#include "libctl/base/epoll.h"
#include "session.h"

namespace nvmeof {

using nofctl::Channel;
using nofctl::Clock;
using nofctl::Epoll;
using nofctl::Reply;
using nofctl::Session;
using nofctl::Socket;

namespace {

constexpr int stepsAtOnce = 64; // per next(0), so that the caller's loop keeps running
constexpr int listRead = 4;     // datagrams of a list per step

} // namespace

std::chrono::nanoseconds bootTime()
{
	timespec now{};
	::clock_gettime(CLOCK_BOOTTIME, &now);
	return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

/*
 * Either reads events from the channel, or lists all objects on a separate socket. Events stay queued while lists are
 * read: each is either included in the lists, or is newer and carries the full state of its object. Delivered after the
 * lists, events therefore yield the correct final state.
 */
struct [[gnu::visibility("hidden")]] EventStream::Impl
{
	std::unique_ptr<Channel> events;
	Session session;
	Epoll epoll;
	std::deque<Event> pending{};
	bool listing = false;
	int list = 0; // index of the list being read
	Socket::Id asked = 0;

	Result<void> join();
	Result<void> beginListing();
	Result<bool> stepListing();
	Result<bool> stepEvents();
	Result<void> take(const Reply &reply, bool &lost);
	Result<bool> step()
	{
		return listing ? stepListing() : stepEvents();
	}
	void stop();
	void push(EventType type, EventObject object = {});
	void drain();
	Result<void> lost();
};

void EventStream::Impl::push(EventType type, EventObject object)
{
	Event event;
	event.type = type;
	event.time = bootTime();
	event.object = std::move(object);
	pending.push_back(std::move(event));
}

// After joinEnd(), the end of the module is reported. If it came earlier, version() fails.
Result<void> EventStream::Impl::join()
{
	if (Result<void> joined = events->joinEnd(); !joined)
		return joined;
	if (Result<ModuleVersion> there = session.version(); !there)
		return there.error();
	if (Result<void> joined = events->joinEvents(); !joined)
		return joined;
	return epoll.watch(events->fd(), true);
}

Result<void> EventStream::Impl::beginListing()
{
	listing = true;
	list = 0;
	asked = session.startList(list);
	if (Result<void> watched = epoll.watch(events->fd(), false); !watched)
		return watched;
	return epoll.watch(session.fd(), true);
}

void EventStream::Impl::stop()
{
	listing = false;
	epoll.watch(session.fd(), false).ok();
	epoll.watch(events->fd(), true).ok();
}

Result<bool> EventStream::Impl::stepListing()
{
	bool more = session.receive(listRead);
	std::optional<Result<std::vector<EventObject>>> objects = session.takeList(asked, list);
	if (!objects)
		return more;
	if (!*objects) {
		stop();
		return objects->error();
	}
	for (EventObject &object : **objects)
		push(EventType::present, std::move(object));
	if (++list < nofctl::listKinds) {
		asked = session.startList(list);
		return true;
	}
	stop();
	push(EventType::synced);
	return true;
}

void EventStream::Impl::drain()
{
	for (;;) {
		Result<std::vector<std::byte>> datagram = events->receive();
		if (!datagram && datagram.error().sysErrno != ENOBUFS)
			return;
	}
}

// Queued events are older than the lists that will be read.
Result<void> EventStream::Impl::lost()
{
	drain();
	push(EventType::lost);
	return beginListing();
}

Result<void> EventStream::Impl::take(const Reply &reply, bool &lost)
{
	if (reply.kind == Reply::Kind::gone)
		return nofctl::noFamily();
	lost |= reply.kind == Reply::Kind::overrun;
	if (reply.kind != Reply::Kind::data)
		return {};
	Result<nofctl::Attributes> attributes = nofctl::Attributes::parse(reply.attributes);
	if (!attributes)
		return attributes.error();
	Result<std::optional<Event>> event = nofctl::decodeEvent(reply.command, *attributes);
	if (!event)
		return event.error();
	if (*event)
		pending.push_back(**std::move(event));
	return {};
}

Result<bool> EventStream::Impl::stepEvents()
{
	Result<std::vector<std::byte>> datagram = events->receive();
	if (!datagram && datagram.error().sysErrno == EAGAIN)
		return false;
	bool missed = !datagram && datagram.error().sysErrno == ENOBUFS;
	if (!datagram && !missed)
		return datagram.error();
	if (datagram) {
		Result<std::vector<Reply>> replies = nofctl::splitReplies(*datagram, events->family());
		if (!replies)
			return replies.error();
		for (const Reply &reply : *replies)
			if (Result<void> taken = take(reply, missed); !taken)
				return taken.error();
	}
	if (missed)
		if (Result<void> told = lost(); !told)
			return told.error();
	return true;
}

EventStream::EventStream(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
EventStream::EventStream(EventStream &&) noexcept = default;
EventStream &EventStream::operator=(EventStream &&) noexcept = default;
EventStream::~EventStream() = default;

Result<EventStream> EventStream::subscribe(StreamStart start)
{
	Result<std::unique_ptr<Channel>> events = nofctl::openChannel(nofctl::ChannelUse::events);
	if (!events)
		return events.error();
	Result<Session> session = Session::open();
	if (!session)
		return session.error();
	Result<Epoll> epoll = Epoll::create();
	if (!epoll)
		return epoll.error();
	auto impl = std::make_unique<Impl>(Impl{*std::move(events), *std::move(session), *std::move(epoll)});
	if (Result<void> joined = impl->join(); !joined)
		return joined.error();
	if (start == StreamStart::snapshot)
		if (Result<void> begun = impl->beginListing(); !begun)
			return begun.error();
	return EventStream(std::move(impl));
}

Result<std::optional<Event>> EventStream::next(std::chrono::milliseconds timeout)
{
	Clock::time_point deadline = nofctl::deadlineIn(timeout);
	for (int steps = 0; impl_->pending.empty(); steps++) {
		if (steps >= stepsAtOnce && Clock::now() >= deadline)
			return std::optional<Event>();
		Result<bool> more = impl_->step();
		if (!more)
			return more.error();
		if (*more || !impl_->pending.empty())
			continue;
		Result<bool> readable = nofctl::waitReadable(fd(), deadline);
		if (!readable)
			return readable.error();
		if (!*readable)
			return std::optional<Event>();
	}
	Event event = std::move(impl_->pending.front());
	impl_->pending.pop_front();
	return std::optional(std::move(event));
}

int EventStream::fd() const
{
	return impl_->epoll.fd();
}

} // namespace nvmeof
