// SPDX-License-Identifier: LGPL-2.1-or-later
// Connect settings of the configuration, where the command line gives none.
#pragma once

struct ConnectPlan;
class Context;

// Takes the settings for the NQN of @plan. Reports an error in the configuration as a warning.
void takeDefaults(Context &context, ConnectPlan &plan);
