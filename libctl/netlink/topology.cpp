// SPDX-License-Identifier: LGPL-2.1-or-later
#include <nvmeof/topology.h>

#include <cerrno>
#include <sys/eventfd.h>

#include <nvmeof/event_stream.h>

#include "libctl/base/epoll.h"
#include "object_cache.h"
#include "session.h"

namespace nvmeof {

using nofctl::Clock;
using nofctl::Epoll;
using nofctl::ObjectCache;
using nofctl::OwnedFd;
using nofctl::Session;
using nofctl::Socket;

namespace {

using SampleState = detail::PendingState<Result<void>>;

constexpr int maxTopologyEvents = 1024,
	      maxTopologyAnswers = 256; // limits per call, so that the caller's loop keeps running

// Extracts the objects from the variants of a list
template <typename T> std::vector<T> plainList(std::vector<EventObject> objects)
{
	std::vector<T> list;
	for (EventObject &object : objects)
		list.push_back(std::get<T>(std::move(object)));
	return list;
}

} // namespace

struct [[gnu::visibility("hidden")]] Topology::Impl
{
	// The handles that wait for one reading
	struct Sample {
		std::vector<std::shared_ptr<SampleState>> handles{};
		bool interval = false;
	};

	EventStream events;
	Session session;
	Epoll epoll;
	OwnedFd more; // eventfd: readable if dispatch() must be called again
	ObjectCache cache{};
	Rates rates{};
	std::optional<Error> over{};
	Sample wanted{}, current{};
	Socket::Id asked = 0; // pending list request of the current sample; 0: none
	int list = 0;
	std::vector<std::shared_ptr<SampleState>> finished{}; // handles whose then() functions are due

	void callAgain();
	void hear(std::vector<TopologyEvent> & told);
	void ask(int which);
	void begin();
	void advance();
	void take(std::vector<EventObject> objects);
	void finish(const Result<void> &result);
	void notify();
};

void Topology::Impl::callAgain()
{
	::eventfd_write(more.get(), 1);
}

void Topology::Impl::hear(std::vector<TopologyEvent> &told)
{
	eventfd_t count;
	::eventfd_read(more.get(), &count);
	for (int i = 0; i < maxTopologyEvents; i++) {
		Result<std::optional<Event>> event = events.next(std::chrono::milliseconds(0));
		if (!event)
			over = event.error();
		if (!event || !*event)
			return;
		std::optional<AnaBefore> before = cache.apply(**event);
		told.push_back({**std::move(event), before});
	}
	callAgain(); // the stream may hold more events without its descriptor being readable
}

void Topology::Impl::ask(int which)
{
	list = which;
	asked = session.startList(which);
}

void Topology::Impl::begin()
{
	if (asked || wanted.handles.empty() || !cache.synced())
		return;
	current = std::exchange(wanted, Sample());
	cache.beginSample();
	ask(nofctl::namespaceList);
}

void Topology::Impl::advance()
{
	session.receive(maxTopologyAnswers);
	while (asked) {
		std::optional<Result<std::vector<EventObject>>> objects = session.takeList(asked, list);
		if (!objects)
			return;
		asked = 0;
		if (*objects)
			take(**std::move(objects));
		else
			finish(objects->error());
	}
}

void Topology::Impl::take(std::vector<EventObject> objects)
{
	if (list == nofctl::namespaceList) {
		cache.take(plainList<Namespace>(std::move(objects)));
		ask(nofctl::pathList);
		return;
	}
	std::vector<Path> paths = plainList<Path>(std::move(objects));
	cache.take(paths);
	if (current.interval)
		rates.update(cache.now().time, paths);
	finish({});
}

void Topology::Impl::finish(const Result<void> &result)
{
	for (std::shared_ptr<SampleState> &handle : current.handles) {
		handle->value = result;
		finished.push_back(std::move(handle));
	}
	current = Sample();
}

void Topology::Impl::notify()
{
	for (const std::shared_ptr<SampleState> &handle : std::exchange(finished, {}))
		if (auto call = std::exchange(handle->notify, nullptr))
			call();
}

Topology::Topology(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Topology::Topology(Topology &&) noexcept = default;
Topology &Topology::operator=(Topology &&) noexcept = default;
Topology::~Topology() = default;

Result<Topology> Topology::open()
{
	Result<EventStream> events = EventStream::subscribe(StreamStart::snapshot);
	if (!events)
		return events.error();
	Result<Session> session = Session::open();
	if (!session)
		return session.error();
	Result<Epoll> epoll = Epoll::create();
	if (!epoll)
		return epoll.error();
	OwnedFd more(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
	if (more.get() < 0)
		return errorFromErrno(errno);
	for (int fd : {events->fd(), session->fd(), more.get()})
		if (Result<void> watched = epoll->watch(fd, true); !watched)
			return watched.error();
	return Topology(std::make_unique<Impl>(
		Impl{*std::move(events), *std::move(session), *std::move(epoll), std::move(more)}));
}

int Topology::fd() const
{
	return impl_->epoll.fd();
}

// Callbacks run last, with consistent state: they may start a sample.
Result<std::vector<TopologyEvent>> Topology::dispatch()
{
	std::vector<TopologyEvent> told;
	if (!impl_->over) {
		impl_->hear(told);
		impl_->begin();
		impl_->advance();
		impl_->begin();
		impl_->cache.count();
	}
	if (impl_->over) {
		impl_->finish(*impl_->over);
		impl_->current = std::exchange(impl_->wanted, Impl::Sample());
		impl_->finish(*impl_->over);
		if (!told.empty())
			impl_->callAgain();
	}
	impl_->notify();
	if (impl_->over && told.empty())
		return *impl_->over;
	return told;
}

bool Topology::synced() const
{
	return impl_->cache.synced();
}

const Snapshot &Topology::snapshot() const
{
	return impl_->cache.now();
}

const Rates &Topology::rates() const
{
	return impl_->rates;
}

Pending<Result<void>> Topology::startSample(SampleFor use)
{
	auto state = std::make_shared<SampleState>();
	impl_->wanted.handles.push_back(state);
	impl_->wanted.interval |= use == SampleFor::rates;
	if (impl_->over)
		impl_->callAgain();
	else
		impl_->begin();
	return Pending<Result<void>>(std::move(state));
}

Result<void> Topology::sample(SampleFor use, std::chrono::milliseconds timeout)
{
	Clock::time_point deadline = nofctl::deadlineIn(timeout);
	Pending<Result<void>> pending = startSample(use);
	for (bool late = false;;) {
		// an error of dispatch() also becomes the result of the sample
		dispatch().ok();
		if (pending.ready())
			return pending.take();
		Result<bool> readable = late ? Result<bool>(false) : nofctl::waitReadable(fd(), deadline);
		late = Clock::now() >= deadline;
		if (!readable)
			return readable.error();
		if (!*readable)
			return errorFromErrno(ETIMEDOUT, "the kernel did not list its objects in time");
	}
}

} // namespace nvmeof
