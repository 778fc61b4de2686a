// SPDX-License-Identifier: LGPL-2.1-or-later
// Cleanup after an interrupted connect.
#pragma once

#include <vector>

#include <nvmeof/client.h>

class Context;

// Whether @controller has the NQN and the target address of @options.
bool isFor(const nvmeof::Controller &controller, const nvmeof::ConnectOptions &options);

/*
 * Disconnects the controllers that this process has created and that are not live. Live controllers stay, and so do
 * those that existed before or were created by another process. @results: one for each of @wanted
 */
void undo(Context &context, nvmeof::Client &client, const std::vector<nvmeof::ConnectOptions> &wanted,
	  const std::vector<nvmeof::Result<nvmeof::Connection>> &results);
