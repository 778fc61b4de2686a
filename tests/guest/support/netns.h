// SPDX-License-Identifier: LGPL-2.1-or-later
// Network namespaces, and links to them that can be slow, lossy or dead
#pragma once

#include "rdma.h"
#include "shell.h"

#include <optional>
#include <string>
#include <vector>

namespace guest {

// A named network namespace, removed with the object
class Netns {
public:
	explicit Netns(std::string name);
	~Netns();
	Netns(const Netns &) = delete;
	Netns &operator=(const Netns &) = delete;

	const std::string &name() const { return name_; }
	std::string run(const std::string &command) const; // in the namespace; throws as must() does

private:
	std::string name_;
};

// Moves the calling thread into a network namespace during its lifetime.
class InNetns {
public:
	explicit InNetns(const std::string &name);
	~InNetns();
	InNetns(const InNetns &) = delete;
	InNetns &operator=(const InNetns &) = delete;

private:
	int before_;
};

// A veth pair: NAMEh on this side with 10.N.0.1 and fd00:N::1, NAMEt in the namespace with .2 and ::2. In tests over
// RDMA, NAMEh is also an RDMA device, whose peer cannot answer: a black hole.
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

	// netem options, for both directions: "delay 20ms", "loss 100%"
	void impair(const std::string &how);
	void impairToTarget(const std::string &how); // one direction only
	void impairToHost(const std::string &how);
	// Drops packets from the target of this length and longer (bytes with IP header, a power of two). TCP still
	// acknowledges the host's data, but long answers are lost.
	void swallow(unsigned length);
	void swallowToTarget(unsigned length); // the same towards the target
	void setMtu(unsigned bytes);           // at both ends
	void loseFor(Millis time);             // drops packets to the target; one shell command, so hardly longer
	void hostDown();                       // the interface on this side
	void targetDown();                     // the interface in the namespace: no carrier on this side
	void repair();                         // reverts everything above except the MTU
	// The RDMA device of NAMEh, in tests over RDMA
	RdmaDevice &device() { return device_.value(); }

private:
	std::string farSide() const { return "-n " + netns_.name(); }
	void undoBy(const std::string &command);

	const Netns &netns_;
	std::string name_, number_;
	std::optional<RdmaDevice> device_;
	std::vector<std::string> undo_; // commands that repair() runs
};

} // namespace guest
