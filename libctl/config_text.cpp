// SPDX-License-Identifier: LGPL-2.1-or-later
// Formats a configuration as TOML.
#include <nvmeof/config.h>

#include <cmath>
#include <cstdio>

namespace nvmeof {

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
		std::optional<std::int64_t> value = getConnectSetting(settings, setting);
		if (!value)
			continue;
		if (setting.kind == SettingKind::flag)
			flag(setting.name, *value);
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
	for (const Exclusion &one : config.exclusions)
		writeExclusion(writer, one);
	for (const ConfigStripe &one : config.stripes)
		writeStripe(writer, one);
	return writer.take();
}

} // namespace nvmeof
