// SPDX-License-Identifier: LGPL-2.1-or-later
// Commands that have verbs: rows of the table in commands.cpp.
#pragma once

#include "command.h"

Command volumeCommand();
Command daemonCommand();
Command cdcCommand();
Command gdsCommand();
Command stripeCommand();
Command configCommand();
