// SPDX-License-Identifier: LGPL-2.1-or-later
// Configuration of a target: what it supports and reports. All of it is correct; wrong behaviour comes from a Script.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace target {

enum class Transport { tcp, rdma };

// How a port authenticates hosts by DH-HMAC-CHAP (NVMe Base 2.0, 8.13.5). Secrets: "DHHC-1:HH:BASE64:".
struct Authentication {
	std::string hostSecret;
	std::string ctrlSecret = {};  // empty: the controller cannot authenticate itself
	std::uint8_t hash = 1;        // 1 to 3: SHA-256, SHA-384, SHA-512
	std::uint8_t group = 0;       // 0 to 5: NULL, ffdhe2048 to ffdhe8192
	bool admin = true, io = true; // the queues whose Connect asks for authentication
	// Hosts have to let the authentication of the admin queue generate a key of TLS, and to connect again with it:
	// secure channel concatenation (NVMe Base 2.1, 8.3.4.5.9). Over TCP only. @hash and @group must allow that.
	bool channel = false;
};

struct Config {
	Transport transport = Transport::tcp;
	std::string address = "127.0.0.1";
	std::string advertised = {}; // address in the discovery log if it differs from `address`, e.g. behind NAT
	std::uint16_t port = 0;      // 0: any free port
	std::string nqn = "nqn.2024-01.io.nvmeof:target";
	std::string serial = "TARGET0001";
	std::string model = "nvmeof test target";
	std::string firmware = "1.0";
	std::uint32_t version = 0x10400;  // VS
	std::uint16_t queueEntries = 128; // CAP.MQES + 1
	std::uint16_t maxcmd = 0;         // MAXCMD; 0: queueEntries
	std::uint16_t maxIoQueues = 64;
	std::uint32_t inCapsule = 8192;    // bytes of data in an I/O command capsule
	std::uint32_t maxH2cData = 131072; // bytes
	std::uint32_t r2tBytes = 131072;   // maximum bytes per R2T
	std::uint32_t c2hBytes = 32768;    // maximum bytes per C2HData PDU
	std::uint8_t mdts = 8;             // 2^8 * 4 KiB = 1 MiB
	// Limits of commands that transfer no data, from Identify CNS 06h; 0: no limit. Of a longer range, Dataset
	// Management deallocates only this much and succeeds, as targets in the field do. A longer Write Zeroes is
	// refused.
	std::uint8_t discardRanges = 0;  // DMRL
	std::uint32_t rangeBlocks = 0;   // DMRSL
	std::uint64_t discardBlocks = 0; // DMSL
	std::uint8_t writeZeroes = 0;    // WZSL, 2^n * 4 KiB
	bool extendedFormats = false;    // CTRATT.ELBAS: 64-bit guards only for hosts that enable LBAFEE
	bool allowDigests = true;
	bool allowSqflowOff = true;
	bool successFlag = true;       // SUCCESS flag in C2HData if SQ flow control is off, as specified
	bool successAlways = false;    // set it with SQ flow control as well, as targets in the field do
	bool trafficKeepAlive = false; // CTRATT.TBKAS
	bool lateExpiry = false;       // the keep-alive timer is evaluated only once per period
	bool enforceKeepAlive = true;  // end an association that is silent for longer than KATO
	std::uint16_t kas = 10;        // granularity of the keep-alive timer, 100 ms units
	std::uint16_t quiesce = 0;     // CQT, ms
	std::uint8_t ccrLimit = 0;     // CCRL: concurrent Cross-Controller Resets; 0: not supported
	bool ana = false;
	std::uint32_t anaGroups = 4;     // NANAGRPID and ANAGRPMAX
	std::uint8_t anaTransition = 10; // ANATT, s
	std::uint32_t namespaces = 1024; // NN and MNAN
	bool reservations = false;       // supports all reservation types, and persistence
	std::uint16_t awupf = 0;         // AWUPF: atomic write unit, blocks - 1
	std::uint16_t nawupf = 0;        // NAWUPF, for each namespace; 0: AWUPF applies
	std::uint16_t nabspf = 0;        // NABSPF: atomic boundary, blocks - 1; 0: none
	bool zoned = false;              // supports the Zoned Namespace command set: CAP.CSS
	bool keyValue = false;           // supports the Key Value command set
	std::uint8_t zoneAppend = 0;     // ZASL, 2^n * 4 KiB; 0: MDTS
	std::uint8_t readyTimeout = 10;  // CAP.TO, 500 ms units
	std::uint16_t mtfa = 0;          // MTFA, 100 ms units; 0: no firmware activation without reset
	// Commands Supported and Effects log, by opcode. ioEffects is reported for every command set except Key Value.
	// If all three are empty, the log is not supported.
	std::map<std::uint8_t, std::uint32_t> ioEffects = {}, adminEffects = {}, keyEffects = {};
	bool hasEffects() const { return !ioEffects.empty() || !adminEffects.empty() || !keyEffects.empty(); }
	// Discovery controllers. persistentDiscovery: KATO may be set, so that the host can keep the connection.
	// discoveryIdle: time without a command after which a controller without KATO ends.
	bool centralized = false; // the discovery service accepts host registrations (TP8010)
	bool persistentDiscovery = true;
	std::chrono::milliseconds discoveryIdle{120000};
	std::optional<Authentication> authentication = {};
};

using Clock = std::chrono::steady_clock;

} // namespace target
