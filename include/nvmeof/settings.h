// SPDX-License-Identifier: LGPL-2.1-or-later
// Settings of existing objects that can be changed. A setting that is not set stays unchanged.
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
	std::optional<std::chrono::milliseconds> ctrlLoss;     // negative: no limit
	std::optional<std::chrono::milliseconds> fastIoFail;   // negative: off
	std::optional<std::chrono::milliseconds> stallTimeout; // 0: off
	std::optional<std::string> owner;                      // see ConnectOptions::owner; empty: none
	std::optional<std::string> dhchapKey;                  // see ConnectOptions::dhchapKey; not empty
	std::optional<std::string> dhchapCtrlKey;
	std::optional<std::string> tlsKey; // see ConnectOptions::tlsKey; not empty

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
	// Copies settings that are not set here from @other.
	void complete(const SubsystemSettings &other);
};

// The module's settings for a new subsystem.
SubsystemSettings defaultSettings();

/*
 * Parses words such as "iopolicy=latency", "spill-us=500", "degrade=on"; see Documentation/operations.md. Errors:
 * invalid; the message names the word, unless it may be a secret, or lists the valid names. A name must not be given
 * twice. The iopolicy is not checked here: only the module knows its path selectors.
 */
Result<ControllerSettings> parseControllerSettings(std::span<const std::string> words);
Result<SubsystemSettings> parseSubsystemSettings(std::span<const std::string> words);
// The names that parseSubsystemSettings() accepts, and the words that yield @settings.
std::vector<std::string> subsystemSettingNames();
std::vector<std::string> wordsOf(const SubsystemSettings &settings);

} // namespace nvmeof
