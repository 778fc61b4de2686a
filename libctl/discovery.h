// SPDX-License-Identifier: LGPL-2.1-or-later
// A look at a discovery service, through a controller that is made for it unless there is one.
#pragma once

#include <optional>
#include <string>

#include <nvmeof/client.h>

#include "admin_node.h"
#include "discovery_log.h"
#include "session.h"

namespace nofctl {

// A connection that is lost meanwhile is waited for, and what was asked for is asked for again.
class DiscoveryVisit : private LogSource {
public:
	DiscoveryVisit(Session &session, std::chrono::milliseconds timeout);

	nvmeof::Result<nvmeof::DiscoveryLog> read(const nvmeof::ConnectOptions &options);

	// The controller that was made, which is the caller's to remove; empty: none
	const std::string &made() const { return made_; }

private:
	nvmeof::Result<void> read(std::uint64_t offset, std::span<std::byte> to, bool retain) override;
	std::size_t most() const override { return most_; }
	bool offsets() const override { return offsets_; }
	bool again(int tries) override;

	nvmeof::Result<void> connect(const nvmeof::ConnectOptions &options);
	nvmeof::Result<void> waitAgain();
	nvmeof::Result<void> learnLimits();
	template <typename F> nvmeof::Result<void> insist(F command);
	std::chrono::milliseconds left() const;

	Session &session_;
	std::chrono::milliseconds timeout_;
	Clock::time_point deadline_;
	std::string controller_, made_;
	std::optional<AdminNode> node_;
	std::size_t most_ = 0;
	bool offsets_ = false;
};

} // namespace nofctl
