// SPDX-License-Identifier: LGPL-2.1-or-later
// The requests of the family, each as one function: between the public classes and the socket.
#pragma once

#include <nvmeof/client.h>

#include "socket.h"

namespace nofctl {

inline constexpr int namespaceList = 2, pathList = 3, listKinds = 4;

class Session {
public:
	// Also checks that the module speaks this library's API.
	// @answer: most that a request waits.
	static nvmeof::Result<Session> open(std::chrono::milliseconds answer = callTimeout);

	nvmeof::Result<nvmeof::ModuleVersion> version();

	nvmeof::Result<std::vector<nvmeof::Subsystem>> subsystems();
	nvmeof::Result<std::vector<nvmeof::Controller>> controllers(std::optional<std::uint32_t> subsystem);
	nvmeof::Result<std::vector<nvmeof::Namespace>> namespaces(std::optional<std::uint32_t> subsystem);
	nvmeof::Result<std::vector<nvmeof::Path>> paths(const nvmeof::PathFilter &filter);

	nvmeof::Result<nvmeof::Subsystem> subsystem(std::uint32_t id);
	nvmeof::Result<nvmeof::Controller> controller(const std::string &name);
	nvmeof::Result<nvmeof::Namespace> nameSpace(const std::string &name);
	nvmeof::Result<nvmeof::Path> path(const std::string &name);

	/*
	 * Lists without waiting, of all that there is: of subsystems, controllers, namespaces, paths, in this order.
	 * takeList() has it once it is there.
	 */
	Socket::Id startList(int kind);
	std::optional<nvmeof::Result<std::vector<nvmeof::EventObject>>> takeList(Socket::Id id, int kind);

	nvmeof::Result<nvmeof::Controller> create(const nvmeof::ConnectOptions &options);
	nvmeof::Result<void> reset(const std::string &controller);
	nvmeof::Result<void> keepTransport(const std::string &name);
	// subsysnqn: only if it is of that one; names are used again. Empty: of whichever.
	// Both without waiting: they may take as long as a disk or a target does.
	Socket::Id startRemove(const std::string &controller, const std::string &subsysnqn);
	Socket::Id startRescan(const std::string &controller);
	std::optional<nvmeof::Result<void>> finished(Socket::Id id);
	void forget(Socket::Id id) { socket_.forget(id); }
	bool receive(int most) { return socket_.receive(most); }
	int fd() const { return socket_.fd(); }

	nvmeof::Result<void> set(const std::string &controller, const nvmeof::ControllerSettings &settings);
	nvmeof::Result<void> set(std::uint32_t subsystem, const nvmeof::SubsystemSettings &settings);

private:
	Session(Socket socket, std::chrono::milliseconds answer) : socket_(std::move(socket)), answer_(answer) {}

	Clock::time_point due() const { return deadlineIn(answer_); }
	nvmeof::Result<void> act(Request request, Clock::time_point deadline);

	Socket socket_;
	std::chrono::milliseconds answer_;
};

// The CTRL_NEW request for @options; its own function so that it can be looked at in tests.
Request connectRequest(const nvmeof::ConnectOptions &options, const std::string &hostnqn, const nvmeof::Uuid &hostid);
// Likewise SUBSYS_SET.
Request settingsRequest(std::uint32_t subsystem, const nvmeof::SubsystemSettings &settings);

} // namespace nofctl
