// SPDX-License-Identifier: LGPL-2.1-or-later
// Evaluates, reads and formats a configuration; config_parse.cpp parses the text of a file.
#include <nvmeof/config.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <fnmatch.h>

#include "config_parse.h"
#include "libctl/base/file.h"
#include "libctl/base/security.h"
#include "libctl/base/toml.h"

namespace nvmeof {

namespace {

bool fits(const std::string &pattern, const std::string &nqn)
{
	return ::fnmatch(pattern.c_str(), nqn.c_str(), 0) == 0;
}

ConnectOptions optionsOf(const Config &config, const ConfigTarget &target, const Address &address)
{
	ConnectOptions options;
	options.transport = target.transport;
	options.address = address;
	options.subsysnqn = target.nqn;
	options.hostnqn = target.hostnqn ? target.hostnqn : config.hostnqn;
	// A host ID belongs to its host NQN: another NQN does not get the configured ID of this host.
	options.hostid = target.hostid || target.hostnqn ? target.hostid : config.hostid;
	options.hostTraddr = target.hostTraddr;
	options.hostIface = target.hostIface;
	options.duplicateConnect = target.duplicateConnect;
	return options;
}

} // namespace

ConnectSettings Config::connectSettingsFor(const std::string &nqn) const
{
	ConnectSettings settings;
	for (const ConfigDefaults &entry : defaults) {
		if (!fits(entry.pattern, nqn))
			continue;
		settings.complete(entry.connect);
		if (entry.last)
			break;
	}
	settings.security = securityFor(nqn);
	return settings;
}

std::optional<SecurityRule> Config::securityFor(const std::string &nqn) const
{
	for (const ConfigSecurity &entry : securities)
		if (fits(entry.pattern, nqn))
			return entry.rule;
	return std::nullopt;
}

std::optional<ConfigDefaults> Config::subsystemSettingsFor(const std::string &nqn) const
{
	std::optional<ConfigDefaults> found;
	for (const ConfigDefaults &entry : defaults) {
		if (!fits(entry.pattern, nqn))
			continue;
		if (!found)
			found = entry;
		found->subsystem.complete(entry.subsystem);
		if (entry.last)
			break;
	}
	return found;
}

bool Config::mdnsOn(const std::string &interface) const
{
	auto named = mdnsInterfaces.find(interface);
	return named == mdnsInterfaces.end() ? mdns : named->second;
}

ConnectOptions serviceOptions(const Config &config, const ConfigTarget &service, const Address &address)
{
	ConnectOptions options = optionsOf(config, service, address);
	ConnectSettings settings = service.settings;
	settings.security = config.securityFor(service.nqn);
	settings.apply(options);
	return options;
}

ConnectOptions connectionOptions(const Config &config, const ConfigTarget &connection, const Address &address)
{
	ConnectOptions options = optionsOf(config, connection, address);
	ConnectSettings settings = connection.settings;
	settings.complete(config.connectSettingsFor(connection.nqn));
	settings.apply(options);
	return options;
}

PlanRules planRules(const Config &config)
{
	PlanRules rules;
	rules.limits = config.limits;
	rules.exclusions = config.exclusions;
	rules.hostnqn = config.hostnqn.value_or("");
	rules.connectSelf = config.connectSelf;
	rules.settings = [&config](const std::string &nqn) { return config.connectSettingsFor(nqn); };
	return rules;
}

DifferenceRules differenceRules(const Config &config)
{
	DifferenceRules rules;
	rules.removal = config.removal;
	rules.removeOpen = config.removeOpen;
	rules.connections = config.mostConnections;
	rules.hostnqn = config.hostnqn.value_or("");
	for (const ConfigTarget &service : config.services)
		rules.discoveryNqns.push_back(service.nqn);
	return rules;
}

Result<Config> ConfigReading::outcome() const
{
	if (problems.empty())
		return config;
	return nofctl::errorOf(problems);
}

Result<ConnectSettings> ConfigReading::connectSettingsFor(const std::string &nqn) const
{
	if (problems.empty())
		return config.connectSettingsFor(nqn);
	if (securityUnknown) {
		Error error = nofctl::errorOf(problems);
		error.message += "; [[security]] rules are not known before that is corrected, so nothing is connected";
		return error;
	}
	ConnectSettings settings;
	settings.security = config.securityFor(nqn);
	return settings;
}

// ---- files

namespace {

constexpr std::size_t maxConfigSize = 1 << 20;

// The *.toml files in @folder, sorted by name.
std::vector<std::filesystem::path> partsIn(const std::filesystem::path &folder)
{
	std::vector<std::filesystem::path> parts;
	std::error_code error;
	for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
		if (at->path().extension() == ".toml" && !at->path().filename().string().starts_with('.'))
			parts.push_back(at->path());
	std::ranges::sort(parts);
	return parts;
}

// If the message begins with "FILE:LINE: ", its place moves to ConfigProblem::place.
ConfigProblem problemOf(const std::filesystem::path &file, const Error &error)
{
	ConfigProblem problem{{file.string(), 0}, error.message, error.code};
	std::string_view words = error.message;
	if (!words.starts_with(file.string() + ":"))
		return problem;
	words.remove_prefix(file.string().size() + 1);
	auto [end, wrong] = std::from_chars(words.data(), words.data() + words.size(), problem.place.line);
	words.remove_prefix(static_cast<std::size_t>(end - words.data()));
	problem.message = words.substr(std::min(words.find_first_not_of(": "), words.size()));
	return problem;
}

// Whether @text may have a rule, however it is written, outside of comments
bool namesSecurity(std::string_view text)
{
	while (!text.empty()) {
		const std::string_view line = text.substr(0, text.find('\n'));
		if (line.substr(0, line.find('#')).find("security") != line.npos)
			return true;
		text.remove_prefix(std::min(line.size() + 1, text.size()));
	}
	return false;
}

void readPart(ConfigReading &reading, const std::filesystem::path &file)
{
	Result<std::string> text = nofctl::readSmallFile(file, maxConfigSize + 1);
	if (!text && text.error().code == ErrorCode::noSuchObject)
		return;
	reading.config.files.push_back(file.string());
	const std::size_t before = reading.problems.size();
	if (!text)
		reading.problems.push_back(problemOf(file, text.error()));
	else if (text->size() > maxConfigSize)
		reading.problems.push_back({{file.string(), 0}, "larger than 1 MiB"});
	else
		nofctl::parseConfig(reading, *text, file.string());
	if (reading.problems.size() > before)
		reading.securityUnknown |= !text || namesSecurity(*text);
}

// Rules of policy.conf follow all [[defaults]] and have "last" set: the first match is the only one that applies.
void readPolicyFile(ConfigReading &reading, const std::filesystem::path &file)
{
	Result<std::vector<PolicyRule>> rules = readPolicy(file);
	if (!rules && rules.error().code == ErrorCode::noSuchObject)
		return;
	reading.config.files.push_back(file.string());
	if (!rules) {
		reading.problems.push_back(problemOf(file, rules.error()));
		return;
	}
	for (const PolicyRule &rule : *rules)
		reading.config.defaults.push_back({rule.pattern, {}, rule.settings, {file.string(), rule.line}, true});
	reading.config.notes.push_back(
		file.string() +
		" is read, too: its rules follow all [[defaults]], and only the first that matches applies; "
		"[[defaults]] can replace them");
}

// Every connect to it would be refused.
void noteSecurity(Config &config, const ConfigTarget &target, const char *table, const ConnectOptions &options)
{
	ConnectOptions checked = options;
	if (Result<void> good = nofctl::applySecurity(checked); !good)
		config.notes.push_back(target.place.toString() + ": " + table + ": " + good.error().message);
}

// A connect with the settings that apply to all subsystems of a pattern would be refused, unless a [[connection]] adds
// to them. The pattern is looked up as if it were an NQN: the same pattern and wider ones match it.
void noteDefaults(Config &config, const ConfigDefaults &entry)
{
	if (!entry.connect.concat.value_or(false) || !fits(entry.pattern, entry.pattern))
		return;
	ConnectOptions options;
	options.subsysnqn = entry.pattern;
	ConnectSettings settings = entry.connect;
	settings.complete(config.connectSettingsFor(entry.pattern));
	settings.apply(options);
	std::vector<std::string> all = nofctl::keyContradictions(options);
	if (std::string why = nofctl::missingConcatKey(options); !why.empty())
		all.push_back(std::move(why));
	for (const std::string &why : all)
		config.notes.push_back(entry.place.toString() + ": " + why);
}

// A connect would refuse them for ever.
void checkKeys(ConfigReading &reading)
{
	auto check = [&](const ConfigTarget &target, const ConnectOptions &options) {
		for (std::string &why : nofctl::keyContradictions(options))
			reading.problems.push_back({target.place, std::move(why)});
		// only a note: an initramfs has the keys of the boot's subsystems, and must not refuse the file
		if (const std::string why = nofctl::missingConcatKey(options); !why.empty())
			reading.config.notes.push_back(target.place.toString() + ": " + why);
	};
	Config &config = reading.config;
	for (const ConfigTarget &one : config.services) {
		const ConnectOptions options = serviceOptions(config, one, {});
		check(one, options);
		// only a note: earlier versions have accepted it
		if (const std::string why = nofctl::tlsContradiction(options); !why.empty())
			config.notes.push_back(one.place.toString() + ": " + why);
	}
	for (const ConfigTarget &one : config.connections) {
		const ConnectOptions options = connectionOptions(config, one, {});
		check(one, options);
		if (std::string why = nofctl::tlsContradiction(options); !why.empty())
			reading.problems.push_back({one.place, std::move(why)});
	}
	nofctl::tidyProblems(reading.problems);
	for (const ConfigDefaults &one : config.defaults)
		noteDefaults(config, one);
	for (const ConfigTarget &one : config.services)
		noteSecurity(config, one, "[[discovery]]", serviceOptions(config, one, {}));
	for (const ConfigTarget &one : config.connections)
		noteSecurity(config, one, "[[connection]]", connectionOptions(config, one, {}));
}

} // namespace

ConfigReading parseConfig(std::string_view text, const std::string &file)
{
	ConfigReading reading;
	reading.config.files.push_back(file);
	nofctl::parseConfig(reading, text, file);
	checkKeys(reading);
	return reading;
}

ConfigReading inspectConfig(const ConfigFiles &files)
{
	ConfigReading reading;
	if (!files.main.empty()) {
		readPart(reading, files.main);
		std::filesystem::path folder = files.main;
		for (const std::filesystem::path &part : partsIn(folder.replace_extension(".d")))
			readPart(reading, part);
	}
	if (!files.policy.empty())
		readPolicyFile(reading, files.policy);
	checkKeys(reading);
	return reading;
}

Result<Config> readConfig(const ConfigFiles &files)
{
	return inspectConfig(files).outcome();
}

// ---- formatting

namespace {

// TOML 1.0, "Basic strings"
std::string quoted(const std::string &text)
{
	std::string written = "\"";
	for (unsigned char c : text) {
		char escape[8];
		if (c == '"' || c == '\\') {
			written += {'\\', static_cast<char>(c)};
		} else if (c < ' ' || c == 0x7f) {
			std::snprintf(escape, sizeof(escape), "\\u%04x", c);
			written += escape;
		} else {
			written += static_cast<char>(c);
		}
	}
	return written + "\"";
}

std::string listed(const std::vector<std::string> &texts)
{
	std::string list;
	for (const std::string &text : texts)
		list += (list.empty() ? "" : ", ") + quoted(text);
	return "[" + list + "]";
}

std::string seconds(std::int64_t milliseconds)
{
	if (milliseconds < 0)
		return "-1";
	return milliseconds % 1000 ? quoted(std::to_string(milliseconds) + "ms") : std::to_string(milliseconds / 1000);
}

class Writer {
public:
	// The header is written before the first line of the table, so an empty table is omitted.
	void table(std::string header) { header_ = std::move(header); }
	// A [[...]] header is written even if the entry is empty.
	void entry(const std::string &name) { text_ += (text_.empty() ? "[[" : "\n[[") + name + "]]\n"; }
	void line(const std::string &key, const std::string &value)
	{
		if (!header_.empty())
			text_ += (text_.empty() ? "[" : "\n[") + std::exchange(header_, "") + "]\n";
		text_ += key + " = " + value + "\n";
	}
	void text(const std::string &key, const std::string &value)
	{
		if (!value.empty())
			line(key, quoted(value));
	}
	void flag(const std::string &key, bool value) { line(key, value ? "true" : "false"); }
	template <typename T> void unless(const std::string &key, T value, T usual)
	{
		if (value == usual)
			return;
		if constexpr (std::is_same_v<T, bool>)
			flag(key, value);
		else
			line(key, std::to_string(value));
	}
	void settings(const ConnectSettings &settings);
	void settings(const SubsystemSettings &settings);
	void target(const ConfigTarget &target, const ConfigTarget &usual);
	std::string take() { return std::move(text_); }

private:
	std::string text_, header_;
};

void Writer::settings(const ConnectSettings &settings)
{
	for (const ConnectSetting &setting : connectSettings()) {
		if (std::optional<std::string> value = getConnectText(settings, setting))
			text(setting.name, *value);
		std::optional<std::int64_t> value = getConnectSetting(settings, setting);
		if (!value)
			continue;
		if (setting.kind == SettingKind::flag)
			flag(setting.name, *value);
		else if (setting.kind == SettingKind::tlsUse)
			text(setting.name, toString(static_cast<TlsUse>(*value)));
		else if (setting.kind == SettingKind::time || setting.kind == SettingKind::timeOrNever)
			line(setting.name, seconds(*value));
		else
			line(setting.name, std::to_string(*value));
	}
}

void Writer::settings(const SubsystemSettings &settings)
{
	for (const std::string &word : wordsOf(settings)) {
		const std::size_t equals = word.find('=');
		const std::string name = word.substr(0, equals), value = word.substr(equals + 1);
		const bool number =
			name.starts_with("spill-") || name == "delayed-removal-secs" || name == "quiesce-tmo";
		line(name, number ? value : name == "degrade" ? (value == "on" ? "true" : "false") : quoted(value));
	}
}

void Writer::target(const ConfigTarget &target, const ConfigTarget &usual)
{
	if (target.nqn != usual.nqn)
		text("nqn", target.nqn);
	if (target.transport != usual.transport)
		text("transport", target.transport);
	line("address", target.addresses.size() == 1 ? quoted(target.addresses.front()) : listed(target.addresses));
	if (target.port != usual.port)
		line("port", target.port);
	text("hostnqn", target.hostnqn.value_or(""));
	if (target.hostid)
		text("hostid", target.hostid->toString());
	text("host-traddr", target.hostTraddr);
	text("host-iface", target.hostIface);
	text("rail", target.rail);
	unless("duplicate-connect", target.duplicateConnect, false);
	if (target.persistent)
		flag("persistent", *target.persistent);
	settings(target.settings);
}

void writeTables(Writer &writer, const Config &config)
{
	const Config usual;
	writer.table("host");
	writer.text("nqn", config.hostnqn.value_or(""));
	if (config.hostid)
		writer.text("id", config.hostid->toString());
	writer.table("limits");
	writer.unless("referral-depth", config.limits.depth, usual.limits.depth);
	writer.unless("referrals", config.limits.referrals, usual.limits.referrals);
	writer.unless("connections-per-service", config.limits.connections, usual.limits.connections);
	writer.unless("paths-per-subsystem", config.limits.paths, usual.limits.paths);
	writer.unless("connections", config.mostConnections, usual.mostConnections);
	writer.unless("own-addresses", config.connectSelf, usual.connectSelf);
	writer.table("removal");
	if (config.removal != usual.removal)
		writer.text("policy", toString(config.removal));
	writer.unless("open-disks", config.removeOpen, usual.removeOpen);
	writer.table("mdns");
	writer.unless("enabled", config.mdns, usual.mdns);
	writer.table("mdns.interfaces");
	for (const auto &[name, on] : config.mdnsInterfaces)
		writer.flag(quoted(name), on);
	writer.table("");
}

void writeExclusion(Writer &writer, const Exclusion &one)
{
	writer.entry("exclude");
	writer.text("nqn", one.nqn);
	writer.text("transport", one.transport);
	writer.text("address", one.traddr);
	if (!one.trsvcid.empty())
		writer.line("port", one.trsvcid);
	writer.text("host-traddr", one.hostTraddr);
	writer.text("host-iface", one.hostIface);
}

void writeSecurity(Writer &writer, const ConfigSecurity &one)
{
	writer.entry("security");
	writer.text("nqn", one.pattern);
	if (one.rule.auth)
		writer.text("auth", toString(*one.rule.auth));
	if (one.rule.tls)
		writer.text("tls", toString(*one.rule.tls));
}

void writeStripe(Writer &writer, const ConfigStripe &one)
{
	writer.entry("stripe");
	writer.text("name", one.name);
	writer.unless("chunk-kib", one.chunk / 1024, ConfigStripe().chunk / 1024);
	writer.line("members", listed(one.members));
}

} // namespace

std::string formatConfig(const Config &config)
{
	Writer writer;
	writeTables(writer, config);
	ConfigTarget service, connection;
	service.nqn = discoveryNqn;
	service.port = discoveryPort;
	connection.port = defaultPort;
	for (const ConfigTarget &one : config.services) {
		writer.entry("discovery");
		writer.target(one, service);
	}
	for (const ConfigTarget &one : config.connections) {
		writer.entry("connection");
		writer.target(one, connection);
	}
	for (const ConfigDefaults &one : config.defaults) {
		writer.entry("defaults");
		writer.text("nqn", one.pattern);
		writer.unless("last", one.last, false);
		writer.settings(one.connect);
		writer.settings(one.subsystem);
	}
	for (const ConfigSecurity &one : config.securities)
		writeSecurity(writer, one);
	for (const Exclusion &one : config.exclusions)
		writeExclusion(writer, one);
	for (const ConfigStripe &one : config.stripes)
		writeStripe(writer, one);
	return writer.take();
}

} // namespace nvmeof
