// SPDX-License-Identifier: LGPL-2.1-or-later
#include <nvmeof/connect_settings.h>

#include <string>
#include <type_traits>

#include "libctl/base/make_error.h"
#include "libctl/keys/source.h"

namespace nvmeof {

namespace {

using std::chrono::milliseconds;

constexpr std::int64_t day = 86'400'000, anyTime = INT32_MAX; // ms
constexpr std::int64_t maxQueues = 1024, maxEntries = 1024, maxTags = 4096;

// Ranges and defaults are those of include/uapi/linux/nvmeof.h.
constexpr ConnectSetting all[] = {
	{"nr-io-queues", &ConnectSettings::ioQueues, SettingKind::number, 1, maxQueues, "number of CPUs",
	 "I/O queues to request"},
	{"nr-poll-queues", &ConnectSettings::pollQueues, SettingKind::number, 0, maxQueues, "0",
	 "Additional queues for polled I/O"},
	{"queue-size", &ConnectSettings::queueSize, SettingKind::number, 16, maxEntries, "128",
	 "Entries of each I/O queue"},
	{"tags", &ConnectSettings::tags, SettingKind::number, 64, maxTags, "as many as fit into 16 MiB, at most 1024",
	 "Outstanding requests per requested queue, over all disks and paths; set by the first connect to a subsystem"},
	{"keep-alive-tmo", &ConnectSettings::keepAlive, SettingKind::time, 0, day, "5 or 2",
	 "Keep-alive timeout; 0 for none. The default is 2 if the controller counts in steps of 2 s or less"},
	{"reconnect-delay", &ConnectSettings::reconnectDelay, SettingKind::time, 1, day, "10",
	 "Longest pause between attempts to reconnect"},
	{"ctrl-loss-tmo", &ConnectSettings::ctrlLoss, SettingKind::timeOrNever, 0, anyTime, "600",
	 "Remove the paths after this time without a connection; -1 for never"},
	{"fast-io-fail-tmo", &ConnectSettings::fastIoFail, SettingKind::timeOrNever, 0, anyTime, "-1",
	 "Fail I/O after this time without a connection; -1 for off"},
	{"connect-tmo", &ConnectSettings::connectTimeout, SettingKind::time, 100, day, "10",
	 "Time limit of one connection attempt"},
	{"stall-tmo", &ConnectSettings::stallTimeout, SettingKind::time, 0, day, "0.3",
	 "Mark the path suspect after this silence while a response is outstanding; 0 for off; 300ms is 0.3"},
	{"keep-trying", &ConnectSettings::firstConnect, SettingKind::timeOrNever, 0, anyTime, "0",
	 "Retry a failed first connect for this time; -1 for no limit"},
	{"ack-tmo-ms", &ConnectSettings::ackTimeout, SettingKind::milliseconds, 1, 10000, "134",
	 "RDMA: retransmit a packet not acknowledged within this time"},
	{"retry-count", &ConnectSettings::retryCount, SettingKind::number, 0, 7, "7",
	 "RDMA: retransmissions before the connection counts as lost"},
	{"tos", &ConnectSettings::tos, SettingKind::number, 0, 255, "0", "IP type of service"},
	{"hdr-digest", &ConnectSettings::hdrDigest, SettingKind::flag, 0, 1, "false",
	 "TCP: protect headers by a digest (CRC32C)"},
	{"data-digest", &ConnectSettings::dataDigest, SettingKind::flag, 0, 1, "false",
	 "TCP: protect data by a digest (CRC32C)"},
	{"sq-flow", &ConnectSettings::sqFlow, SettingKind::flag, 0, 1, "false",
	 "Use submission queue flow control, which is otherwise disabled"},
	{"dhchap-key", &ConnectSettings::dhchapKey, SettingKind::keySource, 0, 0, "no authentication",
	 "File with the key by which this host authenticates itself, or credential:NAME, or keyring:DESCRIPTION"},
	{"dhchap-ctrl-key", &ConnectSettings::dhchapCtrlKey, SettingKind::keySource, 0, 0,
	 "no authentication of the controller",
	 "Likewise, the key by which the controller has to authenticate itself; needs dhchap-key"},
	{"tls", &ConnectSettings::tls, SettingKind::tlsUse, 0, 2, "off, or required with tls-key",
	 "TCP: encrypt the connection by TLS 1.3, with the key that the keyring .nvme has for this host and subsystem"},
	{"tls-key", &ConnectSettings::tlsKey, SettingKind::keySource, 0, 0, "the key in .nvme",
	 "The same with this key: a file, or credential:NAME, or keyring:IDENTITY for a key in .nvme"},
	{"concat", &ConnectSettings::concat, SettingKind::flag, 0, 1, "false",
	 "TCP: encrypt the connection by TLS 1.3 with a key that the authentication generates; needs dhchap-key"},
};

template <typename T> void putMember(std::optional<T> &member, std::int64_t value)
{
	member = static_cast<T>(value);
}

void putMember(std::optional<std::string> &, std::int64_t) {} // putConnectSetting() has refused it

template <typename T> std::optional<std::int64_t> numberIn(const std::optional<T> &member)
{
	if (!member)
		return std::nullopt;
	if constexpr (std::is_same_v<T, milliseconds>)
		return member->count();
	else if constexpr (std::is_same_v<T, std::string>)
		return std::nullopt;
	else
		return static_cast<std::int64_t>(*member);
}

using TextMember = std::optional<std::string> ConnectSettings::*;

// Assigns @value if it is set.
template <typename T, typename S> void applyOne(const std::optional<T> &value, S &to)
{
	if (value)
		to = static_cast<T>(*value);
}

} // namespace

const char *toString(SecurityUse use)
{
	switch (use) {
	case SecurityUse::off:
		break;
	case SecurityUse::preferred:
		return "preferred";
	case SecurityUse::required:
		return "required";
	}
	return "off";
}

std::optional<TlsUse> parseTlsUse(const std::string &word)
{
	for (TlsUse use : {TlsUse::off, TlsUse::preferred, TlsUse::required})
		if (word == toString(use))
			return use;
	if (word == "true")
		return TlsUse::required;
	return word == "false" ? std::optional(TlsUse::off) : std::nullopt;
}

void ConnectSettings::complete(const ConnectSettings &other)
{
	const bool ownTls = tls || tlsKey, ownConcat = concat.value_or(false), saysConcat = concat.has_value();
	if (tlsKey && !tls)
		tls = TlsUse::required;
	for (const ConnectSetting &setting : all)
		std::visit(
			[&](auto member) {
				if (!(this->*member))
					this->*member = other.*member;
			},
			setting.member);
	if (!security)
		security = other.security;
	if (ownConcat && !ownTls) {
		tls.reset();
		tlsKey.reset();
	} else if (ownTls && !saysConcat) {
		concat.reset();
	}
}

void ConnectSettings::apply(ConnectOptions &options) const
{
	applyOne(ioQueues, options.ioQueues);
	applyOne(pollQueues, options.pollQueues);
	applyOne(queueSize, options.queueSize);
	applyOne(tags, options.tags);
	applyOne(keepAlive, options.keepAlive);
	applyOne(reconnectDelay, options.reconnectDelay);
	applyOne(ctrlLoss, options.ctrlLoss);
	applyOne(fastIoFail, options.fastIoFail);
	applyOne(connectTimeout, options.connectTimeout);
	applyOne(stallTimeout, options.stallTimeout);
	applyOne(firstConnect, options.firstConnect);
	applyOne(ackTimeout, options.ackTimeout);
	applyOne(retryCount, options.retryCount);
	if (tos)
		options.tos = static_cast<std::uint8_t>(*tos);
	applyOne(hdrDigest, options.hdrDigest);
	applyOne(dataDigest, options.dataDigest);
	applyOne(sqFlow, options.sqFlow);
	applyOne(dhchapKey, options.dhchapKey);
	applyOne(dhchapCtrlKey, options.dhchapCtrlKey);
	applyOne(tls, options.tls);
	applyOne(tlsKey, options.tlsKey);
	applyOne(concat, options.concat);
	applyOne(security, options.security);
}

std::span<const ConnectSetting> connectSettings()
{
	return all;
}

const ConnectSetting *findConnectSetting(std::string_view name)
{
	for (const ConnectSetting &setting : all)
		if (setting.name == name)
			return &setting;
	return nullptr;
}

Result<void> putConnectSetting(ConnectSettings &settings, const ConnectSetting &setting, std::int64_t value)
{
	if (setting.kind == SettingKind::keySource)
		return nofctl::invalidError(std::string(setting.name) + " is not a number");
	const bool never = setting.kind == SettingKind::timeOrNever && value == -1;
	const bool time = setting.kind == SettingKind::time || setting.kind == SettingKind::timeOrNever;
	if (!never && (value < setting.least || value > setting.most))
		return nofctl::invalidError(std::to_string(value) + (time ? " ms" : "") + " is out of range: " +
					    std::to_string(setting.least) + " to " + std::to_string(setting.most));
	std::visit([&](auto member) { putMember(settings.*member, value); }, setting.member);
	return {};
}

std::optional<std::int64_t> getConnectSetting(const ConnectSettings &settings, const ConnectSetting &setting)
{
	return std::visit([&](auto member) { return numberIn(settings.*member); }, setting.member);
}

Result<void> putConnectText(ConnectSettings &settings, const ConnectSetting &setting, const std::string &text)
{
	const TextMember *member = std::get_if<TextMember>(&setting.member);
	if (!member)
		return nofctl::invalidError(std::string(setting.name) + " is not a text");
	if (Result<nofctl::KeySource> source = nofctl::KeySource::parseAbsolute(text); !source)
		return source.error();
	settings.*(*member) = text;
	return {};
}

std::optional<std::string> getConnectText(const ConnectSettings &settings, const ConnectSetting &setting)
{
	const TextMember *member = std::get_if<TextMember>(&setting.member);
	return member ? settings.*(*member) : std::nullopt;
}

} // namespace nvmeof
