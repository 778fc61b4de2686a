// SPDX-License-Identifier: LGPL-2.1-or-later
// Reads the log of a discovery service.
#pragma once

#include <optional>
#include <stop_token>
#include <string>

#include <nvmeof/client.h>

#include "admin_node.h"
#include "engine.h"
#include "libctl/discovery/discovery_log.h"

namespace nofctl {

// If the connection is lost, waits for the reconnect and repeats the command.
class DiscoveryLogRead : private LogSource {
public:
	// @engine: must not be shared, because this class blocks on it
	DiscoveryLogRead(Engine &engine, std::chrono::milliseconds timeout, std::stop_token stop);

	// Through a temporary controller, or through an existing one.
	nvmeof::Result<nvmeof::DiscoveryLog> read(const nvmeof::ConnectOptions &options);
	nvmeof::Result<nvmeof::DiscoveryLog> read(const std::string &controller);

	// Name of the temporary controller, which the caller removes; empty: none. No other controller gets the name
	// while this object exists.
	const std::string &made() const { return made_; }

private:
	nvmeof::Result<void> read(std::uint64_t offset, std::span<std::byte> to, bool retain) override;
	std::size_t max() const override { return max_; }
	bool offsets() const override { return offsets_; }
	bool again(int tries) override;

	nvmeof::Result<void> connect(const nvmeof::ConnectOptions &options);
	nvmeof::Result<void> openNode(const nvmeof::Controller &controller);
	nvmeof::Result<void> open();
	nvmeof::Result<void> waitAgain();
	nvmeof::Result<void> await(nvmeof::Pending<nvmeof::Result<nvmeof::Connection>> pending);
	nvmeof::Result<nvmeof::DiscoveryLog> readLog();
	nvmeof::Result<void> learnLimits();
	template <typename F> nvmeof::Result<void> retryOnLoss(F command);
	std::optional<nvmeof::Error> over() const;
	std::chrono::milliseconds left() const;

	Engine &engine_;
	std::chrono::milliseconds timeout_;
	Clock::time_point deadline_;
	std::stop_token stop_;
	std::string controller_, made_;
	std::optional<AdminNode> node_;
	std::size_t max_ = 0;
	bool offsets_ = false;
};

// Connects, reads and disconnects. Uses sockets of its own, so it may run on any thread. @options must be complete, see
// Client::discover().
nvmeof::Result<nvmeof::DiscoveryLog> discover(const nvmeof::ConnectOptions &options, std::chrono::milliseconds timeout,
					      const std::stop_token &stop);
nvmeof::Result<nvmeof::DiscoveryLog> discoverThrough(const std::string &controller, std::chrono::milliseconds timeout,
						     const std::stop_token &stop);

} // namespace nofctl
