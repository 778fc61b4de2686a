// SPDX-License-Identifier: LGPL-2.1-or-later
// State of udev's processing of block devices.
#pragma once

#include <memory>
#include <optional>
#include <string>

struct udev;
struct udev_monitor;

namespace nofctl {

// Whether udevd runs in this environment.
bool udevRuns();

// Whether the disk's node exists and udev has processed the disk, so that its links exist. For a hidden disk, its
// generic node is checked.
bool udevHandled(const std::string &disk);

// Reports when udev has processed a device. In a separate network namespace it may receive nothing.
class UdevMonitor {
public:
	static std::optional<UdevMonitor> open();

	int fd() const;
	void drain();

private:
	struct Free {
		void operator()(udev *library) const;
		void operator()(udev_monitor *monitor) const;
	};
	std::unique_ptr<udev, Free> library_;
	std::unique_ptr<udev_monitor, Free> monitor_;
};

} // namespace nofctl
