// SPDX-License-Identifier: LGPL-2.1-or-later
#include "configuration.h"

#include <filesystem>
#include <ostream>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "context.h"
#include "documents.h"
#include "libctl/keys/source.h"
#include "table.h"

using namespace nvmeof;

namespace {

Error noSuchFile(const std::string &file)
{
	Error error;
	error.code = ErrorCode::noSuchObject;
	error.message = "there is no " + file;
	error.object = {ErrorObject::Kind::file, file};
	return error;
}

bool missing(const ConfigFiles &files, const Config &config)
{
	return files.policy.empty() && config.files.empty();
}

Json problemsJson(const ConfigReading &reading)
{
	Json problems = Json::array();
	for (const ConfigProblem &one : reading.problems) {
		Json entry{{"file", one.place.file}, {"message", one.message}};
		if (one.place.line)
			entry["line"] = one.place.line;
		problems.push_back(entry);
	}
	return problems;
}

bool hasInterface(const std::string &name)
{
	std::error_code error;
	return std::filesystem::exists("/sys/class/net/" + name, error);
}

// Files of keys that a connect would refuse, each where it is named first. Credentials and the keyring are those of
// another program.
std::vector<std::string> keyNotes(const Config &config)
{
	std::vector<std::string> notes;
	std::set<std::string> checked;
	auto check = [&](const ConfigPlace &place, const char *name, const std::optional<std::string> &text,
			 auto read) {
		if (!checked.insert(text.value_or("")).second)
			return;
		Result<nofctl::KeySource> source = nofctl::KeySource::parse(text.value_or(""));
		if (!source || source->kind() != nofctl::KeySource::Kind::file)
			return;
		const auto secret = read(*source);
		if (!secret && secret.error().code == ErrorCode::invalid) // a user other than root may not read it
			notes.push_back(fmt::format("{}: {}: {}", place.toString(), name, secret.error().message));
	};
	auto checkAll = [&](const ConfigPlace &place, const ConnectSettings &settings) {
		check(place, "dhchap-key", settings.dhchapKey, nofctl::readDhchapSecret);
		check(place, "dhchap-ctrl-key", settings.dhchapCtrlKey, nofctl::readDhchapSecret);
		check(place, "tls-key", settings.tlsKey, nofctl::readTlsPsk);
	};
	for (const auto *targets : {&config.services, &config.connections})
		for (const ConfigTarget &one : *targets)
			checkAll(one.place, one.settings);
	for (const ConfigDefaults &one : config.defaults)
		checkAll(one.place, one.connect);
	return notes;
}

// Interfaces that do not exist now. No error: the configuration may be for another machine, or a device may come later.
std::vector<std::string> absences(const Config &config)
{
	std::vector<std::string> absent;
	auto interface = [&](const std::string &place, const std::string &name) {
		if (!name.empty() && !hasInterface(name))
			absent.push_back(fmt::format("{}: network interface {} does not exist on this machine now",
						     place, name));
	};
	for (const auto *targets : {&config.services, &config.connections})
		for (const ConfigTarget &one : *targets)
			interface(one.place.toString(), one.hostIface);
	for (const Exclusion &one : config.exclusions)
		interface(one.place, one.hostIface);
	for (const auto &[name, on] : config.mdnsInterfaces)
		interface("[mdns.interfaces]", name);
	return absent;
}

int check(Context &context, ConfigReading reading)
{
	for (std::string &note : absences(reading.config))
		reading.config.notes.push_back(std::move(note));
	for (std::string &note : keyNotes(reading.config))
		reading.config.notes.push_back(std::move(note));
	for (const ConfigProblem &one : reading.problems) {
		Error error;
		error.code = one.code;
		error.message = one.message;
		context.complain(one.place.toString(), error, "correct the file");
	}
	for (const std::string &note : reading.config.notes)
		context.note("", note);
	if (context.json())
		context.print(configDocument(reading.config.files, problemsJson(reading), reading.config.notes));
	else if (reading.problems.empty())
		context.out() << (reading.config.files.empty()
					  ? std::string("no configuration file exists; defaults apply\n")
					  : fmt::format("{}: good\n", fmt::join(reading.config.files, ", ")));
	return reading.problems.empty() ? 0 : static_cast<int>(exitCodeOf(reading.problems.front().code));
}

int show(Context &context, ConfigReading reading)
{
	if (Result<Config> config = reading.outcome(); !config)
		return context.fail("", config.error(), configStep(config.error()));
	const std::string text = formatConfig(reading.config);
	if (context.json()) {
		Json document = configDocument(reading.config.files, Json::array(), reading.config.notes);
		document["text"] = text;
		context.print(document);
		return 0;
	}
	for (const std::string &file : reading.config.files)
		context.out() << "# " << nofctl::printable(file) << "\n";
	context.out() << text;
	return 0;
}

// Of all connections to a subsystem, also those that a command line or a discovery log may name
std::vector<ConnectSettings> settingsFor(const Config &config, const std::string &nqn)
{
	std::vector<ConnectSettings> all{config.connectSettingsFor(nqn)};
	for (const ConfigTarget &one : config.connections) {
		if (one.nqn != nqn)
			continue;
		all.push_back(one.settings);
		all.back().complete(config.connectSettingsFor(nqn));
	}
	return all;
}

int keys(Context &context, ConfigReading reading)
{
	if (Result<Config> config = reading.outcome(); !config)
		return context.fail("", config.error(), configStep(config.error()));
	std::set<std::pair<std::string, std::string>> found;
	for (const std::string &nqn : context.args().all("nqn"))
		for (const ConnectSettings &settings : settingsFor(reading.config, nqn))
			for (const ConnectSetting &setting : connectSettings())
				if (std::optional<std::string> source = getConnectText(settings, setting))
					found.emplace(setting.name, *source);
	Json list = Json::array();
	for (const auto &[setting, source] : found) {
		list.push_back({{"setting", setting}, {"source", source}});
		if (!context.json())
			context.out() << setting << " " << nofctl::printable(source) << "\n";
	}
	if (context.json()) {
		Json document = configDocument(reading.config.files, Json::array(), reading.config.notes);
		document["keys"] = list;
		context.print(document);
	}
	return 0;
}

int withConfig(Context &context, int (*run)(Context &, ConfigReading))
{
	const ConfigFiles files = configFiles(context.args());
	ConfigReading reading = inspectConfig(files);
	if (missing(files, reading.config))
		return context.fail("", noSuchFile(files.main.string()), configStep(noSuchFile(files.main.string())));
	return run(context, std::move(reading));
}

} // namespace

ConfigFiles configFiles(const Args &args)
{
	return args.has("config") ? ConfigFiles{args.textOr("config", ""), {}} : ConfigFiles{};
}

Result<Config> configuration(const Args &args)
{
	const ConfigFiles files = configFiles(args);
	Result<Config> config = readConfig(files);
	return config && missing(files, *config) ? Result<Config>(noSuchFile(files.main.string())) : config;
}

std::string configStep(const Error &error)
{
	if (error.code == ErrorCode::noSuchObject)
		return "create the file, or give another one with --config";
	return error.code == ErrorCode::invalid ? "correct the file; 'nvmeofctl config check' lists all errors" : "";
}

int runConfigCheck(Context &context)
{
	return withConfig(context, check);
}

int runConfigShow(Context &context)
{
	return withConfig(context, show);
}

int runConfigKeys(Context &context)
{
	return withConfig(context, keys);
}
