// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Applies a changed configuration at run time. As with 'nvmeofctl cdc record set', it is refused if any host would lose
 * more than half of its targets, so that a mistake in the file does not hide storage.
 */
#pragma once

#include "impact.h"
#include "service.h"

namespace cdc {

enum class ReloadMode {
	judged, // refused if a host would lose more than half of its targets
	forced,
	dryRun, // nothing is applied
};

struct Reloaded {
	std::size_t records = 0;  // changed at once by the configuration
	std::vector<Loss> losses; // not with ReloadMode::forced
};

// @done may be called at once. Errors: the configuration is refused and nothing changes; the journal lists the hosts
// and their losses.
void reload(Service &service, Rules rules, ReloadMode mode, std::function<void(const nvmeof::Result<Reloaded> &)> done);

} // namespace cdc
