// SPDX-License-Identifier: LGPL-2.1-or-later
#include "key_updates.h"

#include <algorithm>
#include <syslog.h>
#include <utility>

#include <fmt/format.h>

#include <nvmeof/difference.h>

#include "connections.h"
#include "libctl/keys/source.h"
#include "libctl/runtime/journal.h"

using namespace nvmeof;

namespace nvmeofd {

using namespace runtime;

namespace {

// Connections of others get keys only if they have some: for a target without authentication, keys can be too much.
bool takesKeys(const Controller &controller)
{
	return !isEnding(controller.state) &&
	       (controller.owner == owner || controller.authentication || controller.tls);
}

std::optional<std::string> unlessEmpty(const std::string &text)
{
	return text.empty() ? std::nullopt : std::optional(text);
}

} // namespace

std::string KeyUpdates::versionOf(const ConnectOptions &options)
{
	std::string version;
	for (const std::string &text : {options.dhchapKey, options.dhchapCtrlKey, options.tlsKey})
		if (const Result<nofctl::KeySource> source = nofctl::KeySource::parse(text); source)
			version += nofctl::versionOf(*source) + "\n";
	return version;
}

std::vector<std::string> KeyUpdates::update(std::span<const PlannedConnection> planned,
					    std::span<const Controller> present)
{
	std::erase_if(versions_, [&](const auto &one) {
		return std::ranges::find(present, one.first, &Controller::name) == present.end();
	});
	waiting_.clear();
	std::vector<std::string> names;
	for (const Controller &one : present) {
		auto wanted = std::ranges::find_if(planned, [&](const PlannedConnection &connection) {
			return isConnection(one, connection.options);
		});
		if (wanted == planned.end() || !takesKeys(one))
			continue;
		const ConnectOptions &options = wanted->options;
		const std::string version = versionOf(options);
		auto known = versions_.find(one.name);
		if (version.empty() || (known != versions_.end() && known->second == version))
			continue;
		ControllerSettings settings;
		settings.dhchapKey = unlessEmpty(options.dhchapKey);
		settings.dhchapCtrlKey = unlessEmpty(options.dhchapCtrlKey);
		// of a connection without TLS, or with a generated key, it cannot be changed
		if (one.tls && !one.concat)
			settings.tlsKey = unlessEmpty(options.tlsKey);
		if (!settings.dhchapKey && !settings.dhchapCtrlKey && !settings.tlsKey)
			continue;
		names.push_back(one.name);
		if (pending_.valid() && current_.controller == one.name && current_.version == version)
			continue;
		waiting_.push_back({one.name, version, settings});
	}
	next();
	return names;
}

void KeyUpdates::next()
{
	while (!pending_.valid() && !waiting_.empty()) {
		current_ = std::move(waiting_.front());
		waiting_.pop_front();
		pending_ = set_(current_.controller, current_.settings);
		if (pending_.ready()) {
			finish(pending_.take());
			continue;
		}
		pending_.then([this] {
			finish(pending_.take());
			next();
		});
	}
}

void KeyUpdates::finish(const Result<void> &done)
{
	const std::string &name = current_.controller;
	if (done) {
		versions_[name] = current_.version;
		say(LOG_NOTICE, fmt::format("{}: the changed keys have been passed on", name), {.controller = name});
	} else if (done.error().code != ErrorCode::noSuchObject) {
		versions_.erase(name); // the next reload tries again
		say(LOG_ERR,
		    fmt::format("{}: the changed keys are not in use: {}; compare them with those of the target, then "
				"'nvmeofctl daemon reload'",
				name, done.error().message),
		    {.controller = name});
	}
}

} // namespace nvmeofd
