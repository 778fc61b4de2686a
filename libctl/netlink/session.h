// SPDX-License-Identifier: LGPL-2.1-or-later
// One function per request of the netlink family: the layer between the public classes and Socket.
#pragma once

#include <nvmeof/client.h>

#include "libctl/keys/keyring.h"
#include "libctl/keys/tls_keyring.h"
#include "socket.h"

namespace nofctl {

inline constexpr int namespaceList = 2, pathList = 3, listKinds = 4;

class Session {
public:
	// Also checks that the module has this library's API version. @answer: longest wait for one request.
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

	// Lists all objects of a kind without blocking: 0 subsystems, 1 controllers, 2 namespaces, 3 paths. takeList()
	// returns nothing until the list is complete.
	Socket::Id startList(int kind);
	std::optional<nvmeof::Result<std::vector<nvmeof::EventObject>>> takeList(Socket::Id id, int kind);

	nvmeof::Result<nvmeof::Controller> create(const nvmeof::ConnectOptions &wanted);
	nvmeof::Result<void> reset(const std::string &controller);
	nvmeof::Result<void> keepTransport(const std::string &name);
	// Do not block: a disk or target determines how long they take. @subsysnqn: fail if the controller belongs to
	// another subsystem, because names are reused; empty: any subsystem.
	Socket::Id startRemove(const std::string &controller, const std::string &subsysnqn);
	Socket::Id startRescan(const std::string &controller);
	std::optional<nvmeof::Result<void>> finished(Socket::Id id);
	void forget(Socket::Id id) { socket_.forget(id); }
	bool receive(int max) { return socket_.receive(max); }
	int fd() const { return socket_.fd(); }

	// With keys, waits for the re-authentication of a live controller, which its connect timeout limits.
	nvmeof::Result<void> set(const std::string &controller, const nvmeof::ControllerSettings &settings);
	nvmeof::Result<Socket::Id> startSet(const std::string &controller, const nvmeof::ControllerSettings &settings);
	nvmeof::Result<void> set(std::uint32_t subsystem, const nvmeof::SubsystemSettings &settings);

private:
	Session(Socket socket, std::chrono::milliseconds answer) : socket_(std::move(socket)), answer_(answer) {}

	Clock::time_point due() const { return deadlineIn(answer_); }
	nvmeof::Result<void> act(Request request, Clock::time_point deadline);
	nvmeof::Result<std::optional<TlsRequestKey>> newTlsKey(const std::string &name, const std::string &source);

	Socket socket_;
	std::chrono::milliseconds answer_;
};

// The keyring ".nvme". Loads the module nvme-keyring if it does not exist.
nvmeof::Result<TlsKeyring> openTlsKeyring();

// Keys of a connection, until the request with their serial numbers has been answered
struct ConnectKeys {
	DhchapKeys dhchap;
	std::optional<TlsRequestKey> tls;
};

// Reads the keys of @options, and inserts them into keyrings: that of the calling thread, and the one of @keyring for
// TLS. A separate function for tests.
nvmeof::Result<ConnectKeys> connectKeys(const nvmeof::ConnectOptions &options, const std::string &hostnqn,
					nvmeof::Result<TlsKeyring> (*keyring)() = openTlsKeyring);
// The CTRL_NEW request for @options. A separate function for tests.
Request connectRequest(const nvmeof::ConnectOptions &options, const std::string &hostnqn, const nvmeof::Uuid &hostid,
		       const ConnectKeys &keys = {});
// The SUBSYS_SET request, for tests too.
Request settingsRequest(std::uint32_t subsystem, const nvmeof::SubsystemSettings &settings);

} // namespace nofctl
