// SPDX-License-Identifier: LGPL-2.1-or-later
// What udev has done about block devices.
#pragma once

#include <memory>
#include <optional>
#include <string>

struct udev;
struct udev_monitor;

namespace nofctl {

// Whether a udevd handles devices here at all.
bool udevRuns();

// Whether the disk has its node, and udev is done with it: links are there. Of a hidden disk it is the generic node.
bool udevHandled(const std::string &disk);

// Tells when udev is done with some block device. In a network namespace of its own nothing may be heard.
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
