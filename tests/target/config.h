// SPDX-License-Identifier: LGPL-2.1-or-later
// What a target offers. Values are honest: misbehaviour is a script's business.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>

namespace target {

enum class Transport { tcp, rdma };

struct Config {
	Transport transport = Transport::tcp;
	std::string address = "127.0.0.1";
	std::string advertised = {}; // instead of the address, in the discovery log: a host sees it at another one
	std::uint16_t port = 0;      // 0: any free one
	std::string nqn = "nqn.2024-01.io.nvmeof:target";
	std::string serial = "TARGET0001";
	std::string model = "nvmeof test target";
	std::string firmware = "1.0";
	std::uint32_t version = 0x10400;  // of NVMe, VS
	std::uint16_t queueEntries = 128; // CAP.MQES + 1
	std::uint16_t maxcmd = 0;         // 0: as many as the queue has entries
	std::uint16_t maxIoQueues = 64;
	std::uint32_t inCapsule = 8192;    // bytes of data in an I/O command capsule
	std::uint32_t maxH2cData = 131072; // bytes
	std::uint32_t r2tBytes = 131072;   // most that one R2T asks for
	std::uint32_t c2hBytes = 32768;    // most in one C2HData PDU
	std::uint8_t mdts = 8;             // 2^8 * 4 KiB = 1 MiB
	// Of the commands without data, CNS 06h; 0: no limit. Of a longer range no more is deallocated, and it is a
	// success all the same, as targets in use do it; longer Write Zeroes are refused.
	std::uint8_t discardRanges = 0;  // DMRL
	std::uint32_t rangeBlocks = 0;   // DMRSL
	std::uint64_t discardBlocks = 0; // DMSL
	std::uint8_t writeZeroes = 0;    // WZSL, 2^n * 4 KiB
	bool extendedFormats = false;    // CTRATT.ELBAS: a 64-bit guard is for hosts that know it
	bool allowDigests = true;
	bool allowSqflowOff = true;
	bool successFlag = true;       // used only where SQ flow control is off, as the specification demands
	bool successAlways = false;    // and there too where it is on, as targets in use do
	bool trafficKeepAlive = false; // CTRATT.TBKAS
	bool lateExpiry = false;       // the keep-alive timer is looked at once in each period only
	bool enforceKeepAlive = true;  // an association silent for longer than KATO is ended
	std::uint16_t kas = 10;        // granularity of the keep-alive timer, 100 ms units
	std::uint16_t quiesce = 0;     // CQT, ms
	std::uint8_t ccrLimit = 0;     // Cross-Controller Resets at once (CCRL); 0: none
	bool ana = false;
	std::uint32_t anaGroups = 4;     // NANAGRPID and ANAGRPMAX
	std::uint8_t anaTransition = 10; // ANATT, s
	std::uint32_t namespaces = 1024; // NN and MNAN
	bool reservations = false;       // all types, and persistent
	std::uint16_t awupf = 0;         // atomic writes: blocks - 1
	std::uint16_t nawupf = 0;        // likewise, of each namespace; 0: as AWUPF
	std::uint16_t nabspf = 0;        // boundary of them: blocks - 1; 0: none
	bool zoned = false;              // has the zoned command set: CAP.CSS
	bool keyValue = false;           // likewise the Key Value command set
	std::uint8_t zoneAppend = 0;     // ZASL, 2^n * 4 KiB; 0: MDTS
	std::uint8_t readyTimeout = 10;  // CAP.TO, 500 ms units
	std::uint16_t mtfa = 0;          // of firmware that is activated without a reset, 100 ms units; 0: it is not
	// The Commands Supported and Effects log, by opcode: the same for each command set but Key Value. Empty: there
	// is no log.
	std::map<std::uint8_t, std::uint32_t> ioEffects = {}, adminEffects = {}, keyEffects = {};
	bool hasEffects() const { return !ioEffects.empty() || !adminEffects.empty() || !keyEffects.empty(); }
	// Of its discovery controllers: whether they may be kept, with a keep-alive timer, and how long one that is not
	// kept stays without a command.
	bool centralized = false; // its discovery service takes registrations: TP8010
	bool persistentDiscovery = true;
	std::chrono::milliseconds discoveryIdle{120000};
};

using Clock = std::chrono::steady_clock;

} // namespace target
