// SPDX-License-Identifier: LGPL-2.1-or-later
// The daemon on the system bus: org.nvmeof.Daemon. Everybody may look; who may administrate the machine may change.
#pragma once

#include <systemd/sd-bus.h>

#include "daemon.h"
#include "serving/loop.h"
#include "system_bus.h"

namespace nvmeofd {

class Bus {
public:
	// Without a system bus the daemon does its work all the same, and looks for one again.
	Bus(serving::Loop &loop, Daemon &daemon);

	Daemon &daemon() { return daemon_; }

private:
	int offer(sd_bus *bus);
	void named(sd_bus_message *answer);
	void failed(const std::string &why);

	Daemon &daemon_;
	bool told_ = false; // that there is none
	SystemBus bus_;
};

} // namespace nvmeofd
