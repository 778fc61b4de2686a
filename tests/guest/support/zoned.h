// SPDX-License-Identifier: LGPL-2.1-or-later
// Zoned block devices in memory, and zone ioctls. Sectors are 512 bytes.
#pragma once

#include "block.h"
#include "shell.h"

#include <linux/blkzoned.h>
#include <sys/ioctl.h>

#include <cerrno>
#include <stdexcept>
#include <vector>

namespace guest {

struct NullZones {
	unsigned mib = 32;
	unsigned zoneMib = 1;
	unsigned capacityMib = 1;
	unsigned maxOpen = 0;
	unsigned maxActive = 0;
};

// A host-managed, memory-backed null_blk. nvmet requires that all zones are sequential.
class NullDisk {
public:
	explicit NullDisk(const NullZones &z, const std::string &name = "nullzoned")
		: name_(name), path_("/sys/kernel/config/nullb/" + name)
	{
		must("modprobe null_blk nr_devices=0 && mkdir -p " + path_);
		set("size", z.mib);
		set("blocksize", 512);
		set("memory_backed", 1);
		set("zoned", 1);
		set("zone_size", z.zoneMib);
		set("zone_capacity", z.capacityMib);
		set("zone_nr_conv", 0);
		set("zone_max_open", z.maxOpen);
		set("zone_max_active", z.maxActive);
		set("power", 1);
		if (!eventually([this] { return exists(device()); }, 5s))
			throw std::runtime_error("no " + device());
	}
	~NullDisk() { run("echo 0 > " + path_ + "/power; rmdir " + path_); }
	NullDisk(const NullDisk &) = delete;
	NullDisk &operator=(const NullDisk &) = delete;

	std::string device() const
	{
		return exists("/dev/" + name_) ? "/dev/" + name_ : "/dev/nullb" + readFile(path_ + "/index");
	}

private:
	void set(const char *attribute, unsigned value) const
	{
		writeFile(path_ + "/" + attribute, std::to_string(value));
	}

	std::string name_, path_;
};

// Returns 0 or a negative errno.
inline int manageZones(const Disk &disk, unsigned long request, std::uint64_t sector, std::uint64_t sectors)
{
	struct blk_zone_range range = {};
	range.sector = sector;
	range.nr_sectors = sectors;
	return ::ioctl(disk.fd(), request, &range) ? -errno : 0;
}

// Up to nr zones; empty with a negative errno in `error` on failure
inline std::vector<struct blk_zone> reportZones(const Disk &disk, std::uint64_t sector, unsigned nr,
						int *error = nullptr)
{
	std::vector<std::uint8_t> memory(sizeof(struct blk_zone_report) + nr * sizeof(struct blk_zone));
	auto *report = reinterpret_cast<struct blk_zone_report *>(memory.data());
	report->sector = sector;
	report->nr_zones = nr;
	int err = ::ioctl(disk.fd(), BLKREPORTZONE, report) ? -errno : 0;
	if (error)
		*error = err;
	return err ? std::vector<struct blk_zone>() : std::vector(report->zones, report->zones + report->nr_zones);
}

} // namespace guest
