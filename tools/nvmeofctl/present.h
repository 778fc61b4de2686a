// SPDX-License-Identifier: LGPL-2.1-or-later
// What is connected at a moment: when a command begins to connect, above all.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <nvmeof/client.h>

class Present {
public:
	// Of now; none, where the module does not answer: what comes next will say why
	explicit Present(nvmeof::Client &client);

	const std::vector<nvmeof::Controller> &controllers() const { return controllers_; }
	// Connected as @options say; null: none is
	const nvmeof::Controller *find(const nvmeof::ConnectOptions &options, const std::string &hostnqn = {}) const;
	// By the in-tree driver: its disks would be there twice. Nothing where ours has the subsystem already, too
	std::optional<std::string> heldByOther(const std::string &nqn) const;
	// What is let go of is removed in the background: until nothing is left that was not there, and is @ours; but
	// not for ever
	void awaitRemoval(const std::function<bool(const nvmeof::Controller &)> &ours) const;

private:
	bool has(const std::string &name) const;

	nvmeof::Client &client_;
	std::vector<nvmeof::Controller> controllers_;
};
