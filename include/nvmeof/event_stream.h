// SPDX-License-Identifier: LGPL-2.1-or-later
// The kernel's notifications, as they come.
#pragma once

#include <chrono>
#include <memory>
#include <optional>

#include <nvmeof/event.h>
#include <nvmeof/result.h>

namespace nvmeof {

enum class StreamStart {
	events,   // what happens from now on
	snapshot, // "present" for each object that there is, "synced", and then what happens
};

/*
 * Every event from the moment of subscription on is returned once, in order. When the reader is too slow and the kernel
 * drops some, next() returns one event "lost", one "present" for each object that there is now, and "synced": whoever
 * keeps a picture of the objects forgets those that were not told of between the two. The list is read bit by bit, so
 * that next(0) never waits for it. The stream ends with the module: next() fails with noModule once, and has nothing
 * more. Not safe for use by two threads at once.
 */
class EventStream {
public:
	static Result<EventStream> subscribe(StreamStart start = StreamStart::events);

	EventStream(EventStream &&) noexcept;
	EventStream &operator=(EventStream &&) noexcept;
	~EventStream();

	// The next event, or nothing when @timeout has passed first. A negative @timeout waits for ever.
	Result<std::optional<Event>> next(std::chrono::milliseconds timeout);

	// For poll(2): readable when next() may have something. Call next(0) until it has nothing before polling again.
	int fd() const;

private:
	struct Impl;
	explicit EventStream(std::unique_ptr<Impl> impl);
	std::unique_ptr<Impl> impl_;
};

} // namespace nvmeof
