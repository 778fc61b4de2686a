// SPDX-License-Identifier: LGPL-2.1-or-later
// config.json of nvme-cli 2: hosts, each with subsystems, each with ports.
#include <nvmeof/discovery.h>

#include "args.h"
#include "import_key.h"
#include "json.h"

using namespace nvmeof;

namespace importing {

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
