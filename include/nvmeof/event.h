// SPDX-License-Identifier: LGPL-2.1-or-later
// One notification of the kernel, with the full new state of its object.
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

// Values up to sameIds are those of enum nvmeof_event; the rest is the library's own.
enum class EventType : std::uint32_t {
	added,
	removed,
	changed,        // attributes other than the state
	state,          // a new controller state, ANA state or usability
	connectFailed,  // one attempt failed; more may follow unless removed comes next
	refused,        // a namespace or path that the driver will not use
	aen,            // asynchronous event of the target
	failover,       // of a namespace: requests left a path, and are done on others: Event::failover
	degraded,       // of a path: left out as an outlier, suspect, or on probation
	restored,       // of a path: taken back
	scanned,        // of a controller: a scan of its namespaces has ended: Event::scanErrno
	noPath,         // of a namespace: no usable path is left
	pathBack,       // of a namespace: there is one again
	fewerPaths,     // of a namespace: livePaths is less than expectedPaths
	allPaths,       // of a namespace: it is so no longer
	sameIds,        // of a namespace: one of another subsystem has its identifiers
	lost = 0x10000, // events were lost: the socket's buffer ran over. "present" for each object there is now
			// follows, and then "synced"
	present,        // an object as read after "lost", or at the beginning where that was asked for
	synced,         // that was all there is; what follows is news
};

const char *toString(EventType type); // "added", "connect_failed", ...; "unknown"

// Asynchronous event notice; NVMe Base 2.0, figure 145.
struct Aen {
	std::string controller;
	std::uint8_t type = 0;
	std::uint8_t info = 0;
	std::uint8_t logPage = 0;
};

// Now, by the clock of Event::time and of all that was "since".
std::chrono::nanoseconds bootTime();

struct Failover {
	std::string path;      // the one that was left
	std::uint32_t ios = 0; // requests that moved
	// The longest of their times from being sent on that path to being done elsewhere.
	std::chrono::nanoseconds duration{0};
};

using EventObject = std::variant<std::monostate, Subsystem, Controller, Namespace, Path, Aen>;

struct Event {
	EventType type = EventType::changed;
	std::chrono::nanoseconds time{0};        // CLOCK_BOOTTIME; of lost and present: when this was found
	EventObject object;                      // monostate for lost and synced
	std::optional<ControllerState> oldState; // of a controller's change of state
	std::string reason;                      // connectFailed, refused: why, for a person
	std::optional<Failover> failover;        // of failover
	int scanErrno = 0;                       // of scanned: positive errno, 0: it ended well

	// Name of the object ("nvmeof0c1"), of the controller for an aen, empty for lost and synced.
	const std::string &name() const;
	const Controller *controller() const { return std::get_if<Controller>(&object); }
	const Namespace *nameSpace() const { return std::get_if<Namespace>(&object); }
	const Path *path() const { return std::get_if<Path>(&object); }
	const Subsystem *subsystem() const { return std::get_if<Subsystem>(&object); }
	const Aen *aen() const { return std::get_if<Aen>(&object); }
};

} // namespace nvmeof
