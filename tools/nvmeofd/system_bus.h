// SPDX-License-Identifier: LGPL-2.1-or-later
// A connection to the system bus, which is looked for again when there is none. Nothing waits for its answers.
#pragma once

#include <functional>
#include <string>

#include <systemd/sd-bus.h>

#include "serving/loop.h"

namespace nvmeofd {

class SystemBus {
public:
	// @opened: sets up what is wanted of it; a negative errno is a failure.
	// @lost: why there is none, or none any more
	SystemBus(serving::Loop &loop, std::function<int(sd_bus *)> opened,
		  std::function<void(const std::string &why)> lost);
	~SystemBus();
	SystemBus(const SystemBus &) = delete;
	SystemBus &operator=(const SystemBus &) = delete;

	sd_bus *get() const { return bus_; }
	// It is of no use as it is: opened anew some time later.
	void giveUp(const std::string &why);

private:
	void open();
	int connect();
	void close();

	serving::Loop &loop_;
	std::function<int(sd_bus *)> opened_;
	std::function<void(const std::string &)> lost_;
	sd_bus *bus_ = nullptr;
	serving::Timer again_;
};

} // namespace nvmeofd
