// SPDX-License-Identifier: LGPL-2.1-or-later
// Disks that are gone, known from the metrics written last: the kernel forgets a disk with its last path.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <nvmeof/snapshot.h>

#include "serving/exposition.h"

struct LostObjects {
	std::vector<serving::Exposition::Labels> namespaces; // as of nvmeof_namespace_info
	std::uint64_t namespacesTotal = 0, pathsTotal = 0;   // since the file was begun
};

/*
 * @before: the text of an earlier prometheusText(), be it damaged. A namespace is lost that was there and is not, where
 * its subsystem has no live controller and at least one that is lost (ctrl-loss-tmo has passed), unless a controller
 * that was live is not there at all any more: then it went by a disconnect. It stays so until it
 * is there again, or no controller of its subsystem is left: somebody has disconnected.
 */
LostObjects findLost(std::string_view before, const nvmeof::Snapshot &now);
