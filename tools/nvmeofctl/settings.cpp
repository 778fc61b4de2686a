// SPDX-License-Identifier: LGPL-2.1-or-later
#include "settings.h"

#include <fmt/format.h>

#include "args.h"

using namespace nvmeof;

Result<Settings> parseSettings(ObjectKind kind, const std::vector<std::string> &words)
{
	if (kind == ObjectKind::subsystem) {
		Result<SubsystemSettings> parsed = parseSubsystemSettings(words);
		return parsed ? Result<Settings>(Settings(*parsed)) : Result<Settings>(parsed.error());
	}
	if (kind == ObjectKind::controller) {
		Result<ControllerSettings> parsed = parseControllerSettings(words);
		return parsed ? Result<Settings>(Settings(*parsed)) : Result<Settings>(parsed.error());
	}
	return usageError(fmt::format("a {} has no settings", toString(kind)));
}
