// SPDX-License-Identifier: LGPL-2.1-or-later
#include "udev.h"

#include <unistd.h>

#include <libudev.h>

namespace nofctl {

// Like sd-device clients: this socket exists while udevd runs.
bool udevRuns()
{
	return ::access("/run/udev/control", F_OK) == 0;
}

bool udevHandled(const std::string &disk)
{
	std::unique_ptr<udev, udev *(*)(udev *)> library(udev_new(), udev_unref);
	if (!library)
		return false;
	auto find = [&](const char *subsystem, const std::string &name) {
		return std::unique_ptr<udev_device, udev_device *(*)(udev_device *)>(
			udev_device_new_from_subsystem_sysname(library.get(), subsystem, name.c_str()),
			udev_device_unref);
	};
	auto device = find("block", disk);
	const char *hidden = device ? udev_device_get_sysattr_value(device.get(), "hidden") : nullptr;
	if (hidden && *hidden == '1')
		device = find("nvmeof-generic", "ng" + disk);
	if (!device || udev_device_get_is_initialized(device.get()) <= 0)
		return false;
	const char *node = udev_device_get_devnode(device.get());
	return node && ::access(node, F_OK) == 0;
}

void UdevMonitor::Free::operator()(udev *library) const
{
	udev_unref(library);
}

void UdevMonitor::Free::operator()(udev_monitor *monitor) const
{
	udev_monitor_unref(monitor);
}

std::optional<UdevMonitor> UdevMonitor::open()
{
	UdevMonitor opened;
	opened.library_.reset(udev_new());
	if (!opened.library_)
		return std::nullopt;
	opened.monitor_.reset(udev_monitor_new_from_netlink(opened.library_.get(), "udev"));
	if (!opened.monitor_ ||
	    udev_monitor_filter_add_match_subsystem_devtype(opened.monitor_.get(), "block", "disk") < 0 ||
	    udev_monitor_filter_add_match_subsystem_devtype(opened.monitor_.get(), "nvmeof-generic", nullptr) < 0 ||
	    udev_monitor_enable_receiving(opened.monitor_.get()) < 0)
		return std::nullopt;
	return opened;
}

int UdevMonitor::fd() const
{
	return udev_monitor_get_fd(monitor_.get());
}

void UdevMonitor::drain()
{
	while (udev_device *device = udev_monitor_receive_device(monitor_.get()))
		udev_device_unref(device);
}

} // namespace nofctl
