// SPDX-License-Identifier: LGPL-2.1-or-later
// The requests of the family, each as one function: between the public classes and the socket.
#pragma once

#include <nvmeof/client.h>

#include "socket.h"

namespace nofctl {

class Session {
public:
	// Also checks that the module speaks this library's API.
	static nvmeof::Result<Session> open();

	nvmeof::Result<nvmeof::ModuleVersion> version();

	nvmeof::Result<std::vector<nvmeof::Subsystem>> subsystems();
	nvmeof::Result<std::vector<nvmeof::Controller>> controllers(std::optional<std::uint32_t> subsystem);
	nvmeof::Result<std::vector<nvmeof::Namespace>> namespaces(std::optional<std::uint32_t> subsystem);
	nvmeof::Result<std::vector<nvmeof::Path>> paths(const nvmeof::PathFilter &filter);

	nvmeof::Result<nvmeof::Subsystem> subsystem(std::uint32_t id);
	nvmeof::Result<nvmeof::Controller> controller(const std::string &name);
	nvmeof::Result<nvmeof::Namespace> nameSpace(const std::string &name);
	nvmeof::Result<nvmeof::Path> path(const std::string &name);

	nvmeof::Result<nvmeof::Controller> create(const nvmeof::ConnectOptions &options);
	// subsysnqn: only if it is of that one; names are used again. Empty: of whichever
	nvmeof::Result<void> remove(const std::string &controller, const std::string &subsysnqn = {});
	nvmeof::Result<void> reset(const std::string &controller);
	nvmeof::Result<void> rescan(const std::string &controller, Clock::time_point deadline);
	nvmeof::Result<void> set(const std::string &controller, const nvmeof::ControllerSettings &settings);
	nvmeof::Result<void> set(std::uint32_t subsystem, const nvmeof::SubsystemSettings &settings);

private:
	explicit Session(Socket socket) : socket_(std::move(socket)) {}

	nvmeof::Result<void> act(Request request, Clock::time_point deadline);

	Socket socket_;
};

// The CTRL_NEW request for @options; its own function so that it can be looked at in tests.
Request connectRequest(const nvmeof::ConnectOptions &options, const std::string &hostnqn, const nvmeof::Uuid &hostid);
// Likewise SUBSYS_SET.
Request settingsRequest(std::uint32_t subsystem, const nvmeof::SubsystemSettings &settings);

} // namespace nofctl
