// SPDX-License-Identifier: LGPL-2.1-or-later
// The daemon on the system bus: org.nvmeof.Daemon. Everybody may look; who may administrate the machine may change.
#pragma once

#include <systemd/sd-bus.h>

#include "daemon.h"
#include "loop.h"

namespace nvmeofd {

class Bus {
public:
	// Without a system bus the daemon does its work all the same, and looks for one again.
	Bus(Loop &loop, Daemon &daemon);
	~Bus();
	Bus(const Bus &) = delete;
	Bus &operator=(const Bus &) = delete;

	Daemon &daemon() { return daemon_; }

private:
	void open();
	int offer();
	void named(sd_bus_message *answer);
	void failed(const char *why);
	void close();

	Loop &loop_;
	Daemon &daemon_;
	sd_bus *bus_ = nullptr;
	bool told_ = false; // that there is none
	Timer again_;
};

} // namespace nvmeofd
