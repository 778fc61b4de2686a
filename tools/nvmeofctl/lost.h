// SPDX-License-Identifier: LGPL-2.1-or-later
// Finds lost disks by the metrics written before: the kernel forgets a disk when its last path is removed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <nvmeof/snapshot.h>

#include "libctl/runtime/exposition.h"

struct LostObjects {
	std::vector<runtime::Exposition::Labels> namespaces; // labels of nvmeof_namespace_info
	std::uint64_t namespacesTotal = 0, pathsTotal = 0;   // since the file was created
};

/*
 * @before: the text of an earlier prometheusText(), which may be damaged. A namespace is lost if it is in @before but
 * not in @now, and its subsystem has a lost controller (ctrl-loss-tmo has expired) and no live one. It is not lost if a
 * controller that was live no longer exists, because then it was disconnected. A namespace stays lost until it returns,
 * or until its subsystem has no controller left, which means that it was disconnected.
 */
LostObjects findLost(std::string_view before, const nvmeof::Snapshot &now);
