// SPDX-License-Identifier: LGPL-2.1-or-later
// A snapshot of two subsystems: nvmeof0 with two namespaces over two controllers, nvmeof1 with one namespace over one
// controller.
#pragma once

#include <nvmeof/snapshot.h>

inline nvmeof::Subsystem subsystemOf(std::uint32_t id, const char *nqn)
{
	nvmeof::Subsystem s;
	s.id = id;
	s.name = "nvmeof" + std::to_string(id);
	s.nqn = nqn;
	s.hostnqn = "nqn.host";
	s.iopolicy = "latency";
	return s;
}

inline nvmeof::Controller controllerOf(std::uint32_t subsystem, std::uint32_t id, const char *traddr)
{
	nvmeof::Controller c;
	c.subsystem = subsystem;
	c.id = id;
	c.name = "nvmeof" + std::to_string(subsystem) + "c" + std::to_string(id);
	c.subsysnqn = subsystem ? "nqn.b" : "nqn.a";
	c.transport = "tcp";
	c.traddr = traddr;
	c.trsvcid = "4420";
	c.state = nvmeof::ControllerState::live;
	return c;
}

inline nvmeof::Namespace namespaceOf(std::uint32_t subsystem, std::uint32_t nsid, std::uint32_t paths)
{
	nvmeof::Namespace n;
	n.subsystem = subsystem;
	n.nsid = nsid;
	n.name = "nvmeof" + std::to_string(subsystem) + "n" + std::to_string(nsid);
	n.size = 1000000000;
	n.paths = n.usablePaths = paths;
	return n;
}

inline nvmeof::Path pathOf(const nvmeof::Controller &controller, std::uint32_t nsid, std::uint64_t ios)
{
	nvmeof::Path p;
	p.controller = controller.name;
	p.nameSpace = "nvmeof" + std::to_string(controller.subsystem) + "n" + std::to_string(nsid);
	p.name = controller.name + "n" + std::to_string(nsid);
	p.nsid = nsid;
	p.controllerState = controller.state;
	p.anaState = nvmeof::AnaState::optimized;
	p.usable = true;
	p.ios = ios;
	p.bytesRead = ios * 4096;
	p.readLatency[7] = ios;
	return p;
}

inline nvmeof::Snapshot exampleSnapshot()
{
	using namespace std::chrono_literals;
	nvmeof::Snapshot s;
	s.time = 1000s;
	s.subsystems = {subsystemOf(0, "nqn.a"), subsystemOf(1, "nqn.b")};
	s.controllers = {controllerOf(0, 1, "10.0.0.1"), controllerOf(0, 2, "fd00::2"), controllerOf(1, 1, "10.0.1.1")};
	s.namespaces = {namespaceOf(0, 1, 2), namespaceOf(0, 2, 2), namespaceOf(1, 1, 1)};
	s.paths = {pathOf(s.controllers[0], 1, 100), pathOf(s.controllers[0], 2, 20), pathOf(s.controllers[1], 1, 300),
		   pathOf(s.controllers[1], 2, 0), pathOf(s.controllers[2], 1, 7)};
	return s;
}
