// SPDX-License-Identifier: LGPL-2.1-or-later
// What an interrupted connect leaves behind.
#pragma once

#include <vector>

#include <nvmeof/client.h>

class Context;

// @controller is one for @options.
bool isFor(const nvmeof::Controller &controller, const nvmeof::ConnectOptions &options);

/*
 * Whoever interrupts a connect wants nothing half made: what it has made and that is not live goes, and what is live
 * stays. So does all that was there before, or that somebody else made meanwhile. @results: one for each of @wanted.
 */
void undo(Context &context, nvmeof::Client &client, const std::vector<nvmeof::ConnectOptions> &wanted,
	  const std::vector<nvmeof::Result<nvmeof::Connection>> &results);
