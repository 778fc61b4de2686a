// SPDX-License-Identifier: LGPL-2.1-or-later
// The discovery service: its log page has the ports of the subsystems and entries that a test adds.
#pragma once

#include "association.h"
#include "wire.h"

namespace target {

// Thread-safe. Each change of the log increments the generation counter and sends an event to subscribed hosts, unless
// a function says otherwise.
class Discovery {
public:
	// Sets the unique NQN that the service reports (TP8013); it also answers to the well-known NQN.
	void setNqn(std::string nqn);
	std::string nqn() const;
	bool answersTo(const std::string &nqn) const;

	// Ports are in the log while they listen.
	void addPort(const Server &port);
	void removePort(const Server &port);
	// Appends arbitrary entries, valid or not, after the ports.
	void add(const std::vector<DiscoveryEntry> &entries);
	void refer(const std::string &address, std::uint16_t port);
	// Removes the entries of add() and refer().
	void clear();
	// Limits the log to this many entries.
	void setEntryLimit(std::size_t entries);
	// Moves the first entry to the end. secretly: neither changes the generation counter nor sends an event.
	void rotate(bool secretly = false);

	std::uint64_t generation() const;
	// Sets only the counter; sends no event.
	void setGeneration(std::uint64_t generation);

	// The log as returned by a port: its size in bytes, and blocks of it; block 0 is the header. Blocks beyond the
	// end are zero.
	std::uint64_t size(const Server &asked) const;
	std::vector<Bytes> blocks(const Server &asked, std::uint64_t first, std::uint64_t count) const;

	// Adds or updates the registration of a host, by host NQN.
	void registerHost(const Registration &host);
	std::vector<Registration> registered() const;
	void forgetHosts();
	// The next `count` registrations complete with Command Interrupted.
	void interruptRegistrations(unsigned count);
	bool consumeInterruption(); // consumes one of them

	// Sends events about later changes if the host has enabled them.
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
	std::string nqn_ = wellKnownDiscoveryNqn;
	std::vector<Port> ports_;
	std::vector<DiscoveryEntry> added_;
	std::size_t entryLimit_ = SIZE_MAX;
	std::size_t rotation_ = 0;
	std::uint64_t generation_ = 1ull << 32; // does not fit into 32 bits
	std::vector<std::weak_ptr<Association>> hosts_;
	std::map<std::string, Registration> registered_;
	unsigned interruptions_ = 0; // remaining
};

} // namespace target
