// SPDX-License-Identifier: LGPL-2.1-or-later
#include "import_key.h"

#include <algorithm>
#include <cctype>
#include <charconv>

#include <nvmeof/address.h>
#include <nvmeof/discovery.h>
#include <nvmeof/duration.h>

#include "table.h"

using namespace nvmeof;

namespace importing {

namespace {

constexpr const char *blanks = " \t\r\v\f";

// Another name of a setting.
struct Alias {
	std::string_view theirs;
	const char *ours;
};

constexpr Alias aliases[] = {{"kato", "keep-alive-tmo"}};

struct Foreign {
	std::string_view key;
	const char *reason;
};

constexpr const char *secret = "a secret or key: this version supports neither authentication nor TLS";
constexpr Foreign foreign[] = {
	{"dhchap-key", secret},
	{"dhchap-secret", secret},
	{"dhchap-ctrl-key", secret},
	{"dhchap-ctrl-secret", secret},
	{"key", secret},
	{"tls", secret},
	{"tls-key", secret},
	{"tls-key-identity", secret},
	{"keyring", secret},
	{"concat", secret},
	{"nr-write-queues", "separate write queues are not supported"},
	{"ip-family", "the address determines IPv4 or IPv6"},
	{"ignore-iface", "host-iface is always used if given"},
	{"pleo", "logs are always read completely"},
	{"tron", "not supported"},
	{"symname", "this host does not register itself"},
	{"hostsymname", "this host does not register itself"},
};

bool isPlain(const std::string &value)
{
	return !value.empty() && nofctl::printable(value) == value && value.find_first_of(" \t") == value.npos;
}

std::optional<std::int64_t> numberOf(const std::string &value)
{
	std::int64_t number = 0;
	auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
	return error == std::errc() && end == value.data() + value.size() ? std::optional(number) : std::nullopt;
}

std::optional<std::int64_t> valueOf(const ConnectSetting &setting, const std::string &value)
{
	if (setting.kind == SettingKind::flag) {
		std::optional<bool> truth = parseBool(value);
		return truth ? std::optional<std::int64_t>(*truth) : std::nullopt;
	}
	if (setting.kind == SettingKind::number || setting.kind == SettingKind::milliseconds)
		return numberOf(value);
	const bool never = setting.kind == SettingKind::timeOrNever;
	if (never && (value == "off" || value == "infinity"))
		return -1;
	Result<std::chrono::milliseconds> time = parseSeconds(value, never ? Never::allowed : Never::refused);
	return time ? std::optional<std::int64_t>(time->count()) : std::nullopt;
}

const char *reasonOf(std::string_view key)
{
	for (const Foreign &one : foreign)
		if (one.key == key)
			return one.reason;
	return "nvmeof.toml has no such setting";
}

bool takeName(Draft &draft, const std::string &key, const std::string &value, bool &known)
{
	ConfigTarget &target = draft.target;
	known = true;
	if (key == "transport")
		return (draft.transport = value).has_value();
	if (key == "traddr")
		return isPlain(value) && value.find_first_of("/=;,") == value.npos &&
		       (draft.traddr = value).has_value();
	if (key == "trsvcid") {
		std::optional<std::int64_t> port = numberOf(value);
		if (!port || *port < 1 || *port > 65535)
			return value == "none"; // of transports that have no ports
		draft.port = std::to_string(*port);
		return true;
	}
	if (key == "nqn" || key == "subsysnqn")
		return checkNqn(value) && (draft.nqn = value).has_value();
	if (key == "hostnqn")
		return checkNqn(value) && (target.hostnqn = value).has_value();
	if (key == "hostid")
		return (target.hostid = Uuid::parse(value)) && !target.hostid->isNil();
	if (key == "host-traddr")
		return parseTraddr(value) && !(target.hostTraddr = value).empty();
	if (key == "host-iface")
		return isPlain(value) && !(target.hostIface = value).empty();
	known = false;
	return false;
}

bool complete(Import &into, const Draft &draft, const ConfigPlace &place, ConfigTarget &target)
{
	const std::string transport = draft.transport.value_or("tcp");
	if (transport != "tcp" && transport != "rdma") {
		into.notCarried.push_back({place, "transport", "only tcp and rdma are supported"});
		return false;
	}
	if (!draft.traddr) {
		into.notCarried.push_back({place, "traddr", "missing, or not an address"});
		return false;
	}
	target = draft.target;
	target.transport = transport;
	target.addresses = {*draft.traddr};
	target.place = place;
	if (target.hostid && target.hostid->isNil())
		target.hostid.reset();
	return true;
}

} // namespace

std::string trimmed(std::string_view text)
{
	const std::size_t first = text.find_first_not_of(blanks);
	if (first == text.npos)
		return {};
	return std::string(text.substr(first, text.find_last_not_of(blanks) - first + 1));
}

std::string keyOf(std::string_view text)
{
	std::string key = trimmed(text);
	std::ranges::transform(key, key.begin(),
			       [](unsigned char c) { return c == '_' ? '-' : static_cast<char>(std::tolower(c)); });
	return key;
}

std::optional<bool> parseBool(const std::string &value)
{
	const std::string word = keyOf(value);
	for (const char *yes : {"true", "yes", "on", "1", "enabled"})
		if (word == yes)
			return true;
	for (const char *no : {"false", "no", "off", "0", "disabled"})
		if (word == no)
			return false;
	return std::nullopt;
}

bool takeSetting(ConnectSettings &settings, const std::string &key, const std::string &value, std::string &reason)
{
	if (key == "disable-sqflow") { // the default here
		std::optional<bool> off = parseBool(value);
		if (off && !*off)
			settings.sqFlow = true;
		reason = "invalid value";
		return off.has_value();
	}
	std::string name = key;
	for (const Alias &alias : aliases)
		if (alias.theirs == key)
			name = alias.ours;
	const ConnectSetting *setting = findConnectSetting(name);
	if (!setting) {
		reason = reasonOf(key);
		return false;
	}
	std::optional<std::int64_t> number = valueOf(*setting, value);
	if (number && putConnectSetting(settings, *setting, *number))
		return true;
	reason = "invalid value";
	return false;
}

bool takeKey(Draft &draft, const std::string &key, const std::string &value, std::string &reason)
{
	bool known = false;
	if (takeName(draft, key, value, known))
		return true;
	if (known) {
		reason = "invalid value";
		return false;
	}
	if (key == "persistent" || key == "duplicate-connect") {
		std::optional<bool> truth = parseBool(value);
		if (truth && key == "persistent")
			draft.target.persistent = *truth;
		else if (truth)
			draft.target.duplicateConnect = *truth;
		reason = "invalid value";
		return truth.has_value();
	}
	return takeSetting(draft.target.settings, key, value, reason);
}

void addService(Import &into, const Draft &draft, const ConfigPlace &place)
{
	ConfigTarget service;
	if (!complete(into, draft, place, service))
		return;
	service.nqn = draft.nqn.value_or(discoveryNqn);
	service.port = draft.port.value_or(discoveryPort);
	service.duplicateConnect = false;
	into.config.services.push_back(std::move(service));
}

void addConnection(Import &into, const Draft &draft, const ConfigPlace &place)
{
	ConfigTarget connection;
	if (!draft.nqn) {
		into.notCarried.push_back({place, "nqn", "the connection has no NQN of a subsystem"});
		return;
	}
	if (!complete(into, draft, place, connection))
		return;
	connection.nqn = *draft.nqn;
	connection.port = draft.port.value_or(defaultPort);
	connection.persistent.reset();
	into.config.connections.push_back(std::move(connection));
}

} // namespace importing
