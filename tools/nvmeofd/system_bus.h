// SPDX-License-Identifier: LGPL-2.1-or-later
// A connection to the system bus, restored periodically if it fails. All calls are asynchronous.
#pragma once

#include <functional>
#include <string>

#include <systemd/sd-bus.h>

#include "libctl/runtime/loop.h"

namespace nvmeofd {

class SystemBus {
public:
	// @opened: sets up the connection; returns a negative errno on failure
	// @lost: called when there is no connection, with the reason
	SystemBus(runtime::Loop &loop, std::function<int(sd_bus *)> opened,
		  std::function<void(const std::string &why)> lost);
	~SystemBus();
	SystemBus(const SystemBus &) = delete;
	SystemBus &operator=(const SystemBus &) = delete;

	sd_bus *get() const { return bus_; }
	// Reports the failure, and reconnects later.
	void giveUp(const std::string &why);

private:
	void open();
	int connect();
	void close();

	runtime::Loop &loop_;
	std::function<int(sd_bus *)> opened_;
	std::function<void(const std::string &)> lost_;
	sd_bus *bus_ = nullptr;
	runtime::Timer again_;
};

} // namespace nvmeofd
