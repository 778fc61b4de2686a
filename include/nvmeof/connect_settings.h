// SPDX-License-Identifier: LGPL-2.1-or-later
// Settings of a connection other than address and identity, by the names of the options of "connect".
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include <nvmeof/connect.h>

namespace nvmeof {

// See ConnectOptions. A value that is not set comes from other settings or from the kernel's defaults.
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
	std::optional<std::string> dhchapKey;
	std::optional<std::string> dhchapCtrlKey;
	std::optional<TlsUse> tls;
	std::optional<std::string> tlsKey;
	std::optional<bool> concat;
	std::optional<SecurityRule> security; // of the configuration, not one of connectSettings()

	bool operator==(const ConnectSettings &) const = default;
	// Copies values that are not set here from @other. A tlsKey that is set here without tls implies TLS. Of concat
	// on one side and tls or tlsKey on the other, those set here apply.
	void complete(const ConnectSettings &other);
	// Copies values that are set to @options; other options stay unchanged.
	void apply(ConnectOptions &options) const;
};

enum class SettingKind {
	flag,         // true or false
	number,       // whole number
	milliseconds, // whole number of milliseconds
	time,         // seconds, see parseSeconds()
	timeOrNever,  // seconds, or -1 for no limit
	keySource,    // text: where a key is, see ConnectOptions::dhchapKey
	tlsUse,       // TlsUse, see parseTlsUse()
};

// Description of one setting. For times, the bounds are in milliseconds.
struct ConnectSetting {
	using Member =
		std::variant<std::optional<bool> ConnectSettings::*, std::optional<std::uint32_t> ConnectSettings::*,
			     std::optional<std::chrono::milliseconds> ConnectSettings::*,
			     std::optional<std::string> ConnectSettings::*, std::optional<TlsUse> ConnectSettings::*>;

	const char *name; // "nr-io-queues"
	Member member;
	SettingKind kind;
	std::int64_t least, most;
	const char *preset; // effective default, for display
	const char *help;   // one line for display, without a full stop
};

// All settings, in display order.
std::span<const ConnectSetting> connectSettings();
// Null: unknown name.
const ConnectSetting *findConnectSetting(std::string_view name);

// @value: 0 or 1, a number, milliseconds, or a TlsUse. Errors: invalid, if it is out of bounds, or the setting is a
// text.
Result<void> putConnectSetting(ConnectSettings &settings, const ConnectSetting &setting, std::int64_t value);
// Empty if it is not set, or a text.
std::optional<std::int64_t> getConnectSetting(const ConnectSettings &settings, const ConnectSetting &setting);
// The same for a setting of kind keySource. Errors: invalid, also for a relative path; the message does not contain
// @text, which may be a secret, unless it is a path.
Result<void> putConnectText(ConnectSettings &settings, const ConnectSetting &setting, const std::string &text);
std::optional<std::string> getConnectText(const ConnectSettings &settings, const ConnectSetting &setting);

} // namespace nvmeof
