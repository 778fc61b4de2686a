// SPDX-License-Identifier: LGPL-2.1-or-later
// What there is, followed as it changes.
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

// What a path was before an event.
struct AnaBefore {
	AnaState state = AnaState::none;
	std::chrono::nanoseconds lasted{0};
};

struct TopologyEvent {
	Event event;
	std::optional<AnaBefore> before; // of a path whose ANA state is another one now, and since when it had that
};

enum class SampleFor {
	rates,  // ends an interval
	states, // rates stay those of the last interval
};

/*
 * A picture of all objects, which the kernel's events keep up to date. They do not carry what only counts or varies: of
 * paths the counters, and what is in flight; of namespaces what waits, is held, and who has them open. A sample reads
 * those, and whether paths are usable, which no event tells where their controller has come back. When events were lost
 * the objects are read anew, bit by bit, and the picture stays the old one until that is done.
 *
 * Not safe for use by two threads at once; any number may exist.
 */
class Topology {
public:
	// Errors as of Client::open(). The picture is empty until the objects have been read: synced().
	static Result<Topology> open();

	Topology(Topology &&) noexcept;
	Topology &operator=(Topology &&) noexcept;
	~Topology();

	// For poll(2): readable when dispatch() has something to do.
	int fd() const;

	/*
	 * Takes what has come, without waiting, and returns the events that were folded in, in their order, as
	 * EventStream tells them: "present" for each object at the beginning, "synced", and so on. Then calls what was
	 * given to Pending::then(). An error is the end, noModule when the module went: the picture stays as it is, and
	 * every further call fails. Open another one.
	 */
	Result<std::vector<TopologyEvent>> dispatch();

	// False while objects are read: at the beginning, and after a loss.
	bool synced() const;
	// Good until the next dispatch().
	const Snapshot &snapshot() const;
	// Of the interval between the last two samples that were asked for with SampleFor::rates.
	const Rates &rates() const;

	/*
	 * Ready when the counters are those of a moment after the call; Snapshot::time says which. One is read at a
	 * time, and none before synced(). An event that comes meanwhile wins over what is read: nothing comes back that
	 * has gone. Cancelled, the values are taken all the same.
	 */
	Pending<Result<void>> startSample(SampleFor use = SampleFor::rates);
	// Waits; timedOut after @timeout, negative: never. Events are folded in meanwhile, and not told.
	Result<void> sample(SampleFor use = SampleFor::rates,
			    std::chrono::milliseconds timeout = std::chrono::seconds(60));

private:
	struct Impl;
	explicit Topology(std::unique_ptr<Impl> impl);
	std::unique_ptr<Impl> impl_;
};

} // namespace nvmeof
