// SPDX-License-Identifier: LGPL-2.1-or-later
// A disk with two paths to a namespace whose format is set before the host connects.
#pragma once

#include "support/reproduce.h"
#include "support/ports.h"

#include <sys/utsname.h>

#include <algorithm>
#include <cstdio>

namespace guest::formats {

constexpr std::uint64_t mib = 1 << 20;

inline bool kernelFrom(int major, int minor)
{
	utsname kernel{};
	int isMajor = 0, isMinor = 0;
	REQUIRE(::uname(&kernel) == 0);
	REQUIRE(std::sscanf(kernel.release, "%d.%d", &isMajor, &isMinor) == 2);
	return std::pair(isMajor, isMinor) >= std::pair(major, minor);
}

inline target::Config plain()
{
	target::Config config;
	config.ana = true;
	return config;
}

struct Scene {
	Ports ports;
	std::string node;
	std::shared_ptr<Disk> disk;

	explicit Scene(const std::function<void(target::Store &)> &prepare = {}, const target::Config &config = plain())
		: ports(std::vector<target::Config>{config, config})
	{
		if (prepare)
			prepare(ports.store());
		ports.connectAll();
		node = ports.disk();
		REQUIRE_FALSE(node.empty());
		disk = std::make_shared<Disk>(node);
		REQUIRE(both());
	}
	std::uint32_t usable()
	{
		auto paths = ports.host.paths();
		return static_cast<std::uint32_t>(std::ranges::count_if(paths, [](auto &p) { return p.usable; }));
	}
	bool both()
	{
		return eventually([this] { return usable() == 2; }, 20s);
	}
	std::string sysfs(const std::string &attribute) const
	{
		return readFile("/sys/block/" + node.substr(5) + "/" + attribute);
	}
	std::string queue(const std::string &attribute) const { return sysfs("queue/" + attribute); }
	std::optional<nvmeof::Namespace> ns() { return ports.host.nameSpace(1, ports[0].config().nqn); }
};

} // namespace guest::formats
