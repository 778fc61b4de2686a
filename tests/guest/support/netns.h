// SPDX-License-Identifier: LGPL-2.1-or-later
// Network namespaces, and links to them that can be made slow, lossy or dead.
#pragma once

#include "rdma.h"
#include "shell.h"

#include <optional>
#include <string>
#include <vector>

namespace guest {

// A network namespace by name, removed with the object.
class Netns {
public:
	explicit Netns(std::string name);
	~Netns();
	Netns(const Netns &) = delete;
	Netns &operator=(const Netns &) = delete;

	const std::string &name() const { return name_; }
	std::string run(const std::string &command) const; // inside it; throws as must()

private:
	std::string name_;
};

// The calling thread is inside a network namespace as long as this lives.
class InNetns {
public:
	explicit InNetns(const std::string &name);
	~InNetns();
	InNetns(const InNetns &) = delete;
	InNetns &operator=(const InNetns &) = delete;

private:
	int before_;
};

// A pair of virtual interfaces: NAMEh here with 10.N.0.1 and fd00:N::1, NAMEt in the namespace with .2 and ::2. Where
// tests are over RDMA, NAMEh is an RDMA device too: nobody can answer there, as in a black hole.
class Link {
public:
	Link(const Netns &netns, std::string name, unsigned number);
	~Link();
	Link(const Link &) = delete;
	Link &operator=(const Link &) = delete;

	std::string hostIface() const { return name_ + "h"; }
	std::string hostAddress() const { return "10." + number_ + ".0.1"; }
	std::string targetAddress() const { return "10." + number_ + ".0.2"; }
	std::string hostAddress6() const { return "fd00:" + number_ + "::1"; }
	std::string targetAddress6() const { return "fd00:" + number_ + "::2"; }

	// netem's own words, in both directions: "delay 20ms", "loss 100%"
	void impair(const std::string &how);
	void impairToTarget(const std::string &how); // one direction only
	void impairToHost(const std::string &how);
	// What comes from the target and is this long (bytes with the IP header, a power of two) is lost, so that TCP
	// acknowledges what the host sends and nothing, or nothing long, is answered.
	void swallow(unsigned length);
	void swallowToTarget(unsigned length); // the same of what goes to the target
	void setMtu(unsigned bytes);           // of both ends
	void loseFor(Millis time);             // what goes to the target, by one shell: it takes little longer
	void hostDown();                       // the interface here
	void targetDown();                     // the one in the namespace: here, it has no carrier
	void repair();                         // everything above but the MTU
	// That of the interface here, where tests are over RDMA
	RdmaDevice &device() { return device_.value(); }

private:
	std::string farSide() const { return "-n " + netns_.name(); }
	void undoBy(const std::string &command);

	const Netns &netns_;
	std::string name_, number_;
	std::optional<RdmaDevice> device_;
	std::vector<std::string> undo_; // what repair() has to do
};

} // namespace guest
