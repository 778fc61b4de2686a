// SPDX-License-Identifier: LGPL-2.1-or-later
// Judges the state of this host: turns gathered facts into findings. No function here does I/O.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <nvmeof/foreign.h>
#include <nvmeof/snapshot.h>

#include "builds.h"
#include "json.h"
#include "doctor_probe.h"

// The path of the control socket in @config, the text of cdc.toml, or the usual one.
std::string cdcSocketIn(std::string_view config);

namespace doctor {

// A service on this machine, as seen from outside
struct ServiceFacts {
	bool enabled = false;       // systemd starts it at boot
	std::optional<bool> runs;   // not set: cannot be determined
	std::optional<Json> status; // its answer
	std::string error;          // why there is no answer; empty: not asked
};

// Input of diagnose(). Whatever cannot be determined is not set or empty.
struct Facts {
	std::chrono::system_clock::time_point now;
	std::optional<nvmeof::Error> unreadable; // the driver's state could not be read
	nvmeof::Snapshot snapshot;
	std::vector<BuildFinding> builds;
	std::map<std::string, std::vector<nvmeof::ForeignController>> inTree; // controllers of other drivers by NQN
	std::vector<nvmeof::NvmeDisk> disks;
	std::optional<std::set<std::string>> linked;       // disks with a link in /dev/disk/by-id. Not set: no udev
	std::vector<PathProbe> probes;                     // of TCP controllers
	bool probed = true;                                // false: --no-probe
	std::map<std::string, nvmeof::SecurityRule> rules; // [[security]], by NQN of a subsystem or service
	std::vector<Json> events;                          // recorded by nvmeofd, oldest first
	std::string eventsUnread;                          // why they could not be read; empty: read, or none recorded
	std::optional<bool> clockSynchronized;             // by NTP or PTP, as the kernel knows it
	ServiceFacts daemon, cdc;
};

enum class Severity {
	problem, // I/O waits, or data is at risk
	warning, // I/O works, but less safely or slower than it should, or not after the next boot
};

const char *toString(Severity severity);

struct Finding {
	Severity severity = Severity::warning;
	std::string check;  // stable, for programs: "controller_down"
	std::string object; // nvmeof0c1, an NQN, "nvmeofd", ...
	std::string finding, advice;
};

// A check that could not be made
struct Skipped {
	std::string check, object, reason;
};

struct Diagnosis {
	std::vector<Finding> findings; // worst first
	std::vector<Skipped> skipped;
	std::size_t subsystems = 0, controllers = 0, namespaces = 0, paths = 0; // that were examined

	int exitCode() const; // 0: no finding; 1: warnings; 2: at least one problem
};

Diagnosis diagnose(const Facts &facts);

// One line per finding, with its advice, then a summary. Not more than about 20 lines.
std::string textOf(const Diagnosis &diagnosis);
Json documentOf(const Diagnosis &diagnosis);

} // namespace doctor
