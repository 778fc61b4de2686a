// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Passes changed keys of the configuration on to the controllers that exist, one after the other: each is authenticated
 * again, and a refusal may cost its connection. Remembers which version of its key files a controller has got, never
 * their content. A controller of unknown version, such as one of an earlier daemon, gets the keys at the first update.
 */
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include <nvmeof/controller.h>
#include <nvmeof/discovery_plan.h>
#include <nvmeof/pending.h>
#include <nvmeof/settings.h>

namespace nvmeofd {

class KeyUpdates {
public:
	using Set = std::function<nvmeof::Pending<nvmeof::Result<void>>(const std::string &controller,
									const nvmeof::ControllerSettings &settings)>;

	explicit KeyUpdates(Set set) : set_(std::move(set)) {}

	// Of the keys that @options name; empty: none. To be taken before the keys are read.
	static std::string versionOf(const nvmeof::ConnectOptions &options);
	// The controller was created with keys of this version.
	void created(const std::string &controller, const std::string &version) { versions_[controller] = version; }
	void removed(const std::string &controller) { versions_.erase(controller); }

	// Starts the update of controllers whose planned connection has other keys than they got last. Replaces what is
	// left of an earlier update. Returns their names.
	std::vector<std::string> update(std::span<const nvmeof::PlannedConnection> planned,
					std::span<const nvmeof::Controller> present);

private:
	struct Update {
		std::string controller, version;
		nvmeof::ControllerSettings settings;
	};

	void next();
	void finish(const nvmeof::Result<void> &done);

	const Set set_;
	std::map<std::string, std::string> versions_; // by controller
	std::deque<Update> waiting_;
	Update current_;
	nvmeof::Pending<nvmeof::Result<void>> pending_; // of current_
};

} // namespace nvmeofd
