// SPDX-License-Identifier: LGPL-2.1-or-later
// How a connection is made, apart from where to and by whom: by the names of the options that "connect" has for it.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <variant>

#include <nvmeof/connect.h>

namespace nvmeof {

// As in ConnectOptions; what is not set is left to somebody else, in the end to the kernel.
struct ConnectSettings {
	std::optional<std::uint32_t> ioQueues;
	std::optional<std::uint32_t> pollQueues;
	std::optional<std::uint32_t> queueSize;
	std::optional<std::uint32_t> tags;
	std::optional<std::chrono::milliseconds> keepAlive;
	std::optional<std::chrono::milliseconds> reconnectDelay;
	std::optional<std::chrono::milliseconds> ctrlLoss;
	std::optional<std::chrono::milliseconds> fastIoFail;
	std::optional<std::chrono::milliseconds> connectTimeout;
	std::optional<std::chrono::milliseconds> stallTimeout;
	std::optional<std::chrono::milliseconds> firstConnect;
	std::optional<std::chrono::milliseconds> ackTimeout;
	std::optional<std::uint32_t> retryCount;
	std::optional<std::uint32_t> tos;
	std::optional<bool> hdrDigest;
	std::optional<bool> dataDigest;
	std::optional<bool> sqFlow;

	bool operator==(const ConnectSettings &) const = default;
	// What is not set here is as in @other.
	void complete(const ConnectSettings &other);
	// What is set goes to @options, and the rest of those stays.
	void apply(ConnectOptions &options) const;
};

enum class SettingKind {
	flag,         // yes or no
	number,       // whole
	milliseconds, // a whole number of them
	time,         // seconds, see parseSeconds()
	timeOrNever,  // and -1
};

// One of them; the bounds are those of a number or, in milliseconds, of a time.
struct ConnectSetting {
	using Member =
		std::variant<std::optional<bool> ConnectSettings::*, std::optional<std::uint32_t> ConnectSettings::*,
			     std::optional<std::chrono::milliseconds> ConnectSettings::*>;

	const char *name; // "nr-io-queues"
	Member member;
	SettingKind kind;
	std::int64_t least, most;
	const char *preset; // what holds if nobody sets it, for people
	const char *help;   // no full stop
};

// All there are, in the order in which people are told of them.
std::span<const ConnectSetting> connectSettings();
// Null: there is none of that name.
const ConnectSetting *findConnectSetting(std::string_view name);

// @value: 0 or 1, a number, or milliseconds; what is not within the bounds is invalid.
Result<void> putConnectSetting(ConnectSettings &settings, const ConnectSetting &setting, std::int64_t value);
// Nothing where it is not set.
std::optional<std::int64_t> getConnectSetting(const ConnectSettings &settings, const ConnectSetting &setting);

} // namespace nvmeof
