// SPDX-License-Identifier: LGPL-2.1-or-later
// Options of a connect. For options that are not set, the kernel's default applies (include/uapi/linux/nvmeof.h).
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nvmeof/address.h>
#include <nvmeof/controller.h>
#include <nvmeof/identity.h>
#include <nvmeof/security.h>
#include <nvmeof/uuid.h>

namespace nvmeof {

// The state to wait for before a connect returns; each value includes the ones before it.
enum class WaitFor {
	none,       // the kernel has accepted the request
	controller, // the controller is live
	namespaces, // the namespaces have been scanned; those with a usable path are in /sys/block
	udev,       // udev has processed them: nodes and links exist in /dev. If udevd does not run: like namespaces
};

inline constexpr std::chrono::milliseconds defaultTimeout{30000};

// How many of several connects have to succeed before the wait ends.
enum class Require {
	all,
	any, // one. The others get another 500 ms; those not complete then fail with EINPROGRESS
};

// The condition to wait for, and the time limit.
struct WaitOptions {
	WaitFor wait = WaitFor::namespaces;
	std::chrono::milliseconds timeout = defaultTimeout; // negative: no limit
	// If set, also wait until the controller has a path to the namespace with this nsid and uuid. Implies
	// WaitFor::namespaces at least.
	std::optional<std::uint32_t> nsid;
	std::optional<Uuid> uuid;
	Require require = Require::all;
};

// A controller after a wait, and the disks it has a path to: nvmeof0n1, ... No disks are listed with WaitFor::none.
struct Connection : Controller {
	std::vector<std::string> disks;
	bool made = false; // created by this call; otherwise it existed before
};

struct ConnectOptions {
	std::string transport = "tcp";
	Address address;
	std::string subsysnqn;
	std::optional<std::string> hostnqn; // default: see identity.h
	std::optional<Uuid> hostid;
	IdentityUse identity = IdentityUse::usual;
	std::string hostTraddr;
	std::string hostIface;
	std::optional<std::uint32_t> ioQueues;
	std::optional<std::uint32_t> pollQueues;
	std::optional<std::uint32_t> queueSize;
	std::optional<std::uint32_t> tags; // requests per hardware queue; set by the first connect to a subsystem
	std::optional<std::chrono::milliseconds> keepAlive; // 0: no keep-alive
	std::optional<std::chrono::milliseconds> reconnectDelay;
	std::optional<std::chrono::milliseconds> ctrlLoss;   // negative: no limit
	std::optional<std::chrono::milliseconds> fastIoFail; // negative: off
	std::optional<std::chrono::milliseconds> connectTimeout;
	// How long to retry a failed first connect. 0 or not set: a single attempt; negative: no limit
	std::optional<std::chrono::milliseconds> firstConnect;
	// Keys of DH-HMAC-CHAP: "/etc/nvmeof/keys/host.key", "credential:NAME" or "keyring:DESCRIPTION", never the
	// secret; see Documentation/authentication.md. They are read at each connect. Empty: no authentication, or that
	// of the host only. The second one needs the first one.
	std::string dhchapKey;     // the host's
	std::string dhchapCtrlKey; // the controller's
	// TLS, which needs transport "tcp". Not set: required if tlsKey is given, else off. See Documentation/tls.md.
	std::optional<TlsUse> tls;
	// Its pre-shared key: a source like dhchapKey, where "keyring:IDENTITY" is a key in the keyring ".nvme". Empty:
	// the key that ".nvme" has for this host and subsystem.
	std::string tlsKey;
	// TLS with a key that the authentication generates: secure channel concatenation (NVMe Base 2.1, 8.3.4.5.9).
	// Needs transport "tcp" and dhchapKey, and excludes tls and tlsKey. The controller proves its identity only if
	// dhchapCtrlKey is set; set it wherever the target supports that.
	bool concat = false;
	// Restricts the settings above: a connect that contradicts it fails before anything is sent.
	SecurityRule security;
	std::string owner; // program that manages the controller; stored with it; empty: none
	std::optional<std::chrono::milliseconds> stallTimeout; // silence after which the path is suspect; 0: off
	std::optional<std::uint8_t> tos;
	std::optional<std::chrono::milliseconds> ackTimeout; // RDMA: timeout of a packet
	std::optional<std::uint32_t> retryCount;             // RDMA: retransmissions of a packet
	bool hdrDigest = false;
	bool dataDigest = false;
	bool sqFlow = false;
	bool duplicateConnect = false;
	bool idempotent = false; // if the controller exists already, wait for it and return it
};

} // namespace nvmeof
