// SPDX-License-Identifier: LGPL-2.1-or-later
// The D-Bus interface of the daemon: org.nvmeof.Daemon. Every user may read; changes need administrator privileges.
#pragma once

#include <systemd/sd-bus.h>

#include "daemon.h"
#include "libctl/runtime/loop.h"
#include "system_bus.h"

namespace nvmeofd {

class Bus {
public:
	// Without a system bus the daemon works nevertheless, and tries again periodically.
	Bus(runtime::Loop &loop, Daemon &daemon);

	Daemon &daemon() { return daemon_; }

private:
	int offer(sd_bus *bus);
	void named(sd_bus_message *answer);
	void failed(const std::string &why);

	Daemon &daemon_;
	bool told_ = false; // the missing bus was logged
	SystemBus bus_;
};

} // namespace nvmeofd
