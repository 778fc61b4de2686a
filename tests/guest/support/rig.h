// SPDX-License-Identifier: LGPL-2.1-or-later
// Base of most tests: one subsystem of the kernel's target with one namespace, on this machine
#pragma once

#include "host.h"
#include "loop.h"
#include "nvmet.h"

namespace guest {

struct RigOptions {
	std::uint64_t size = 64 << 20;
	unsigned blockSize = 512;
	std::string address = here();
	std::string netns = "";
	std::optional<std::uint32_t> inlineData = {};
	std::string tls = nvmet::PortOptions().tls;
};

struct Rig {
	Loop backing;
	nvmet::Subsystem subsystem;
	nvmet::Port port;
	Host host;

	explicit Rig(const RigOptions &o = {})
		: backing(o.size, o.blockSize), subsystem(testNqn),
		  port(1, o.address, 4420, {.netns = o.netns, .inlineData = o.inlineData, .tls = o.tls})
	{
		subsystem.addNamespace(1, backing.device());
		port.link(subsystem);
	}

	nvmeof::ConnectOptions options() const { return Host::options(port.address(), port.service()); }
	nvmeof::Controller connect() { return host.connect(options()); }
	std::string disk() { return host.disk(1); }
};

} // namespace guest
