// SPDX-License-Identifier: LGPL-2.1-or-later
// The discovery service: the ports of subsystems, and whatever else a test adds, as a log page tells them.
#pragma once

#include "association.h"
#include "wire.h"

namespace target {

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

	// A host has registered, or told anew; by its NQN
	void registerHost(const Registration &host);
	std::vector<Registration> registered() const;
	void forgetHosts();
	// The next ones are answered with Command Interrupted.
	void interruptRegistrations(unsigned count);
	bool interruptsRegistration(); // one of these

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
	std::map<std::string, Registration> registered_;
	unsigned interruptions_ = 0; // to come
};

} // namespace target
