// SPDX-License-Identifier: LGPL-2.1-or-later
#include "settings.h"

#include <fmt/format.h>

#include "args.h"
#include "duration.h"

using namespace nvmeof;

namespace {

struct Key {
	const char *name;
	ObjectKind kind;
	Result<void> (*apply)(Settings &settings, const std::string &value);
};

Result<void> putTime(std::optional<std::chrono::milliseconds> &to, const std::string &value, Never never)
{
	Result<std::chrono::milliseconds> time = parseSeconds(value, never);
	if (!time)
		return time.error();
	to = *time;
	return {};
}

const Key keys[] = {
	{"iopolicy", ObjectKind::subsystem,
	 [](Settings &settings, const std::string &value) -> Result<void> {
		 if (value.empty())
			 return usageError("the name of a policy is missing; 'nvmeofctl version' lists them");
		 settings.iopolicy = value;
		 return {};
	 }},
	{"reconnect-delay", ObjectKind::controller,
	 [](Settings &settings, const std::string &value) {
		 return putTime(settings.controller.reconnectDelay, value, Never::refused);
	 }},
	{"ctrl-loss-tmo", ObjectKind::controller,
	 [](Settings &settings, const std::string &value) {
		 return putTime(settings.controller.ctrlLoss, value, Never::allowed);
	 }},
	{"fast-io-fail-tmo", ObjectKind::controller,
	 [](Settings &settings, const std::string &value) {
		 return putTime(settings.controller.fastIoFail, value, Never::allowed);
	 }},
};

std::string knownKeys(ObjectKind kind)
{
	std::string names;
	for (const Key &key : keys)
		if (key.kind == kind)
			names += (names.empty() ? "" : ", ") + std::string(key.name);
	return names.empty() ? fmt::format("a {} has no settings", toString(kind))
			     : fmt::format("a {} has: {}", toString(kind), names);
}

const Key *findKey(ObjectKind kind, const std::string &name)
{
	for (const Key &key : keys)
		if (key.kind == kind && key.name == name)
			return &key;
	return nullptr;
}

} // namespace

Result<Settings> parseSettings(ObjectKind kind, const std::vector<std::string> &words)
{
	Settings settings;
	for (const std::string &word : words) {
		std::size_t equals = word.find('=');
		if (equals == word.npos)
			return usageError(fmt::format("'{}' is not KEY=VALUE; {}", word, knownKeys(kind)));
		std::string name = word.substr(0, equals);
		const Key *key = findKey(kind, name);
		if (!key)
			return usageError(fmt::format("unknown key '{}'; {}", name, knownKeys(kind)));
		if (Result<void> done = key->apply(settings, word.substr(equals + 1)); !done)
			return usageError(fmt::format("{}: {}", name, done.error().message));
	}
	return settings;
}
