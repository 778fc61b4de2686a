// SPDX-License-Identifier: LGPL-2.1-or-later
// A notification from the kernel, with the full new state of its object.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include <nvmeof/controller.h>
#include <nvmeof/namespace.h>
#include <nvmeof/path.h>
#include <nvmeof/subsystem.h>

namespace nvmeof {

// Values up to sameIds are those of enum nvmeof_event. The library itself creates the others.
enum class EventType : std::uint32_t {
	added,
	removed,
	changed,        // attributes other than the state
	state,          // a new controller state, ANA state or usability
	connectFailed,  // one attempt failed; more may follow, unless removed comes next
	refused,        // the driver rejects a namespace or path
	aen,            // asynchronous event of the target
	failover,       // of a namespace: requests that left a path have completed on others: Event::failover
	degraded,       // of a path: avoided because it is an outlier, suspect, or on probation
	restored,       // of a path: no longer degraded
	scanned,        // of a controller: a namespace scan has finished: Event::scanErrno
	noPath,         // of a namespace: no usable path is left
	pathBack,       // of a namespace: a path is usable again
	fewerPaths,     // of a namespace: livePaths is less than expectedPaths
	allPaths,       // of a namespace: livePaths is no longer less than expectedPaths
	sameIds,        // of a namespace: a namespace of another subsystem has the same identifiers
	lost = 0x10000, // events were lost (socket buffer overflow); "present" per object and "synced" follow
	present,        // an existing object, listed after "lost" or at the start of a snapshot stream
	synced,         // the list is complete; new events follow
};

const char *toString(EventType type); // "added", "connect_failed", ...; "unknown"

// Asynchronous event; NVMe Base 2.0, figure 145.
struct Aen {
	std::string controller;
	std::uint8_t type = 0;
	std::uint8_t info = 0;
	std::uint8_t logPage = 0;
};

// Current time of CLOCK_BOOTTIME, the clock of Event::time and of all "since" members.
std::chrono::nanoseconds bootTime();

struct Failover {
	std::string path;      // the path that the requests left
	std::uint32_t ios = 0; // requests that failed over
	// The longest time from first submission on that path to completion on another one.
	std::chrono::nanoseconds duration{0};
};

using EventObject = std::variant<std::monostate, Subsystem, Controller, Namespace, Path, Aen>;

struct Event {
	EventType type = EventType::changed;
	std::chrono::nanoseconds time{0};        // CLOCK_BOOTTIME; of lost, present, synced: when created
	EventObject object;                      // monostate for lost and synced
	std::optional<ControllerState> oldState; // for a state change of a controller
	std::string reason;                      // for connectFailed and refused: the cause, for display
	std::optional<Failover> failover;        // for failover
	int scanErrno = 0;                       // for scanned: positive errno; 0: success

	// Name of the object ("nvmeof0c1"): the controller for an aen, empty for lost and synced.
	const std::string &name() const;
	const Controller *controller() const { return std::get_if<Controller>(&object); }
	const Namespace *nameSpace() const { return std::get_if<Namespace>(&object); }
	const Path *path() const { return std::get_if<Path>(&object); }
	const Subsystem *subsystem() const { return std::get_if<Subsystem>(&object); }
	const Aen *aen() const { return std::get_if<Aen>(&object); }
};

} // namespace nvmeof
