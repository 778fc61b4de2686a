// SPDX-License-Identifier: LGPL-2.1-or-later
// What the command line does not say of how to connect, and the configuration does.
#pragma once

struct ConnectPlan;
class Context;

// By the NQN of the plan. What is wrong with the configuration is a warning.
void takeDefaults(Context &context, ConnectPlan &plan);
