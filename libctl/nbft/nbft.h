// SPDX-License-Identifier: LGPL-2.1-or-later
// The NVMe Boot Firmware Table (NBFT), which firmware provides after booting over NVMe/TCP: host identity, network
// interfaces, and the connected subsystems. NVM Express Boot Specification 1.0, chapter 3.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nvmeof/connect.h>
#include <nvmeof/result.h>

namespace nofctl::nbft {

// Strings are printable ASCII; empty: not specified by the firmware.
struct Host {
	std::string nqn;
	std::optional<nvmeof::Uuid> id;
	bool nqnConfigured = false, idConfigured = false; // set by an administrator; otherwise the firmware's default
	bool selected = false;                            // primary host descriptor of several tables
};

struct Interface {
	unsigned index = 0;
	std::string mac;   // "52:54:00:12:34:56"
	unsigned vlan = 0; // 0: none
	std::string address, gateway, dhcpServer;
	unsigned prefix = 0;          // prefix length of address
	std::vector<std::string> dns; // in order of preference
	bool dhcp = false;            // configured by DHCP
	bool defaultRoute = false;    // had the firmware's default route
	unsigned metric = 0;          // route metric; 0: none
	std::string hostName;
};

struct Security {
	unsigned index = 0;
	bool authentication = false, channel = false; // required by the subsystem
};

struct Discovery {
	unsigned index = 0, interface = 0;
	std::string uri;
	std::string nqn; // empty: the well-known discovery NQN
	std::optional<unsigned> security;
};

enum class Availability { unknown, available, unavailable };

const char *toString(Availability availability); // "unknown", "available", "unavailable"

struct Namespace {
	unsigned index = 0;
	nvmeof::Address address; // of the subsystem port
	std::string subsysnqn;
	unsigned portId = 0;
	std::uint32_t nsid = 0; // 0: use id
	std::string idType;     // "eui64", "nguid", "uuid"
	std::string id;         // formatted as in sysfs
	std::vector<unsigned> interfaces;
	std::optional<unsigned> discovery, security;
	bool bootable = true;
	bool discovered = false; // found through a discovery service; otherwise configured
	Availability availability = Availability::unknown;
	bool hdrDigest = false, dataDigest = false;
	unsigned cntlid = 0, adminQueueSize = 0; // 0: not specified
	bool dhcp = false;                       // from a DHCP root path:
	std::string dhcpRootPath;
};

struct BootTable {
	std::string file; // path of the table's file
	std::string oem;  // OEM ID in the header
	unsigned major = 0, minor = 0;
	Host host;
	std::vector<Interface> interfaces;
	std::vector<Security> securities;
	std::vector<Discovery> discoveries;
	std::vector<Namespace> namespaces;
	std::vector<std::string> problems; // ignored or unusual entries: "subsystem 2: it has no NQN"

	const Interface *interface(unsigned index) const; // null: no such interface
	const Security *security(unsigned index) const;
};

inline constexpr std::size_t maxTableSize = 1 << 20; // bytes; limit for reading a file

// Invalid entries are left out and listed in BootTable::problems. Errors: invalid, if the header, the control or host
// descriptor, or the position of a list is invalid.
nvmeof::Result<BootTable> parse(std::span<const std::uint8_t> bytes);

inline constexpr const char *usualFolder = "/sys/firmware/acpi/tables";

// Paths of NBFT, NBFT1, ... in @folder, in that order
std::vector<std::string> filesIn(const std::filesystem::path &folder = usualFolder);
// Errors: noSuchObject, notPermitted; failed with EFBIG, if the file exceeds maxTableSize; invalid, if it is not a
// valid table. The message contains the file name.
nvmeof::Result<BootTable> read(const std::string &file);

// A network interface of this machine
struct Link {
	std::string name;
	std::vector<std::string> addresses; // numeric, without scopes
	std::string mac;
};

std::vector<Link> linksOfMachine();

struct Path {
	nvmeof::ConnectOptions options; // address, identity, local address and digests; other options are not set
	const BootTable *table = nullptr;
	std::vector<unsigned> namespaces; // indexes of the table entries that use this path
};

// An entry that must not be connected to, with the reason
struct Skipped {
	const BootTable *table = nullptr;
	unsigned index = 0;
	std::string subsysnqn, reason;
};

struct Paths {
	std::vector<Path> paths; // no duplicate associations
	std::vector<Skipped> skipped;
	std::vector<std::string> notes; // differences between the tables and this machine
};

/*
 * The connections for @tables; the result refers to these. For each interface of an entry, connects from the address of
 * that interface or, if the NIC has another address now, through that NIC. If no interface exists, makes one connection
 * with default routing. @all: includes subsystems that the firmware could not reach.
 */
Paths pathsOf(std::span<const BootTable> tables, std::span<const Link> links, bool all = false);

} // namespace nofctl::nbft
