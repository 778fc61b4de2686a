// SPDX-License-Identifier: LGPL-2.1-or-later
// What can be changed of an object that exists. What is not set stays as it is.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <nvmeof/result.h>
#include <nvmeof/subsystem.h>

namespace nvmeof {

struct ControllerSettings {
	std::optional<std::chrono::milliseconds> reconnectDelay;
	std::optional<std::chrono::milliseconds> ctrlLoss;     // negative: never lost
	std::optional<std::chrono::milliseconds> fastIoFail;   // negative: off
	std::optional<std::chrono::milliseconds> stallTimeout; // 0: off
	std::optional<std::string> owner;                      // see ConnectOptions::owner; empty: nobody

	bool operator==(const ControllerSettings &) const = default;
};

struct SubsystemSettings {
	std::optional<std::string> iopolicy;
	std::optional<std::chrono::microseconds> spillLatency; // 0: off
	std::optional<std::uint32_t> spillDepth;               // commands; 0: off
	std::optional<bool> degrade;
	std::optional<Fencing> fencing;
	std::optional<std::chrono::seconds> delayedRemoval; // 0: off
	std::optional<std::chrono::seconds> quiesceTimeout; // see Subsystem

	bool operator==(const SubsystemSettings &) const = default;
	// What is not set here is as in @other.
	void complete(const SubsystemSettings &other);
};

// Those of a subsystem that the module has just made.
SubsystemSettings defaultSettings();

/*
 * From words such as "iopolicy=latency", "spill-us=500", "degrade=on"; see Documentation/operations.md. Errors are
 * invalid, and name the word, or list the names that there are. A name given twice is an error. Whether the module
 * has that iopolicy only the module can tell.
 */
Result<ControllerSettings> parseControllerSettings(std::span<const std::string> words);
Result<SubsystemSettings> parseSubsystemSettings(std::span<const std::string> words);
// The names that the latter knows, and the words that make the same settings.
std::vector<std::string> subsystemSettingNames();
std::vector<std::string> wordsOf(const SubsystemSettings &settings);

} // namespace nvmeof
