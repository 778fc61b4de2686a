// SPDX-License-Identifier: LGPL-2.1-or-later
#include "control_request.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <span>

#include <fmt/format.h>
#include <nvmeof/address.h>

#include "feeds.h"
#include "libctl/base/invalid_error.h"

namespace cdc {

using nofctl::invalidError;
using nvmeof::Error;
using nvmeof::ErrorCode;
using nvmeof::Result;
using What = ControlRequest::What;

namespace {

// Members in a tree: with the ordered kind, parsing an object takes quadratic time in the number of its members.
using Plain = nlohmann::json;

constexpr int maxDepth = 5;                      // nesting: list in record in list in request
constexpr std::size_t maxRequestRecords = 10000; // of a request

constexpr std::pair<const char *, What> commands[] = {
	{"status", What::status}, {"hosts", What::hosts},         {"targets", What::targets},
	{"zones", What::zones},   {"instances", What::instances}, {"changes", What::changes},
	{"set", What::set},       {"remove", What::remove},       {"drain", What::drain},
	{"reload", What::reload}, {"backup", What::backup},
};

Plain parseBounded(std::string_view line, bool &tooDeep)
{
	auto bounded = [&tooDeep](int depth, Plain::parse_event_t, Plain &) {
		tooDeep = tooDeep || depth > maxDepth;
		return depth <= maxDepth;
	};
	return Plain::parse(line, bounded, false);
}

Result<What> commandOf(const Plain &json)
{
	auto found = json.find("command");
	if (found == json.end() || !found->is_string())
		return invalidError("command is missing");
	for (const auto &[name, what] : commands)
		if (*found == name)
			return what;
	return invalidError(fmt::format("unknown command '{}'", found->get<std::string>().substr(0, 64)));
}

bool takes(What what, const std::string &member)
{
	if (member == "command")
		return true;
	if (member == "follow")
		return what == What::changes;
	if (member == "hosts")
		return what == What::remove;
	const bool records = what == What::set || what == What::remove;
	if (member == "force" || member == "dry_run")
		return records || what == What::reload;
	return records && (member == "targets" || member == "zones");
}

Result<void> checkMembers(const Plain &json, What what)
{
	for (const auto &[name, value] : json.items()) {
		if (!takes(what, name))
			return invalidError(fmt::format("'{}' is not expected here", name.substr(0, 64)));
		const bool flag = name == "follow" || name == "force" || name == "dry_run";
		if (flag && !value.is_boolean())
			return invalidError(name + " must be true or false");
		if (!flag && name != "command" && (!value.is_array() || value.size() > maxRequestRecords))
			return invalidError(name + " must be a list, and not too long");
	}
	return {};
}

bool flagOf(const Plain &json, const char *name)
{
	return json.value(name, false);
}

using Names = std::span<const std::string_view>;

constexpr std::string_view targetMembers[] = {"nqn",  "type",    "transport", "traddr", "trsvcid", "portid",
					      "treq", "sectype", "qptype",    "prtype", "state"};
constexpr std::string_view zoneMembers[] = {"name", "hosts", "targets"};
// Members that status output adds; accepted and ignored in requests
constexpr std::string_view outputMembers[] = {"source", "owner", "ends", "visible_to", "seen_by", "hosts_now"};

bool isIn(Names names, std::string_view name)
{
	return std::ranges::find(names, name) != names.end();
}

template <typename T> Result<T> recordOf(const Plain &json, Names members)
{
	Json record = Json::object();
	if (!json.is_object())
		return invalidError("a record must be an object");
	for (const auto &[name, value] : json.items()) {
		if (isIn(members, name))
			record[name] = value;
		else if (!isIn(outputMembers, name))
			return invalidError(fmt::format("'{}' is not expected in a record", name.substr(0, 64)));
	}
	return T::of(record);
}

template <typename T> Result<void> records(const Plain &json, const char *name, Names members, std::vector<T> &to)
{
	auto list = json.find(name);
	if (list == json.end())
		return {};
	for (const Plain &one : *list) {
		Result<T> record = recordOf<T>(one, members);
		if (!record)
			return record.error();
		to.push_back(*std::move(record));
	}
	return {};
}

Result<void> names(const Plain &json, const char *list, Kind kind, std::vector<std::string> &keys)
{
	auto found = json.find(list);
	if (found == json.end())
		return {};
	for (const Plain &one : *found) {
		if (!one.is_string())
			return invalidError(fmt::format("{} must be a list of strings", list));
		keys.push_back(std::string(prefixOf(kind)) + one.get<std::string>());
	}
	return {};
}

Result<void> readRecords(const Plain &json, ControlRequest &request)
{
	if (Result<void> read = records(json, "targets", targetMembers, request.targets); !read)
		return read;
	if (request.what == What::set) {
		for (const Target &target : request.targets)
			if (!nvmeof::conformingNqn(target.nqn))
				return invalidError(
					fmt::format("'{}' is not an NQN: it does not begin with 'nqn.'", target.nqn));
		return records(json, "zones", zoneMembers, request.zones);
	}
	for (const Target &target : std::exchange(request.targets, {}))
		request.keys.push_back(target.key());
	if (Result<void> read = names(json, "zones", Kind::zone, request.keys); !read)
		return read;
	return names(json, "hosts", Kind::host, request.keys);
}

const Origin *originOf(const Model &model, const std::string &key)
{
	const Origin *origin = nullptr;
	model.visit(key, [&](const auto &record) { origin = &record.origin; });
	return origin;
}

// The source of a record, for messages
std::string sourceName(const Origin &origin)
{
	if (origin.source == "file")
		return fmt::format("the configuration of the instance {}", origin.owner);
	if (origin.source == "pull")
		return fmt::format("the discovery service {}", origin.owner);
	if (origin.source == "push")
		return fmt::format("the registration of {}", origin.owner);
	return "another source";
}

std::string shown(const std::string &key)
{
	constexpr const char *kinds[] = {"target", "zone", "host", "instance"};
	const auto kind = static_cast<std::size_t>(kindOf(key).value_or(Kind::target));
	return fmt::format("{} {}", kinds[kind], nameOf(key).substr(0, 300));
}

template <typename T> std::optional<Error> conflictWith(const Model &model, const std::vector<T> &records)
{
	for (const T &record : records) {
		const Origin *there = originOf(model, record.key());
		if (there && !mayReplace(*there, record.origin))
			return invalidError(
				fmt::format("the {} is defined by {}", shown(record.key()), sourceName(*there)));
	}
	return {};
}

Result<std::vector<Change>> removal(const Model &model, const ControlRequest &request)
{
	std::vector<Change> changes;
	for (const std::string &key : request.keys) {
		const Origin *there = originOf(model, key);
		if (!there) {
			Error error = invalidError(fmt::format("there is no {}", shown(key)));
			error.code = ErrorCode::noSuchObject;
			return error;
		}
		const bool itsFile = there->source == "file" && there->owner == model.self();
		const bool back = there->source == "file" || there->source == "pull";
		if (itsFile || (back && !request.force))
			return invalidError(
				fmt::format("the {} is defined by {}, which would write it again: remove it there{}",
					    shown(key), sourceName(*there), itsFile ? "" : ", or use --force"));
		changes.push_back({key, {}});
	}
	return changes;
}

} // namespace

Result<ControlRequest> parseControlRequest(std::string_view line)
{
	bool tooDeep = false;
	const Plain json = parseBounded(line, tooDeep);
	if (tooDeep || !json.is_object())
		return invalidError("the line is not a JSON object");
	Result<What> what = commandOf(json);
	if (!what)
		return what.error();
	if (Result<void> good = checkMembers(json, *what); !good)
		return good.error();
	ControlRequest request{.what = *what,
			       .follow = flagOf(json, "follow"),
			       .force = flagOf(json, "force"),
			       .dryRun = flagOf(json, "dry_run")};
	if (*what != What::set && *what != What::remove)
		return request;
	if (Result<void> read = readRecords(json, request); !read)
		return read.error();
	if (request.targets.empty() && request.zones.empty() && request.keys.empty())
		return invalidError("the request names no record");
	return request;
}

Result<std::vector<Change>> controlChanges(const Model &model, const ControlRequest &request)
{
	if (request.what == What::remove)
		return removal(model, request);
	if (auto error = conflictWith(model, request.targets))
		return *error;
	if (auto error = conflictWith(model, request.zones))
		return *error;
	std::vector<Change> changes = putAll(model, request.targets);
	std::ranges::move(putAll(model, request.zones), std::back_inserter(changes));
	return changes;
}

} // namespace cdc
