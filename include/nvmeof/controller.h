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

// The controller is disconnected, or about to be. It does not reconnect.
constexpr bool isEnding(ControllerState state)
{
	return state == ControllerState::deleting || state == ControllerState::dead;
}

const char *toString(ControllerState state); // "new", "connecting", ...; "unknown" for a value of a newer module

// Connection of an RDMA controller. Counters are sums over the current connections.
struct RdmaConnection {
	std::string device;
	std::uint32_t port = 0;
	std::string gid;                         // local GID, in IPv6 notation
	std::chrono::milliseconds ackTimeout{0}; // timeout of a packet
	std::uint32_t retryCount = 0;            // retransmissions of a packet
	std::uint32_t inCapsule = 0;             // largest in-capsule data, bytes
	std::uint64_t posts = 0;                 // calls to ib_post_send()
	std::uint64_t workRequests = 0;
	std::uint64_t completions = 0;
	std::uint64_t registrations = 0; // memory registrations
	std::uint64_t invalidations = 0; // memory keys invalidated by the host
	std::uint64_t remoteInvalidations = 0;
};

// In-band authentication by DH-HMAC-CHAP; NVMe Base 2.0, 8.13.5.
struct Authentication {
	std::string hash;               // "SHA-256", "SHA-384", "SHA-512"; "unknown" for a value of a newer module
	std::string dhGroup;            // "NULL", "ffdhe2048", "ffdhe3072", ...; likewise
	bool mutual = false;            // the controller has authenticated itself, too
	std::chrono::nanoseconds at{0}; // CLOCK_BOOTTIME of the last authentication of the admin queue
};

// The key by which a host authenticates itself. Its secret is never reported.
struct AuthKey {
	std::int32_t serial = 0;           // serial number in the kernel's key retention service
	std::chrono::nanoseconds since{0}; // CLOCK_BOOTTIME: when the driver was given it
	std::string description; // see readKeyNames(); empty: of a file or credential, or this user cannot see it
};

// TLS of a controller's connections; NVMe TCP Transport 1.0, 3.6.1.
struct Tls {
	std::string cipher;       // "AES-GCM-128", "AES-GCM-256", "CHACHA20-POLY1305"; empty: not connected yet
	std::int32_t key = 0;     // serial number of the configured key
	std::int32_t keyUsed = 0; // of the one that the TLS agent has used; 0: not known
	// Of the used or else the configured key, see readKeyNames(). Empty: it was removed, or this user cannot see
	// it.
	std::string identity;
	// CLOCK_BOOTTIME: when the driver was given the configured key, or the authentication has generated it
	std::chrono::nanoseconds keySince{0};
	std::chrono::nanoseconds at{0}; // CLOCK_BOOTTIME: end of the admin queue's handshake; 0: not connected
	bool generated = false;         // by the authentication, see ConnectOptions::concat
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
	std::uint32_t wantedPollQueues = 0;     // requested
	std::uint32_t queueSize = 0;            // entries, granted
	std::chrono::milliseconds keepAlive{0}; // 0: none
	std::chrono::milliseconds reconnectDelay{0};
	std::chrono::milliseconds ctrlLoss{0};   // negative: no limit
	std::chrono::milliseconds fastIoFail{0}; // negative: off
	std::chrono::milliseconds connectTimeout{0};
	std::chrono::milliseconds stallTimeout{0}; // 0: off
	std::chrono::milliseconds firstConnect{0}; // time limit for retries of the first connect; negative: no limit
	std::uint8_t tos = 0;
	bool hdrDigest = false;
	bool dataDigest = false;
	bool sqFlow = false;
	bool copies = false;          // sent data is copied: the peer is local, or zero_copy is off
	std::uint32_t reconnects = 0; // successful
	std::uint32_t attempts = 0;   // connect attempts since last live
	std::optional<std::chrono::milliseconds> lossLeft;     // without a connection: time until it is lost
	std::optional<std::chrono::milliseconds> firmwareLeft; // until the firmware activation must finish; no I/O
	std::string lastError;
	int lastErrno = 0;                       // positive
	std::optional<std::uint16_t> lastStatus; // NVMe status, if the target returned one
	std::uint32_t inflight = 0;
	std::uint32_t paths = 0;
	std::string owner; // program that manages it; empty: none
	// Complete namespace scans since the controller last became live. Not set: the module is too old to report it.
	std::optional<std::uint32_t> scans;
	std::optional<RdmaConnection> rdma; // while connected over RDMA
	// Not set: this host has not authenticated itself: it has no key, or the target requires no authentication.
	std::optional<Authentication> authentication;
	std::optional<AuthKey> authKey; // not set: this host has no key for it
	bool authRequired = false;      // a connection without authentication is refused
	std::optional<Tls> tls;         // not set: no TLS; or with concat, not connected
	bool concat = false;            // see ConnectOptions::concat
};

} // namespace nvmeof
