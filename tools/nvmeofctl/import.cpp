// SPDX-License-Identifier: LGPL-2.1-or-later
#include "import.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <filesystem>
#include <ostream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nvmeof/address.h>
#include <nvmeof/discovery.h>
#include <nvmeof/duration.h>
#include <nvmeof/policy_file.h>

#include "context.h"
#include "documents.h"
#include "json.h"
#include "libctl/base/file.h"
#include "parse.h"
#include "table.h"

using namespace nvmeof;

namespace importing {

namespace {

// Short options of nvme-cli, which discovery.conf may have.
struct Letter {
	char letter;
	const char *key;
};

constexpr Letter letters[] = {
	{'t', "transport"},
	{'a', "traddr"},
	{'s', "trsvcid"},
	{'w', "host-traddr"},
	{'f', "host-iface"},
	{'q', "hostnqn"},
	{'I', "hostid"},
	{'n', "nqn"},
	{'i', "nr-io-queues"},
	{'W', "nr-write-queues"},
	{'P', "nr-poll-queues"},
	{'Q', "queue-size"},
	{'k', "keep-alive-tmo"},
	{'c', "reconnect-delay"},
	{'l', "ctrl-loss-tmo"},
	{'F', "fast-io-fail-tmo"},
	{'T', "tos"},
	{'S', "dhchap-secret"},
	{'C', "dhchap-ctrl-secret"},
	{'D', "duplicate-connect"},
	{'g', "hdr-digest"},
	{'G', "data-digest"},
	{'p', "persistent"},
};

std::vector<std::string> wordsIn(std::string_view line)
{
	std::vector<std::string> words;
	for (std::string rest = trimmed(line); !rest.empty();) {
		const std::size_t end = std::min(rest.find_first_of(" \t"), rest.size());
		words.push_back(rest.substr(0, end));
		rest = trimmed(std::string_view(rest).substr(end));
	}
	return words;
}

struct Word {
	std::string key;
	std::optional<std::string> value;
};

// "--traddr=X", "--traddr", "-aX", "-a"; empty: not an option
std::optional<Word> optionOf(const std::string &word)
{
	if (word.starts_with("--")) {
		const std::size_t equals = word.find('=');
		Word found{keyOf(std::string_view(word).substr(2, equals == word.npos ? word.npos : equals - 2)), {}};
		if (equals != word.npos)
			found.value = word.substr(equals + 1);
		return found.key.empty() ? std::nullopt : std::optional(found);
	}
	if (word.size() < 2 || word.front() != '-')
		return std::nullopt;
	Word found{std::string("-") + word[1], {}};
	for (const Letter &one : letters)
		if (one.letter == word[1])
			found.key = one.key;
	if (word.size() > 2)
		found.value = word.substr(word[2] == '=' ? 3 : 2);
	return found;
}

void readLine(Import &into, const std::vector<std::string> &words, const ConfigPlace &place)
{
	Draft draft;
	for (std::size_t i = 0; i < words.size(); i++) {
		std::optional<Word> option = optionOf(words[i]);
		if (!option) {
			into.notCarried.push_back({place, "(a word)", "neither an option nor the value of one"});
			continue;
		}
		if (!option->value && i + 1 < words.size() && !words[i + 1].starts_with('-'))
			option->value = words[++i];
		std::string reason;
		if (!takeKey(draft, option->key, option->value.value_or("true"), reason))
			into.notCarried.push_back({place, option->key, reason});
	}
	addService(into, draft, place);
}

void readPolicyLines(Import &into, const std::vector<PolicyRule> &rules, const std::string &file)
{
	for (const PolicyRule &rule : rules)
		into.config.defaults.push_back({rule.pattern, {}, rule.settings, {file, rule.line}, true});
}

// TOML must be UTF-8.
bool isUtf8(std::string_view text)
{
	const std::string whole(text);
	return Json::parse(dump(Json(whole), -1), nullptr, false) == Json(whole);
}

// Drops what other host software accepts and nvmeof.toml rejects: a fast-io-fail-tmo longer than ctrl-loss-tmo, and
// targets whose address is not valid.
void dropRefused(Import &into, std::vector<ConfigTarget> Config::*list)
{
	std::erase_if(into.config.*list, [&](ConfigTarget &target) {
		ConnectSettings &settings = target.settings;
		if (settings.fastIoFail && settings.ctrlLoss && settings.ctrlLoss->count() >= 0 &&
		    *settings.fastIoFail > *settings.ctrlLoss) {
			settings.fastIoFail.reset();
			into.notCarried.push_back(
				{target.place, "fast-io-fail-tmo", "ctrl-loss-tmo is shorter and ends the connection"});
		}
		Config alone;
		(alone.*list).push_back(target);
		const ConfigReading reading = parseConfig(formatConfig(alone), target.place.file);
		for (const ConfigProblem &problem : reading.problems)
			into.notCarried.push_back({target.place, "traddr", problem.message});
		return !reading.problems.empty();
	});
}

char firstOf(std::string_view text)
{
	while (!text.empty()) {
		const std::string line = trimmed(text.substr(0, text.find('\n')));
		text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
		if (!line.empty() && line.front() != '#' && line.front() != ';')
			return line.front() == '[' && line.back() == ']' && line.size() > 2 && line[1] != '{'
				       ? 'i'
				       : line.front();
	}
	return 0;
}

} // namespace

// discovery.conf: one service per line, as options of "nvme discover".
void readLines(Import &into, std::string_view text, const std::string &file)
{
	ConfigPlace place{file, 0};
	while (!text.empty()) {
		const std::string_view line = text.substr(0, text.find('\n'));
		text.remove_prefix(std::min(line.size() + 1, text.size()));
		place.line++;
		std::vector<std::string> words = wordsIn(line);
		if (!words.empty() && !words.front().starts_with('#'))
			readLine(into, words, place);
	}
}

} // namespace importing

// ---- formats

static Result<void> importKind(Import &into, std::string_view text, const std::string &file)
{
	const std::string name = std::filesystem::path(file).filename().string();
	const char first = importing::firstOf(text);
	if (!importing::isUtf8(text))
		return usageError(file + ": not UTF-8");
	if (name == "policy.conf") {
		Result<std::vector<PolicyRule>> rules = parsePolicy(text, file);
		if (!rules)
			return rules.error();
		importing::readPolicyLines(into, *rules, file);
		return {};
	}
	if (!first)
		return {};
	if (first == 'i')
		return importing::readIni(into, text, file);
	if (first == '{' || first == '[')
		return importing::readJson(into, text, file);
	if (first != '-')
		return usageError(file + ": not in a format that 'nvmeofctl import' reads");
	importing::readLines(into, text, file);
	return {};
}

Result<void> importText(Import &into, std::string_view text, const std::string &file)
{
	Result<void> done = importKind(into, text, file);
	importing::dropRefused(into, &Config::services);
	importing::dropRefused(into, &Config::connections);
	for (NotCarried &one : into.notCarried)
		if (one.key.empty())
			one.key = "(no name)";
	return done;
}

std::vector<std::string> importPlaces()
{
	std::vector<std::string> places;
	std::error_code error;
	for (const char *file :
	     {"/etc/nvme/discovery.conf", "/etc/nvme/config.json", "/etc/nvme/nvme-fabrics.conf",
	      "/etc/nvme/nvme-stas.conf", "/etc/nvme/stafd.conf", "/etc/nvme/stacd.conf", "/etc/stas/sys.conf",
	      "/etc/stas/stafd.conf", "/etc/stas/stacd.conf", defaultPolicyFile}) {
		if (std::filesystem::is_regular_file(file, error))
			places.emplace_back(file);
		std::vector<std::string> parts;
		for (std::filesystem::directory_iterator at(std::string(file) + ".d", error), end; !error && at != end;
		     at.increment(error))
			if (at->path().extension() == ".conf")
				parts.push_back(at->path().string());
		std::ranges::sort(parts);
		places.insert(places.end(), parts.begin(), parts.end());
	}
	return places;
}

// ---- keys

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

constexpr const char *secret = "a secret: write it into a file with mode 0600, and set dhchap-key to its path";
constexpr const char *ctrlSecret = "a secret: write it into a file with mode 0600, and set dhchap-ctrl-key to its path";
constexpr const char *tlsKey = "write the key into a file with mode 0600, and set tls-key to its path";
constexpr const char *keyring = "TLS keys are in the keyring .nvme: 'nvmeofctl key insert FILE' adds one";
constexpr Foreign foreign[] = {
	{"dhchap-key", secret},
	{"dhchap-secret", secret},
	{"dhchap-ctrl-key", ctrlSecret},
	{"dhchap-ctrl-secret", ctrlSecret},
	{"key", tlsKey},
	{"tls-key", tlsKey},
	{"tls-key-identity", "set tls-key to keyring:IDENTITY"},
	{"keyring", keyring},
	{"nr-write-queues", "separate write queues are not supported"},
	{"ip-family", "the address determines IPv4 or IPv6"},
	{"ignore-iface", "host-iface is always used if given"},
	{"pleo", "logs are always read completely"},
	{"tron", "nvmeofd has no trace log"},
	{"symname", "nvmeofd registers this host under its host name"},
	{"hostsymname", "nvmeofd registers this host under its host name"},
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
	const std::optional<bool> truth = parseBool(value);
	if (setting.kind == SettingKind::flag)
		return truth ? std::optional<std::int64_t>(*truth) : std::nullopt;
	if (setting.kind == SettingKind::tlsUse)
		return truth ? std::optional(static_cast<std::int64_t>(*truth ? TlsUse::required : TlsUse::off))
			     : std::nullopt;
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
	if (setting->kind == SettingKind::keySource) { // in those files, it is the secret itself
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

// ---- config.json of nvme-cli 2: hosts, each with subsystems, each with ports

namespace {

class Hosts {
public:
	Hosts(Import &into, const std::string &file) : into_(into), place_{file, 0} {}

	void read(const Json &document);

private:
	void host(const Json &host);
	void subsystem(const Json &subsystem, const Draft &host);
	void port(const Json &port, Draft draft, bool service);
	void take(Draft &draft, const std::string &key, const Json &value);
	void drop(const std::string &key, std::string reason)
	{
		into_.notCarried.push_back({place_, key, std::move(reason)});
	}

	Import &into_;
	const ConfigPlace place_;
};

std::string textOf(const Json &value)
{
	return value.is_string() ? value.get<std::string>() : value.dump(-1, ' ', true, Json::error_handler_t::replace);
}

void Hosts::take(Draft &draft, const std::string &key, const Json &value)
{
	std::string reason;
	if (value.is_structured())
		drop(key, "nvmeof.toml has no such setting");
	else if (!takeKey(draft, keyOf(key), textOf(value), reason))
		drop(key, reason);
}

void Hosts::port(const Json &port, Draft draft, bool service)
{
	if (!port.is_object())
		return drop("ports", "invalid value");
	for (const auto &[key, value] : port.items()) {
		if (keyOf(key) == "discovery")
			service = service || (value.is_boolean() && value.get<bool>());
		else
			take(draft, key, value);
	}
	if (service)
		addService(into_, draft, place_);
	else
		addConnection(into_, draft, place_);
}

void Hosts::subsystem(const Json &subsystem, const Draft &host)
{
	if (!subsystem.is_object())
		return drop("subsystems", "invalid value");
	Draft draft = host;
	for (const auto &[key, value] : subsystem.items())
		if (key != "ports")
			take(draft, key, value);
	const bool service = draft.nqn == discoveryNqn;
	auto ports = subsystem.find("ports");
	if (ports != subsystem.end() && ports->is_array())
		for (const Json &one : *ports)
			port(one, draft, service);
}

void Hosts::host(const Json &host)
{
	if (!host.is_object())
		return drop("hosts", "invalid value");
	Draft draft;
	for (const auto &[key, value] : host.items())
		if (key != "subsystems")
			take(draft, key, value);
	auto subsystems = host.find("subsystems");
	if (subsystems != host.end() && subsystems->is_array())
		for (const Json &one : *subsystems)
			subsystem(one, draft);
}

void Hosts::read(const Json &document)
{
	const Json *hosts = &document;
	if (document.is_object() && document.contains("hosts"))
		hosts = &document["hosts"];
	if (hosts->is_array())
		for (const Json &one : *hosts)
			host(one);
	else
		host(*hosts);
}

} // namespace

Result<void> readJson(Import &into, std::string_view text, const std::string &file)
{
	const Json document = Json::parse(text, nullptr, false);
	if (document.is_discarded())
		return usageError(file + ": not JSON");
	Hosts(into, file).read(document);
	return {};
}

} // namespace importing

// ---- import: writes the configuration of other host software as nvmeof.toml

namespace {

Result<std::string> read(const std::string &file)
{
	constexpr std::size_t largest = 1 << 20;
	return nofctl::readWholeFile(file, largest);
}

std::string describe(const NotCarried &one)
{
	return nofctl::printable(fmt::format("{}: {}: {}", one.place.toString(), one.key, one.reason));
}

// Several files may name the same target: keeps the first of each.
void dropDoubles(Config &config)
{
	for (auto *targets : {&config.services, &config.connections}) {
		std::vector<ConfigTarget> kept;
		for (ConfigTarget &one : *targets) {
			auto same = [&](const ConfigTarget &other) {
				return other.transport == one.transport && other.addresses == one.addresses &&
				       other.port == one.port && other.nqn == one.nqn && other.hostnqn == one.hostnqn &&
				       other.hostTraddr == one.hostTraddr && other.hostIface == one.hostIface;
			};
			if (std::ranges::none_of(kept, same))
				kept.push_back(std::move(one));
		}
		*targets = std::move(kept);
	}
}

std::string written(const Import &into, const std::vector<std::string> &files)
{
	std::string text = fmt::format("# Written by 'nvmeofctl import' from {}\n",
				       nofctl::printable(fmt::format("{}", fmt::join(files, ", "))));
	for (const NotCarried &one : into.notCarried)
		text += "# Not carried over: " + describe(one) + "\n";
	return text + "\n" + formatConfig(into.config);
}

Result<void> put(const Args &args, const std::string &text)
{
	const std::string file = args.textOr("output", "");
	std::error_code ignored;
	if (std::filesystem::exists(std::filesystem::symlink_status(file, ignored)) && !args.has("force")) {
		Error error = errorFromErrno(EEXIST, file + " exists already");
		error.code = ErrorCode::failed;
		return error;
	}
	return nofctl::replaceFile(file, text, 0644, nofctl::Durable::yes);
}

const char *outputStep(const Error &error)
{
	if (error.sysErrno == EEXIST)
		return "--force overwrites it";
	return error.sysErrno == ENOENT ? "create the directory first" : "";
}

} // namespace

int runImport(Context &context)
{
	std::vector<std::string> files = context.args().all("FILE");
	if (files.empty())
		files = importPlaces();
	if (files.empty())
		return context.fail("", usageError("none of the default files exists; give the files to import"));
	Import into;
	for (const std::string &file : files) {
		Result<std::string> text = read(file);
		if (!text)
			return context.fail("", text.error(), "give files that exist and can be read");
		if (Result<void> done = importText(into, *text, file); !done)
			return context.fail("", done.error());
	}
	dropDoubles(into.config);
	const std::string text = written(into, files);
	if (context.args().has("output"))
		if (Result<void> done = put(context.args(), text); !done)
			return context.fail("", done.error(), outputStep(done.error()));
	for (const NotCarried &one : into.notCarried)
		context.note("not carried over", describe(one));
	if (context.json())
		context.print(importDocument(files, into.notCarried, text));
	else if (!context.args().has("output"))
		context.out() << text;
	return 0;
}
