// SPDX-License-Identifier: LGPL-2.1-or-later
// A controller: one association with one fabric address.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace nvmeof {

// Values of enum nvmeof_ctrl_state.
enum class ControllerState : std::uint32_t { created, connecting, live, recovering, deleting, dead, lost };

// Disconnected, or about to be: it does not come back.
constexpr bool isEnding(ControllerState state)
{
	return state == ControllerState::deleting || state == ControllerState::dead;
}

const char *toString(ControllerState state); // "new", "connecting", ...; "unknown" for a value of a newer module

// Of a connected controller over RDMA. Counters are those of its present connections.
struct RdmaConnection {
	std::string device;
	std::uint32_t port = 0;
	std::string gid;                         // the local one, as an IPv6 address is written
	std::chrono::milliseconds ackTimeout{0}; // of a packet
	std::uint32_t retryCount = 0;            // how often it is sent again after that
	std::uint32_t inCapsule = 0;             // bytes of data that go with a write command
	std::uint64_t posts = 0;                 // times that the device was called to send
	std::uint64_t workRequests = 0;
	std::uint64_t completions = 0;
	std::uint64_t registrations = 0; // of memory
	std::uint64_t invalidations = 0; // of keys, by this host
	std::uint64_t remoteInvalidations = 0;
};

struct Controller {
	std::uint32_t subsystem = 0; // id of its subsystem
	std::uint32_t id = 0;        // the 1 of nvmeof0c1
	std::string name;
	std::string subsysnqn;
	std::string hostnqn;
	std::string transport;
	std::string traddr;
	std::string trsvcid;
	std::string hostTraddr;
	std::string hostIface;
	ControllerState state = ControllerState::created;
	std::optional<std::uint16_t> cntlid; // once connected
	std::string serial;
	std::string model;
	std::string firmware;
	std::uint32_t ioQueues = 0;             // granted
	std::uint32_t pollQueues = 0;           // granted
	std::uint32_t wantedPollQueues = 0;     // asked for
	std::uint32_t queueSize = 0;            // entries, granted
	std::chrono::milliseconds keepAlive{0}; // 0: none
	std::chrono::milliseconds reconnectDelay{0};
	std::chrono::milliseconds ctrlLoss{0};   // negative: never lost
	std::chrono::milliseconds fastIoFail{0}; // negative: off
	std::chrono::milliseconds connectTimeout{0};
	std::chrono::milliseconds stallTimeout{0}; // 0: off
	std::chrono::milliseconds firstConnect{0}; // how long the first connect is repeated; negative: for ever
	std::uint8_t tos = 0;
	bool hdrDigest = false;
	bool dataDigest = false;
	bool sqFlow = false;
	bool copies = false;          // data sent are copied: nobody could tell when the pages are free
	std::uint32_t reconnects = 0; // successful ones
	std::uint32_t attempts = 0;   // since the connection was last good
	std::optional<std::chrono::milliseconds> lossLeft;     // without a connection: until it is lost
	std::optional<std::chrono::milliseconds> firmwareLeft; // activates firmware, no I/O: until it has to be active
	std::string lastError;
	int lastErrno = 0;                       // positive
	std::optional<std::uint16_t> lastStatus; // NVMe status, when the target refused
	std::uint32_t inflight = 0;
	std::uint32_t paths = 0;
	std::string owner; // program that asked for it; empty: none said so
	// Of namespaces, that ended well since it became live last; not set: the module is too old to tell.
	std::optional<std::uint32_t> scans;
	std::optional<RdmaConnection> rdma; // while it is connected over RDMA
};

} // namespace nvmeof
