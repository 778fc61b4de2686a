// SPDX-License-Identifier: LGPL-2.1-or-later
// What a connect may ask for. What is not set is the kernel's default (include/uapi/linux/nvmeof.h).
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nvmeof/address.h>
#include <nvmeof/controller.h>
#include <nvmeof/identity.h>
#include <nvmeof/uuid.h>

namespace nvmeof {

// How far a connect has come when the call returns; each includes those before it.
enum class WaitFor {
	none,       // the kernel has accepted the request
	controller, // the controller is live
	namespaces, // its namespaces have been scanned: those that have a usable path are in /sys/block
	udev,       // and udev has handled them: nodes and links are in /dev. Without udevd: as namespaces
};

inline constexpr std::chrono::milliseconds defaultTimeout{30000};

// Of several connects, which are waited for.
enum class Require {
	all,
	any, // one; the others have half a second more. What is not there by then has timedOut, with EINPROGRESS
};

// What is waited for, and how long.
struct WaitOptions {
	WaitFor wait = WaitFor::namespaces;
	std::chrono::milliseconds timeout = defaultTimeout; // negative: for ever
	// Also until the controller has a path to a namespace with both, where they are given; then at least
	// namespaces.
	std::optional<std::uint32_t> nsid;
	std::optional<Uuid> uuid;
	Require require = Require::all;
};

// A controller that was waited for, and the disks it has a path to: nvmeof0n1, ... Not with WaitFor::none.
struct Connection : Controller {
	std::vector<std::string> disks;
	bool made = false; // by this call; else it was there before
};

struct ConnectOptions {
	std::string transport = "tcp";
	Address address;
	std::string subsysnqn;
	std::optional<std::string> hostnqn; // default: identity.h
	std::optional<Uuid> hostid;
	IdentityUse identity = IdentityUse::usual;
	std::string hostTraddr;
	std::string hostIface;
	std::optional<std::uint32_t> ioQueues;
	std::optional<std::uint32_t> pollQueues;
	std::optional<std::uint32_t> queueSize;
	std::optional<std::uint32_t> tags; // requests under way for each of ioQueues; of the subsystem's first connect
	std::optional<std::chrono::milliseconds> keepAlive; // 0: none
	std::optional<std::chrono::milliseconds> reconnectDelay;
	std::optional<std::chrono::milliseconds> ctrlLoss;   // negative: never lost
	std::optional<std::chrono::milliseconds> fastIoFail; // negative: off
	std::optional<std::chrono::milliseconds> connectTimeout;
	// How long the first connect is repeated as later ones are. 0, and if not set: one attempt; negative: for ever
	std::optional<std::chrono::milliseconds> firstConnect;
	std::string owner; // name of the program that asks, kept with the controller; empty: none
	std::optional<std::chrono::milliseconds> stallTimeout; // silence after which the path counts as lost; 0: off
	std::optional<std::uint8_t> tos;
	std::optional<std::chrono::milliseconds> ackTimeout; // RDMA: of a packet
	std::optional<std::uint32_t> retryCount;             // RDMA: how often it is sent again after that
	bool hdrDigest = false;
	bool dataDigest = false;
	bool sqFlow = false;
	bool duplicateConnect = false;
	bool idempotent = false; // a controller already there is what was asked for: it is waited for and returned
};

} // namespace nvmeof
