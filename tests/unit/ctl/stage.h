// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <set>

#include <nvmeof/client.h>

#include "kernel.h"

// A kernel that creates controllers in sequence, and removes them on request.
struct Stage {
	FakeKernel kernel;
	std::set<std::string> removed;
	int made = 0;

	Stage()
	{
		kernel.on(NVMEOF_CMD_CTRL_NEW, [this](const Asked &asked) {
			std::string name = "nvmeof0c" + std::to_string(++made);
			auto object = controllerOf(name.c_str(), NVMEOF_CTRL_CONNECTING);
			kernel.controllers[name] = object;
			kernel.data(asked, NVMEOF_CMD_CTRL_NEW, *object);
			kernel.acknowledge(asked);
		});
		kernel.on(NVMEOF_CMD_CTRL_DEL, [this](const Asked &asked) {
			std::string name = asked.text(NVMEOF_A_CTRL_NAME);
			if (!kernel.controllers.erase(name))
				return kernel.fail(asked, ENODEV);
			removed.insert(name);
			kernel.acknowledge(asked);
		});
	}

	nvmeof::Client open() { return *nvmeof::Client::open(); }

	void live(const char *name, std::uint32_t scans)
	{
		auto object = controllerOf(name, NVMEOF_CTRL_LIVE);
		object->u32(NVMEOF_A_SCANS, scans);
		kernel.controllers[name] = object;
		auto told = controllerOf(name, NVMEOF_CTRL_LIVE);
		told->u32(NVMEOF_A_SCANS, scans);
		kernel.event(NVMEOF_CMD_CTRL_NTF, scans ? NVMEOF_EVENT_SCANNED : NVMEOF_EVENT_STATE, *told);
	}
	void failed(const char *name, std::uint32_t sysErrno)
	{
		kernel.controllers.erase(name);
		auto attempt = controllerOf(name, NVMEOF_CTRL_CONNECTING),
		     gone = controllerOf(name, NVMEOF_CTRL_DELETING);
		attempt->u32(NVMEOF_A_LAST_ERRNO, sysErrno);
		kernel.event(NVMEOF_CMD_CTRL_NTF, NVMEOF_EVENT_CONNECT_FAILED, *attempt);
		kernel.event(NVMEOF_CMD_CTRL_NTF, NVMEOF_EVENT_REMOVED, *gone);
	}
	void disk(const char *path, const char *controller, const char *ns, std::uint32_t nsid)
	{
		kernel.namespaces[ns] = namespaceOf(ns, nsid);
		kernel.paths[path] = pathOf(path, controller, ns, nsid);
		auto told = pathOf(path, controller, ns, nsid);
		kernel.event(NVMEOF_CMD_PATH_NTF, NVMEOF_EVENT_ADDED, *told);
	}
};
