// SPDX-License-Identifier: LGPL-2.1-or-later
// The in-tree driver, by nvme-cli.
#pragma once

#include "host.h"
#include "transport.h"

#include <string>

namespace guest {

// Until udev has taken notice of what there is; for nothing where it does not run.
inline void settle()
{
	must("udevadm settle");
}

// Connected to a subsystem, until it goes.
class InTree {
public:
	explicit InTree(std::string address = here(), std::string nqn = testNqn);
	~InTree();
	InTree(const InTree &) = delete;
	InTree &operator=(const InTree &) = delete;

	void connect();                           // throws
	void addPath(const std::string &address); // another one to the same subsystem
	void disconnect();
	std::string disk() const; // nvme0n1; empty: none
	std::string controller() const;
	std::string state() const; // of that one
	unsigned controllers() const;

private:
	std::string entry(const std::string &pattern) const;

	std::string nqn_, address_;
};

} // namespace guest
