// SPDX-License-Identifier: LGPL-2.1-or-later
// The discovery service: the ports of subsystems, and whatever else a test adds, as a log page tells them.
#pragma once

#include "association.h"
#include "wire.h"

namespace target {

constexpr const char *discovery_nqn = "nqn.2014-08.org.nvmexpress.discovery";
constexpr std::size_t discovery_block = 1024; // the header is as long as an entry

// Log page 70h; Base 2.0, 5.16
struct DiscoveryHeader {
	Le64 genctr;
	Le64 numrec;
	Le16 recfmt;
	std::uint8_t reserved[1006];
};
static_assert(sizeof(DiscoveryHeader) == discovery_block);

struct DiscoveryEntry {
	std::uint8_t trtype;
	std::uint8_t adrfam;
	std::uint8_t subtype;
	std::uint8_t treq;
	Le16 portid;
	Le16 cntlid;
	Le16 asqsz;
	Le16 eflags;
	std::uint8_t reserved[20];
	char trsvcid[32]; // padded with blanks, as is traddr
	std::uint8_t reserved2[192];
	char subnqn[256]; // padded with NUL
	char traddr[256];
	std::uint8_t tsas[256]; // of TCP: SECTYPE
};
static_assert(sizeof(DiscoveryEntry) == discovery_block);

enum TransportType : std::uint8_t { tr_rdma = 1, tr_fc = 2, tr_tcp = 3, tr_loop = 254 };
enum AddressFamily : std::uint8_t { fam_ipv4 = 1, fam_ipv6 = 2 };
enum SubsystemType : std::uint8_t { sub_referral = 1, sub_nvm = 2, sub_current = 3 };
enum Treq : std::uint8_t { treq_required = 1, treq_not_required = 2, treq_sqflow_off = 4 };
enum EntryFlag : std::uint16_t { ef_duplicate = 1, ef_persistent = 2 };

// Of a TCP port. address: numeric
DiscoveryEntry makeEntry(SubsystemType type, const std::string &nqn, const std::string &address, std::uint16_t port);

// Thread safe. Whatever changes the log also moves its generation counter and tells the hosts that want to know; what
// does not says so.
class Discovery {
public:
	// A unique NQN, which the service tells of itself; it is reached by the well-known one as well (TP8013).
	void setNqn(std::string nqn);
	std::string nqn() const;
	bool answersTo(const std::string &nqn) const;

	// Ports are in the log while they listen.
	void addPort(const Server &port);
	void removePort(const Server &port);
	// Anything, right or wrong, behind the ports
	void add(const std::vector<DiscoveryEntry> &entries);
	void refer(const std::string &address, std::uint16_t port);
	// Forgets what add() and refer() have brought.
	void clear();
	// No more entries than this, of all there are
	void setMost(std::size_t entries);
	// The first entry becomes the last. secretly: the generation counter stays, and nobody is told
	void rotate(bool secretly = false);

	std::uint64_t generation() const;
	// Without anything else
	void setGeneration(std::uint64_t generation);

	// The log as it is told by a port, in bytes, and some blocks of it: number 0 is the header. Those behind its
	// end are zero.
	std::uint64_t size(const Server &asked) const;
	std::vector<Bytes> blocks(const Server &asked, std::uint64_t first, std::uint64_t count) const;

	// Tells it of changes from now on, when it has asked to be told.
	void subscribe(const std::shared_ptr<Association> &host);

private:
	struct Port {
		const Server *server;
		DiscoveryEntry nvm, current;
	};

	template <class Fn> void change(Fn &&how);
	std::vector<DiscoveryEntry> fixed(const Server &asked) const;
	std::uint64_t countLocked(const Server &asked) const;
	bool knows(const Server &port) const;
	std::uint16_t freePortId() const;

	mutable std::mutex lock_;
	std::string nqn_ = discovery_nqn;
	std::vector<Port> ports_;
	std::vector<DiscoveryEntry> added_;
	std::size_t most_ = SIZE_MAX;
	std::size_t turned_ = 0;
	std::uint64_t generation_ = 1ull << 32; // not one that fits in less than it has
	std::vector<std::weak_ptr<Association>> hosts_;
};

} // namespace target
