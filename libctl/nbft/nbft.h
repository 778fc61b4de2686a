// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What firmware that has booted over NVMe/TCP has left: who this host is, which of its interfaces it has used, and what
 * it was connected to. NVM Express Boot Specification 1.0, chapter 3.
 */
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

// Texts are printable ASCII; empty: the firmware has said nothing.
struct Host {
	std::string nqn;
	std::optional<nvmeof::Uuid> id;
	bool nqnConfigured = false, idConfigured = false; // by somebody; else the firmware's own
	bool selected = false;                            // of several tables the one to go by
};

struct Interface {
	unsigned index = 0;
	std::string mac;   // "52:54:00:12:34:56"
	unsigned vlan = 0; // 0: none
	std::string address, gateway, dhcpServer;
	unsigned prefix = 0;          // bits of the network part of address
	std::vector<std::string> dns; // in the order in which to ask
	bool dhcp = false;            // all this came by DHCP
	bool defaultRoute = false;    // the firmware's default route went over it
	unsigned metric = 0;          // of routes over it; 0: none
	std::string hostName;
};

struct Security {
	unsigned index = 0;
	bool authentication = false, channel = false; // the subsystem wants it
};

struct Discovery {
	unsigned index = 0, interface = 0;
	std::string uri;
	std::string nqn; // empty: the one that all go by
	std::optional<unsigned> security;
};

enum class Availability { unknown, available, unavailable };

const char *toString(Availability availability); // "unknown", "available", "unavailable"

struct Namespace {
	unsigned index = 0;
	nvmeof::Address address; // of the subsystem's port
	std::string subsysnqn;
	unsigned portId = 0;
	std::uint32_t nsid = 0; // 0: id tells
	std::string idType;     // "eui64", "nguid", "uuid"
	std::string id;         // as the kernel writes it in sysfs
	std::vector<unsigned> interfaces;
	std::optional<unsigned> discovery, security;
	bool bootable = true;
	bool discovered = false; // by a discovery service; else it was configured
	Availability availability = Availability::unknown;
	bool hdrDigest = false, dataDigest = false;
	unsigned cntlid = 0, adminQueueSize = 0; // 0: not told
	bool dhcp = false;                       // DHCP has named it, by
	std::string dhcpRootPath;
};

struct BootTable {
	std::string file; // where it was read
	std::string oem;  // who made it
	unsigned major = 0, minor = 0;
	Host host;
	std::vector<Interface> interfaces;
	std::vector<Security> securities;
	std::vector<Discovery> discoveries;
	std::vector<Namespace> namespaces;
	std::vector<std::string> problems; // what is left out, or odd: "subsystem 2: it has no NQN"

	const Interface *interface(unsigned index) const; // null: there is none
	const Security *security(unsigned index) const;
};

inline constexpr std::size_t largestTable = 1 << 20; // bytes; of a file no more is read

// An entry that is of no use is left out, and told of; one in the header, the control or the host descriptor, or a list
// that is not within the table: invalid.
nvmeof::Result<BootTable> parse(std::span<const std::uint8_t> bytes);

inline constexpr const char *usualFolder = "/sys/firmware/acpi/tables";

// NBFT, NBFT1, ... in @folder, in that order
std::vector<std::string> filesIn(const std::filesystem::path &folder = usualFolder);
// noSuchObject, notPermitted; invalid, with the file's name.
nvmeof::Result<BootTable> read(const std::string &file);

// A network interface of this machine
struct Link {
	std::string name;
	std::vector<std::string> addresses; // numeric, without scope
	std::string mac;
};

std::vector<Link> linksOfMachine();

struct Path {
	nvmeof::ConnectOptions options; // to, as whom, from where, with which digests; the rest is for others to say
	const BootTable *table = nullptr;
	std::vector<unsigned> namespaces; // entries of the table that are reached by it
};

// An entry that is not to be connected to, and why
struct Skipped {
	const BootTable *table = nullptr;
	unsigned index = 0;
	std::string subsysnqn, reason;
};

struct Paths {
	std::vector<Path> paths; // each association once
	std::vector<Skipped> skipped;
	std::vector<std::string> notes; // what is otherwise than the table says
};

/*
 * What is to be connected to by @tables, which have to outlive it: from the address of each interface that an entry
 * names or, where its card has another one now, through that card. Where none of them is there, once, from wherever
 * the kernel likes. @all: also what the firmware could not reach.
 */
Paths pathsOf(std::span<const BootTable> tables, std::span<const Link> links, bool all = false);

} // namespace nofctl::nbft
