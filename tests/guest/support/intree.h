// SPDX-License-Identifier: LGPL-2.1-or-later
// The in-tree driver, through nvme-cli
#pragma once

#include "host.h"
#include "transport.h"

#include <string>

namespace guest {

// Waits for udev to process pending events; does nothing if it does not run.
inline void settle()
{
	must("udevadm settle");
}

// A connection to a subsystem during the object's lifetime
class InTree {
public:
	explicit InTree(std::string address = here(), std::string nqn = testNqn);
	~InTree();
	InTree(const InTree &) = delete;
	InTree &operator=(const InTree &) = delete;

	void connect();                           // throws
	void addPath(const std::string &address); // another path to the same subsystem
	void disconnect();
	std::string disk() const; // nvme0n1; empty: none
	std::string controller() const;
	std::string state() const; // of that controller
	unsigned controllers() const;

private:
	std::string entry(const std::string &pattern) const;

	std::string nqn_, address_;
};

} // namespace guest
