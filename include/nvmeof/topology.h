// SPDX-License-Identifier: LGPL-2.1-or-later
// A live snapshot of all objects, updated by events.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <vector>

#include <nvmeof/event.h>
#include <nvmeof/pending.h>
#include <nvmeof/rates.h>
#include <nvmeof/result.h>
#include <nvmeof/snapshot.h>

namespace nvmeof {

// ANA state of a path before an event.
struct AnaBefore {
	AnaState state = AnaState::none;
	std::chrono::nanoseconds lasted{0};
};

struct TopologyEvent {
	Event event;
	std::optional<AnaBefore> before; // of a path whose ANA state changed: the previous state and how long it lasted
};

enum class SampleFor {
	rates,  // ends an interval
	states, // does not end an interval; rates stay unchanged
};

/*
 * All objects of the driver, kept up to date by events. Events do not carry values that vary all the time: counters and
 * in-flight requests of paths; waiting and held requests and openers of namespaces. A sample reads these values. It
 * also reads whether paths are usable, because no event reports that after their controller has reconnected. If events
 * were lost, all objects are read again in steps; until that is complete, the previous snapshot stays.
 *
 * A Topology must not be used by two threads at the same time. Any number of them may exist.
 */
class Topology {
public:
	// Errors: see Client::open(). The snapshot is empty until the objects have been read; see synced().
	static Result<Topology> open();

	Topology(Topology &&) noexcept;
	Topology &operator=(Topology &&) noexcept;
	~Topology();

	// For poll(2). Readable when dispatch() has work.
	int fd() const;

	/*
	 * Processes pending input without blocking. Returns the events that were applied, in order, as EventStream
	 * returns them: at the start "present" for each object, then "synced", and so on. Then calls the functions
	 * passed to Pending::then(). An error is final (noModule if the module was unloaded): the snapshot stays
	 * unchanged and all further calls fail. Open a new Topology then.
	 */
	Result<std::vector<TopologyEvent>> dispatch();

	// False while objects are being read: at the start, and after events were lost.
	bool synced() const;
	// Valid until the next dispatch().
	const Snapshot &snapshot() const;
	// Rates between the last two samples with SampleFor::rates.
	const Rates &rates() const;

	/*
	 * Becomes ready when the counters have been read after this call; Snapshot::time is the time of the reading.
	 * Readings run one at a time, and not before synced(). An event that arrives during a reading takes precedence,
	 * so a removed object does not reappear. After cancellation the values are stored nevertheless.
	 */
	Pending<Result<void>> startSample(SampleFor use = SampleFor::rates);
	// Blocks. timedOut after @timeout; negative: no limit. Events are applied meanwhile, but not returned.
	Result<void> sample(SampleFor use = SampleFor::rates,
			    std::chrono::milliseconds timeout = std::chrono::seconds(60));

private:
	struct Impl;
	explicit Topology(std::unique_ptr<Impl> impl);
	std::unique_ptr<Impl> impl_;
};

} // namespace nvmeof
