// SPDX-License-Identifier: LGPL-2.1-or-later
// The commands with verbs, for the table in commands.cpp.
#pragma once

#include "command.h"

Command volumeCommand();
Command daemonCommand();
Command cdcCommand();
Command gdsCommand();
Command stripeCommand();
Command configCommand();
Command keyCommand();
