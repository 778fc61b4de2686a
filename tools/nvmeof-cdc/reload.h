// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A configuration that has changed, taken over while the service runs: unless a host would see less than half of its
 * targets by it, as with 'nvmeofctl cdc set', so that a mistake in the file does not hide storage from hosts.
 */
#pragma once

#include "impact.h"
#include "service.h"

namespace cdc {

enum class ReloadMode {
	judged, // refused where it hides more than half from a host
	forced,
	dryRun, // nothing is taken over
};

struct Reloaded {
	std::size_t records = 0;  // that the configuration changes at once
	std::vector<Loss> losses; // not with ReloadMode::forced
};

// @done comes later, or at once. Errors: it is refused, and everything stays as it was; the journal says which hosts
// would lose what.
void reload(Service &service, Rules rules, ReloadMode mode, std::function<void(const nvmeof::Result<Reloaded> &)> done);

} // namespace cdc
