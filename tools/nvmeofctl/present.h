// SPDX-License-Identifier: LGPL-2.1-or-later
// The controllers that exist at one time, such as before a command connects.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <nvmeof/client.h>

class Present {
public:
	// Reads the current controllers. Empty on an error: the next request of the command reports it.
	explicit Present(nvmeof::Client &client);

	const std::vector<nvmeof::Controller> &controllers() const { return controllers_; }
	// The controller that matches @options and is not being deleted; null if there is none.
	const nvmeof::Controller *find(const nvmeof::ConnectOptions &options, const std::string &hostnqn = {}) const;
	// The message that the in-tree driver is connected to @nqn, so that its disks would appear twice. Empty also if
	// this driver is connected to @nqn already.
	std::optional<std::string> inTreeConflict(const std::string &nqn) const;
	// Waits, at most 10 s, until all controllers that match @ours and are not in controllers() are gone. The
	// library removes the controllers of cancelled connects in the background.
	void awaitRemoval(const std::function<bool(const nvmeof::Controller &)> &ours) const;

private:
	bool has(const std::string &name) const;

	nvmeof::Client &client_;
	std::vector<nvmeof::Controller> controllers_;
};
