// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>

#include <nvmeof/controller.h>

// A live controller of subsystem nqn.a, over TCP
inline nvmeof::Controller controllerAt(const std::string &name, const std::string &traddr)
{
	nvmeof::Controller one;
	one.name = name;
	one.transport = "tcp";
	one.subsysnqn = "nqn.a";
	one.traddr = traddr;
	one.trsvcid = "4420";
	one.state = nvmeof::ControllerState::live;
	return one;
}
