// SPDX-License-Identifier: LGPL-2.1-or-later
#include "connect_defaults.h"

#include "configuration.h"
#include "connect_plan.h"
#include "context.h"

using namespace nvmeof;

void takeDefaults(Context &context, ConnectPlan &plan)
{
	Result<Config> config = readConfig();
	if (!config)
		return context.warn("", config.error(), configStep(config.error()));
	ConnectSettings settings = settingsOf(context.args());
	settings.complete(config->connectSettingsFor(plan.options.front().subsysnqn));
	for (ConnectOptions &options : plan.options)
		settings.apply(options);
}
