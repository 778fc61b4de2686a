// SPDX-License-Identifier: LGPL-2.1-or-later
// Two hosts on this machine, each with all paths to one scriptable target: two disks for one namespace
#pragma once

#include "stalled_writes.h"

#include <linux/pr.h>
#include <sys/ioctl.h>

#include <array>
#include <cerrno>

namespace guest {

// Each function returns 0, an enum pr_status or a negative errno.
struct PersistentReservations {
	int fd;

	int registerKey(std::uint64_t key, std::uint64_t old = 0, std::uint32_t flags = 0) const
	{
		pr_registration r{old, key, flags, 0};
		return result(::ioctl(fd, IOC_PR_REGISTER, &r));
	}
	int reserve(std::uint64_t key, pr_type type, std::uint32_t flags = 0) const
	{
		pr_reservation r{key, std::uint32_t(type), flags};
		return result(::ioctl(fd, IOC_PR_RESERVE, &r));
	}
	int release(std::uint64_t key, pr_type type) const
	{
		pr_reservation r{key, std::uint32_t(type), 0};
		return result(::ioctl(fd, IOC_PR_RELEASE, &r));
	}
	int preempt(std::uint64_t key, std::uint64_t victim, pr_type type, bool abort = false) const
	{
		pr_preempt p{key, victim, std::uint32_t(type), 0};
		return result(::ioctl(fd, abort ? IOC_PR_PREEMPT_ABORT : IOC_PR_PREEMPT, &p));
	}
	int clear(std::uint64_t key) const
	{
		pr_clear c{key, 0, 0};
		return result(::ioctl(fd, IOC_PR_CLEAR, &c));
	}

	static int result(int ret) { return ret < 0 ? -errno : ret; }
};

// Values of linux/pr.h since 6.4; on older kernels the driver returns the same.
constexpr int prConflict = 0x18, prPathFailed = 0x10000, prOutcomeUnknown = 0xe0000;

inline target::Config reserved()
{
	target::Config config;
	config.reservations = true;
	config.ana = true;
	config.kas = 1;
	return config;
}

struct TwoHosts {
	Ports ports;
	std::array<std::shared_ptr<Disk>, 2> disks;
	std::array<std::string, 2> names;
	std::array<target::HostId, 2> ids{};

	explicit TwoHosts(const target::Config &config = reserved())
		: ports(std::vector<target::Config>{config, config})
	{
		for (unsigned host : {0u, 1u}) {
			for (std::size_t port : {0u, 1u})
				connect(host, port);
			names[host] = nameOf(host);
			REQUIRE_FALSE(names[host].empty());
			disks[host] = std::make_shared<Disk>("/dev/" + names[host]);
			REQUIRE(both(host));
		}
	}

	static std::string nqnOf(unsigned host) { return "nqn.2024-01.io.nvmeof:host" + std::to_string(host); }
	static std::string idOf(unsigned host)
	{
		return "6f1b2c3d-0000-4000-8000-00000000000" + std::to_string(host + 1);
	}

	nvmeof::ConnectOptions options(unsigned host, std::size_t port)
	{
		auto o = ports.options(port);
		o.hostnqn = nqnOf(host);
		o.hostid = nvmeof::Uuid::parse(idOf(host));
		return o;
	}
	void connect(unsigned host, std::size_t port)
	{
		auto c = ports.host.connect(options(host, port));
		for (auto &a : ports.subsystem().associations().all())
			if (a->hostnqn == nqnOf(host))
				ids[host] = a->hostid;
	}

	std::uint32_t subsystemOf(unsigned host)
	{
		for (auto &s : take(ports.host.client().subsystems()))
			if (s.hostnqn == nqnOf(host))
				return s.id;
		throw std::runtime_error("no subsystem");
	}
	std::string nameOf(unsigned host)
	{
		std::string found;
		eventually(
			[&] {
				for (auto &ns : take(ports.host.client().namespaces()))
					if (ns.subsystem == subsystemOf(host) && exists("/dev/" + ns.name))
						found = ns.name;
				return !found.empty();
			},
			10s);
		return found;
	}
	std::vector<nvmeof::Path> pathsOf(unsigned host)
	{
		std::vector<nvmeof::Path> own;
		for (auto &p : ports.host.paths())
			if (p.nameSpace == names[host])
				own.push_back(p);
		return own;
	}
	bool usable(unsigned host, std::uint32_t count)
	{
		return eventually(
			[&] {
				auto paths = pathsOf(host);
				return std::ranges::count_if(paths, [](auto &p) { return p.usable; }) == count;
			},
			20s);
	}
	bool both(unsigned host) { return usable(host, 2); }
	// Requests that were retried or moved to another path
	std::uint64_t failovers(unsigned host)
	{
		std::uint64_t sum = 0;
		for (auto &p : pathsOf(host))
			sum += p.failoversFrom + p.retries;
		return sum;
	}

	PersistentReservations pr(unsigned host) const { return {disks[host]->fd()}; }
	target::Reservations &reservations() { return ports.store().reservations(); }
	int write(unsigned host, std::uint64_t offset, std::uint32_t seed) const
	{
		return writeTo(*disks[host], offset, seed);
	}
	int read(unsigned host, std::uint64_t offset) const
	{
		Buffer buffer(length);
		return disks[host]->read(offset, buffer);
	}
};

} // namespace guest
