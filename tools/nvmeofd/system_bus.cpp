// SPDX-License-Identifier: LGPL-2.1-or-later
#include "system_bus.h"

#include <cstring>

#include "libctl/base/jitter.h"

using namespace std::chrono_literals;

namespace nvmeofd {

using namespace runtime;

namespace {

constexpr std::chrono::milliseconds lookAgain = 30s;

} // namespace

SystemBus::SystemBus(Loop &loop, std::function<int(sd_bus *)> opened, std::function<void(const std::string &why)> lost)
	: loop_(loop), opened_(std::move(opened)), lost_(std::move(lost)), again_(loop, [this] { open(); })
{
	open();
}

SystemBus::~SystemBus()
{
	close();
}

void SystemBus::close()
{
	if (bus_)
		sd_bus_close_unref(bus_);
	bus_ = nullptr;
}

int SystemBus::connect()
{
	int result = sd_bus_open_system(&bus_);
	if (result >= 0)
		result = sd_bus_attach_event(bus_, loop_.event(), SD_EVENT_PRIORITY_NORMAL);
	if (result >= 0)
		result = sd_bus_match_signal(
			bus_, nullptr, nullptr, "/org/freedesktop/DBus/Local", "org.freedesktop.DBus.Local",
			"Disconnected",
			[](sd_bus_message *, void *data, sd_bus_error *) {
				static_cast<SystemBus *>(data)->giveUp("the connection to the bus was lost");
				return 0;
			},
			this);
	if (result >= 0)
		result = opened_(bus_);
	return result;
}

void SystemBus::giveUp(const std::string &why)
{
	lost_(why);
	again_.start(nofctl::jittered(lookAgain));
}

void SystemBus::open()
{
	close();
	int result = connect();
	if (result < 0)
		giveUp(strerror(-result));
}

} // namespace nvmeofd
