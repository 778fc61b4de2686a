// SPDX-License-Identifier: LGPL-2.1-or-later
// All misbehaviours of a discovery service at once, each with its own service and subsystem.
#pragma once

#include "target/misbehaviour.h"
#include "target/server.h"

#include <memory>
#include <string>
#include <vector>

namespace guest {

class Misbehaving {
public:
	Misbehaving()
	{
		for (const target::Misbehaviour &m : target::discoveryMisbehaviours()) {
			target::Config config;
			config.nqn = std::string("nqn.2024-01.io.nvmeof:") + m.name;
			servers_.push_back(std::make_unique<target::Server>(config));
			servers_.back()->script().arm(m, target::Script::forever);
		}
	}

	std::vector<std::string> addresses() const
	{
		std::vector<std::string> all;
		for (auto &one : servers_)
			all.push_back("127.0.0.1:" + std::to_string(one->port()));
		return all;
	}

private:
	std::vector<std::unique_ptr<target::Server>> servers_;
};

} // namespace guest
