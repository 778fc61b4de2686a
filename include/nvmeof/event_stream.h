// SPDX-License-Identifier: LGPL-2.1-or-later
// A stream of the kernel's notifications.
#pragma once

#include <chrono>
#include <memory>
#include <optional>

#include <nvmeof/event.h>
#include <nvmeof/result.h>

namespace nvmeof {

enum class StreamStart {
	events,   // new events only
	snapshot, // "present" for each existing object, "synced", then new events
};

/*
 * Returns each event since the subscription once, in order. If the reader is too slow and the kernel drops events,
 * next() returns "lost", one "present" per existing object, and "synced". A caller that caches objects then drops the
 * objects without a "present" between the two. The lists are read in steps, so next(0) never blocks on them. After the
 * module is unloaded, next() fails with noModule once; later calls return nothing. Must not be used by two threads at
 * the same time.
 */
class EventStream {
public:
	static Result<EventStream> subscribe(StreamStart start = StreamStart::events);

	EventStream(EventStream &&) noexcept;
	EventStream &operator=(EventStream &&) noexcept;
	~EventStream();

	// The next event, or nothing after @timeout. A negative @timeout has no limit.
	Result<std::optional<Event>> next(std::chrono::milliseconds timeout);

	// For poll(2). Readable when next() may return an event. Before polling again, call next(0) until it returns
	// nothing.
	int fd() const;

private:
	struct Impl;
	explicit EventStream(std::unique_ptr<Impl> impl);
	std::unique_ptr<Impl> impl_;
};

} // namespace nvmeof
